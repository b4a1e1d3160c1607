"""The computer of the lane: QEMU with disks of every kind, booted, spoken to, and ended with whoever booted it."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BOOT_PATIENCE_S = 300.0
BOOTS = 3
"""On a busy host an emulated processor may lose its timer while it boots, and stand still for ever."""
UNPLUG_PATIENCE_S = 240.0
DISK_BYTES = 4 << 30
"""Of every disk, sparse: in a directory diskprof leaves 1 GiB of a file system free."""


@dataclass(frozen=True)
class Disk:
    """A disk of the guest: its serial number, what it is plugged into, and the name of its image. Paths to one disk share that."""

    serial: str
    device: str
    image: str = ""

    @property
    def name(self) -> str:
        return self.image or self.serial


def _scsi(number: int) -> Disk:
    serial = f"VMSCSI000{number}"
    return Disk(
        serial, f"scsi-hd,bus=scsi0.0,scsi-id={number},vendor=LANE,product=SCSI-DISK,wwn=0x500000000000000{number}"
    )


def _paths(serial: str, image: str, number: int, product: str) -> Iterator[Disk]:
    """One disk by two controllers; the ids of its paths are those of the image, with `a` and `b`."""
    for path, bus in (("a", "scsi0"), ("b", "scsi1")):
        place = f"scsi-hd,id={image}-{path},bus={bus}.0,scsi-id={number}"
        yield Disk(serial, f"{place},vendor=LANE,product={product},wwn=0x50000000000002{number},share-rw=on", image)


DISKS = (
    Disk("VMNVME0001", "nvme,bus=port1"),
    Disk("VMVIRTIO0001", "virtio-blk-pci"),
    *(_scsi(number) for number in range(1, 7)),
    *_paths("VMPATH0001", "path", 20, "TWO-PATHS"),
    # multipath.conf leaves NO-MAP alone. Of the second such disk the paths have no serial number, only the wwid.
    *_paths("VMPAIR0001", "pair", 21, "NO-MAP"),
    *_paths("", "nameless", 22, "NO-MAP"),
    Disk("VMSATA0001", "ide-hd,bus=ide.0,model=LANE SATA DISK,wwn=0x5000000000000200,rotation_rate=7200"),
    Disk("VMUSB0001", "usb-storage,bus=xhci.0,removable=on"),
)
_PORTS = range(1, 9)
"""Root ports of PCI Express: the first has the NVMe disk, the others take what is plugged in."""


class Machine:
    """`state` is the directory of tests/vm/build.py; what one boot needs lies in `state/run`."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self.run = state / "run"
        self.console = self.run / "console.log"
        self.ssh_config = self.run / "ssh_config"
        self._note = self.run / "machine.json"
        self._mine: subprocess.Popen[bytes] | None = None

    def pid(self) -> int:
        """The process id of QEMU; 0 where none runs."""
        with suppress(OSError, ValueError):
            pid = int(json.loads(self._note.read_text())["pid"])
            if str(self.run) in Path(f"/proc/{pid}/cmdline").read_text() and _lives(pid):
                return pid
        return 0

    def image(self, name: str) -> Path:
        """The file behind a disk: `name` is its serial number, or that of its image where it has several paths."""
        return self.run / "disks" / name

    # --- From power on to power off -----------------------------------------------------------------------------------

    def boot(self, *, fresh: bool) -> None:
        """Starts it and waits for its sshd; `fresh`: with disks as they were built. Raises RuntimeError if it does not answer."""
        assert not self.pid(), "it runs already"
        if fresh:
            shutil.rmtree(self.run, ignore_errors=True)
        (self.run / "disks").mkdir(parents=True, exist_ok=True)
        root = self.run / "root.qcow2"
        if not root.exists():
            base = ("-b", str(self._state / "base.raw"), "-F", "raw")
            subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *base, str(root)], check=True)
        for left in reversed(range(BOOTS)):
            try:
                self._power_on(root)
                break
            except RuntimeError as error:
                self.cut_power()
                if not left:
                    raise
                say(f"boots again: {error}")

    def _power_on(self, root: Path) -> None:
        sockets = Path(tempfile.mkdtemp(prefix="vm-"))  # the path of a socket has at most 107 characters
        self._mine = subprocess.Popen(
            # The kernel ends it with us, however we end.
            ["setpriv", "--pdeathsig", "KILL", "--", *self._command(root, sockets)],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._note.write_text(json.dumps({"pid": self._mine.pid, "sockets": str(sockets)}))
        self._wait(lambda: (sockets / "qmp").exists() and self.pid(), "QEMU's monitor")
        self._write_ssh_config(sockets, self._forwarded_port())
        self._wait(self._answers, "the guest's sshd")

    def cut_power(self) -> None:
        """As a power failure: what the guest has not written to its disks is lost."""
        if not (pid := self.pid()):
            return
        sockets = self._sockets()
        os.kill(pid, 9)
        if self._mine:
            self._mine.wait()
            self._mine = None
        self._wait(lambda: not _lives(pid), "the end of QEMU")
        subprocess.run(["ssh", "-F", self.ssh_config, "-O", "exit", "guest"], capture_output=True)
        shutil.rmtree(sockets, ignore_errors=True)
        self._note.unlink()

    def _command(self, root: Path, sockets: Path) -> list[str]:
        words = [
            "qemu-system-x86_64",
            "-name",
            "diskprof-vm",
            "-machine",
            "q35",
            "-cpu",
            "max,la57=off",
            "-smp",
            "2",
            "-m",
            "2048",
        ]
        words += ["-accel", os.environ.get("DISKPROF_VM_ACCEL", "tcg,thread=multi")]
        words += ["-global", "ICH9-LPC.disable_s3=0", "-nodefaults", "-display", "none"]
        kernel = "root=/dev/vda rw console=ttyS0 quiet net.ifnames=0"
        # What an emulated processor is spared, or takes for a fault of itself.
        kernel += " no_timer_check mitigations=off apparmor=0 audit=0 nowatchdog tsc=reliable clocksource=tsc"
        words += [
            "-kernel",
            str(self._state / "vmlinuz"),
            "-initrd",
            str(self._state / "initrd.img"),
            "-append",
            kernel,
        ]
        words += ["-blockdev", f"driver=qcow2,node-name=root,file.driver=file,file.filename={root}"]
        words += ["-device", "virtio-blk-pci,drive=root,serial=VMROOT"]
        words += ["-netdev", "user,id=net,hostfwd=tcp:127.0.0.1:0-:22", "-device", "virtio-net-pci,netdev=net,romfile="]
        words += ["-device", "virtio-rng-pci"]
        words += ["-serial", f"file:{self.console}", "-qmp", f"unix:{sockets}/qmp,server=on,wait=off"]
        for port in _PORTS:
            words += ["-device", f"pcie-root-port,id=port{port},chassis={port},slot={port}"]
        words += [
            "-device",
            "virtio-scsi-pci,id=scsi0",
            "-device",
            "virtio-scsi-pci,id=scsi1",
            "-device",
            "qemu-xhci,id=xhci,p2=8,p3=8",
        ]
        for disk in DISKS:
            if (node := json.dumps(self._image_node(disk.name, DISK_BYTES))) not in words:
                words += ["-blockdev", node]
            words += ["-device", f"{disk.device},drive={disk.name}" + (f",serial={disk.serial}" if disk.serial else "")]
        return words

    def _image_node(self, name: str, size: int) -> dict[str, Any]:
        path = self.image(name)
        if not path.exists():
            path.touch(mode=0o600)
            os.truncate(path, size)
        file = {"driver": "file", "filename": str(path), "locking": "off"}
        return {"driver": "raw", "node-name": name, "discard": "unmap", "file": file}

    def _wait(self, condition: Callable[[], object], what: str, patience_s: float = BOOT_PATIENCE_S) -> None:
        deadline = time.monotonic() + patience_s
        while not condition():
            if self._mine and self._mine.poll() is not None:
                raise RuntimeError(
                    f"QEMU ended with {self._mine.returncode}, waiting for {what}\n{self.console_tail()}"
                )
            if time.monotonic() > deadline:
                raise RuntimeError(f"still waiting for {what}\n{self.console_tail()}")
            time.sleep(0.1)

    def _sockets(self) -> Path:
        return Path(json.loads(self._note.read_text())["sockets"])

    def _forwarded_port(self) -> int:
        with self.qmp() as qmp:
            said = str(qmp.call("human-monitor-command", **{"command-line": "info usernet"}))
        return int(re.findall(r"HOST_FORWARD\]\s+\d+\s+127\.0\.0\.1\s+(\d+)", said)[0])

    def _write_ssh_config(self, sockets: Path, port: int) -> None:
        options = {
            "HostName": "127.0.0.1",
            "Port": port,
            "User": "root",
            "IdentityFile": f'"{self._state / "key"}"',
            "IdentitiesOnly": "yes",
            "StrictHostKeyChecking": "no",
            "UserKnownHostsFile": "/dev/null",
            "LogLevel": "ERROR",
            "ConnectTimeout": 60,
            "ControlPath": f"{sockets}/%r",
        }
        self.ssh_config.write_text("Host guest\n" + "".join(f"    {key} {value}\n" for key, value in options.items()))

    def _answers(self) -> bool:
        # One connection that all others share: a handshake takes an emulated processor a second.
        master = ["ssh", "-F", str(self.ssh_config), "-o", "ControlPersist=yes", "-MNf", "guest"]
        quiet: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "stderr": subprocess.DEVNULL,
        }
        try:
            return subprocess.run(master, timeout=60, **quiet).returncode == 0
        except subprocess.TimeoutExpired:
            return False

    def console_tail(self, lines: int = 30) -> str:
        with suppress(OSError):
            return "\n".join(self.console.read_text(errors="replace").splitlines()[-lines:])
        return ""

    # --- While it runs ------------------------------------------------------------------------------------------------

    @contextmanager
    def qmp(self) -> Iterator["Qmp"]:
        """A conversation with QEMU's monitor, which has room for one at a time."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(60)
        try:
            connection.connect(str(self._sockets() / "qmp"))
            yield Qmp(connection)
        finally:
            connection.close()

    def plug(self, kind: str, name: str, *, size: int = 1 << 30, bus: str = "scsi0", drive: str = "") -> None:
        """Plugs in a disk with the serial number `name`: `nvme`, `virtio`, `scsi` or `usb`. `drive`: the name of the disk that it
        is another path of (scsi)."""
        with self.qmp() as qmp:
            if not drive:
                qmp.call("blockdev-add", **self._image_node(name, size))
            options: dict[str, Any] = {"id": name, "drive": drive or name, "serial": drive or name}
            if kind == "scsi":
                options |= {
                    "driver": "scsi-hd",
                    "bus": f"{bus}.0",
                    "vendor": "LANE",
                    "product": "NO-MAP",
                    "share-rw": True,
                }
            elif kind == "usb":
                options |= {"driver": "usb-storage", "bus": "xhci.0", "removable": True}
            else:
                options |= {"driver": {"nvme": "nvme", "virtio": "virtio-blk-pci"}[kind], "bus": _free_port(qmp)}
            qmp.call("device_add", **options)

    @contextmanager
    def plugged(self, kind: str, name: str, *, bus: str = "scsi0", drive: str = "") -> Iterator[None]:
        """A disk that is there as long as the context, or until it is pulled."""
        self.plug(kind, name, bus=bus, drive=drive)
        try:
            yield
        finally:
            with suppress(RuntimeError):
                self.pull(name)

    def pull(self, *names: str) -> None:
        """Pulls disks that were plugged in, or a path by its id, and waits until the guest let them go."""
        with self.qmp() as qmp:
            for name in names:
                qmp.call("device_del", id=name)
            for name in names:
                qmp.wait("DEVICE_DELETED", device=name, patience_s=UNPLUG_PATIENCE_S)
            self._forget(qmp, names)

    def sleep(self, seconds: float) -> None:
        """Waits until the guest sleeps (S3), lets it sleep for so long, and wakes it."""
        with self.qmp() as qmp:
            self._wait(lambda: qmp.call("query-status")["status"] == "suspended", "the guest's sleep", 300)
            time.sleep(seconds)
            qmp.call("system_wakeup")

    def _forget(self, qmp: "Qmp", names: tuple[str, ...]) -> None:
        """Images of pulled disks; one that another path still has stays."""
        for name in names:
            if any(node["node-name"] == name for node in qmp.call("query-named-block-nodes")):
                with suppress(RuntimeError):
                    qmp.call("blockdev-del", **{"node-name": name})
                    self.image(name).unlink()


class Qmp:
    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        self._buffer = b""
        self._events: list[dict[str, Any]] = []
        self._read()
        self.call("qmp_capabilities")

    def call(self, command: str, **arguments: Any) -> Any:
        """What QEMU answers. Raises RuntimeError if it refuses."""
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while "event" in (answer := self._read()):
            self._events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{command}: {answer['error']['desc']}")
        return answer["return"]

    def wait(self, event: str, *, patience_s: float = 120.0, **data: str) -> None:
        """Waits for an event with these data, which may have come since the conversation began."""
        deadline = time.monotonic() + patience_s
        while not any(one["event"] == event and data.items() <= one.get("data", {}).items() for one in self._events):
            self._socket.settimeout(max(0.1, deadline - time.monotonic()))
            try:
                self._events.append(self._read())
            except TimeoutError:
                raise RuntimeError(f"no {event} {data} within {patience_s:g} s") from None

    def _read(self) -> dict[str, Any]:
        while b"\n" not in self._buffer:
            if not (data := self._socket.recv(65536)):
                raise RuntimeError("QEMU's monitor is gone")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _free_port(qmp: Qmp) -> str:
    for bus in qmp.call("query-pci"):
        for device in bus["devices"]:
            if device["qdev_id"].startswith("port") and not device["pci_bridge"].get("devices"):
                return str(device["qdev_id"])
    raise RuntimeError("no free PCI port")


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def say(text: str) -> None:
    sys.stderr.write(f"vm: {text}\n")
