"""What is tested."""

from enum import StrEnum

from msgspec import Struct

from diskprof.model.device import device_title


class TargetKind(StrEnum):
    DIRECTORY = "directory"
    FILE = "file"
    DEVICE = "device"


class Target(Struct, frozen=True):
    """A directory, an existing file or a block device, and the device that it lies on.

    `path` is absolute and resolved, `given` is what the person typed. `device` is the kernel name of the block device under
    it, empty where there is none (tmpfs, network and overlay file systems), `dm_name` its name by the device mapper;
    `mount_point` and `fs_type` are empty for a raw device.
    """

    kind: TargetKind
    path: str
    given: str
    device: str = ""
    mount_point: str = ""
    fs_type: str = ""
    size_bytes: int | None = None
    free_bytes: int | None = None
    fs_size_bytes: int | None = None
    dm_name: str = ""

    @property
    def device_title(self) -> str:
        """As `Device.title`; empty where there is no device."""
        return device_title(self.device, self.dm_name)
