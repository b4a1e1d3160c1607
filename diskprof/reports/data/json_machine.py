"""The machine and its disks for programs: what `environment` holds in the JSON of a run."""

from typing import Any

from diskprof.model.device import Device, Mount
from diskprof.model.run import Environment, FurtherTarget, IoLimit

Json = dict[str, Any]


def environment_json(environment: Environment) -> Json:
    return {
        "hostname": environment.hostname,
        "os": environment.os,
        "kernel": environment.kernel,
        "cpu_model": environment.cpu_model,
        "cpus": environment.cpus,
        "memory_bytes": environment.memory_bytes,
        "virtualisation": environment.virtualisation,
        "diskprof_version": environment.diskprof_version,
        "fio_version": environment.fio_version,
        "ioping_version": environment.ioping_version,
        "device": _device(environment.device) if environment.device else None,
        "disks": [_device(disk) for disk in environment.disks],
        "mount": _mount(environment.mount) if environment.mount else None,
        "layers": [_device(layer) for layer in environment.layers],
        "others": [_further(other) for other in environment.others],
        "behind": list(environment.behind),
        "store_disks": list(environment.store_disks),
        "cgroup_limits": list(environment.cgroup_limits),
        "io_limits": [_io_limit(limit) for limit in environment.io_limits],
        "cpu_limit": environment.cpu_limit,
        "temperature_limit_c": environment.temperature_limit_c,
    }


def _further(other: FurtherTarget) -> Json:
    return {
        "slot": other.slot,
        "device": _device(other.device) if other.device else None,
        "disks": [_device(disk) for disk in other.disks],
        "layers": [_device(layer) for layer in other.layers],
        "mount": _mount(other.mount) if other.mount else None,
    }


def _io_limit(limit: IoLimit) -> Json:
    return {
        "device": limit.device,
        "direction": str(limit.direction),
        "unit": "IOPS" if limit.iops else "bytes/s",
        "per_second": limit.per_second,
    }


def _device(device: Device) -> Json:
    return {
        "name": device.name,
        "node": device.node,
        "kind": str(device.kind),
        "size_bytes": device.size_bytes,
        "model": device.model,
        "serial": device.serial,
        "wwid": device.wwid,
        "by_id": list(device.by_id),
        "transport": str(device.transport),
        "rotational": device.rotational,
        "scheduler": device.scheduler,
        "logical_block_size": device.logical_block_size,
        "physical_block_size": device.physical_block_size,
        "fs_type": device.fs_type,
        "fs_label": device.fs_label,
    }


def _mount(mount: Mount) -> Json:
    return {
        "path": mount.path,
        "fs_type": mount.fs_type,
        "options": list(mount.options),
        "size_bytes": mount.size_bytes,
        "free_bytes": mount.free_bytes,
    }
