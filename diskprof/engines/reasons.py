"""The engines' errors in words that a person can act on (F17)."""

import errno
import os
import re
import signal

from msgspec import Struct

_ERR = re.compile(r"err=(-?\d{1,6})/file:[^,]*, func=([^,]*), error=(.*)")
_IO_ERROR = re.compile(r"(.*io_u error on file .*: ([^:]+): \w+) offset=")
_BANNER = re.compile(r"\S+: \(g=\d+\): rw=|Starting \d+ |Jobs: \d+ |fio-\d|\.\.\.$")

_ADVICE = {
    errno.ENOSPC: "Free some space on the target, or choose a smaller size.",
    errno.EDQUOT: "Your disk quota is used up: free some space, or choose a smaller size.",
    errno.EACCES: "Use a target you can open, or run diskprof with sudo.",
    errno.EPERM: "The file system may be read-only or the file protected; some requests need root.",
    errno.EROFS: "Mount the file system writable, or choose another target.",
    errno.EIO: "I/O error. Check dmesg before you keep data on this device.",
    errno.EINVAL: "The target may not support direct=1, or bs may be no multiple of the device's block size.",
    errno.ENOENT: "The target does not exist (any more).",
    errno.ENODEV: "The device was removed.",
    errno.ENXIO: "The device was removed.",
    errno.EBUSY: "The target is in use by something else.",
    errno.ENOMEM: "Choose a smaller queue depth, block size or number of jobs.",
    errno.EAGAIN: "The system's async I/O contexts may be exhausted: raise fs.aio-max-nr (sysctl), or use ioengine=psync.",
    errno.ENOSYS: "Not supported by this kernel: choose another ioengine.",
    errno.EOPNOTSUPP: "The target does not support this kind of request.",
    errno.EMFILE: "Too many files are open: raise the limit (ulimit -n), or use fewer jobs.",
    errno.EFBIG: "The file system cannot hold a file of this size.",
    errno.ETIMEDOUT: "The device timed out. Check dmesg.",
    errno.EREMOTEIO: "I/O error on the device. Check dmesg.",
    errno.EILSEQ: "Data corruption: read-back mismatch. Do not trust this device with data.",
}
_GONE = (errno.ENODEV, errno.ENXIO)
_QUEUE_INIT = {
    errno.EPERM: "io_uring is disabled (kernel.io_uring_disabled, or a container): use ioengine=libaio.",
    errno.ENOSYS: "This kernel lacks the ioengine: use libaio instead of io_uring, psync instead of libaio.",
}


_CODES = {os.strerror(code): code for code in _ADVICE}


class FioError(Struct, frozen=True):
    """One error that fio printed: an errno value and the step that failed."""

    code: int
    step: str

    @property
    def gone(self) -> bool:
        """Whether it says that the device was removed; requests in flight at that moment fail with EIO first."""
        return self.code in _GONE

    @property
    def message(self) -> str:
        return f"fio: {self.step} failed: {name_error(self.code)}"

    @property
    def reason(self) -> str:
        """What happened and what to do, in one or two sentences."""
        advice = _QUEUE_INIT.get(self.code, "") if self.step == "io_queue_init" else ""
        return explain(self.code, advice)


def read_error(line: str) -> FioError | None:
    """`fio: pid=1, err=28/file:filesetup.c:240, func=write, error=No space left on device` taken apart; None for another line."""
    match = _ERR.search(line)
    return FioError(abs(int(match[1])), match[2].strip() or "a request") if match else None


class RequestError(Struct, frozen=True):
    """A line about one request that failed. `kind` is the line without its offset, the error's code 0 for one that is not known."""

    kind: str
    error: FioError


def read_request_error(line: str) -> RequestError | None:
    """`fio: io_u error on file /dev/sda: No such device: read offset=4096, buflen=4096` taken apart; None for another line."""
    match = _IO_ERROR.match(line)
    return RequestError(match[1], FioError(_CODES.get(match[2], 0), "a request")) if match else None


def is_banner(line: str) -> bool:
    """Whether a line is one of those that say nothing (F2)."""
    return bool(_BANNER.match(line))


def name_error(code: int) -> str:
    """`No space left on device (ENOSPC)`."""
    name = errno.errorcode.get(code)
    return f"{os.strerror(code)} ({name})" if name else f"error {code}"


def explain(code: int, advice: str = "") -> str:
    """An errno value with what to do about it."""
    advice = advice or _ADVICE.get(code, "")
    return f"{name_error(code)}. {advice}".strip()


def advise(line: str) -> str:
    """A line that ends in an error in words, such as `request failed: Input/output error`, with what to do about it."""
    code = next((code for words, code in _CODES.items() if line.endswith(words)), None)
    return f"{line}. {_ADVICE[code]}" if code else line


def empty_handed(what: str) -> str:
    """What it means that requests came back without data and without an error (F87)."""
    return f"{what}: the target shrank or disappeared during the test. Samples up to then are kept; there is no result."


def stuck(engine: str, pid: int) -> str:
    """What a process is that SIGKILL does not end (F20)."""
    return (
        f"{engine} (process {pid}) is stuck in the kernel waiting for the device and cannot be killed. "
        "It exits when the device responds, or at reboot."
    )


def killed(engine: str, code: int | None) -> str:
    """Why a process ended that a signal ended, or that did not end at all (None)."""
    if code is None:
        return f"{engine} did not end."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    advice = " Possibly out of memory: check dmesg." if code == -signal.SIGKILL else ""
    return f"{engine} was ended by {name}.{advice}"
