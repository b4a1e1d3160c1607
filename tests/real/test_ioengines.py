"""Engines that the kernel refuses: the plan falls back, and says so (F13). A seccomp filter refuses, as a container's does."""

import ctypes
import errno
import struct
import subprocess
from pathlib import Path

import pytest
from program import DISKPROF, environment

IO_SETUP, IO_URING_SETUP = 206, 425
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NO_NEW_PRIVILEGES, SECCOMP, FILTER = 38, 22, 2

pytestmark = pytest.mark.needs("fio", "x86-64")


def refuse(code: int, *calls: int) -> None:
    """From now on these system calls of this process and its children fail with the errno `code` (linux/filter.h)."""
    steps = [(LOAD, 0, 0, 0)]
    for call in calls:
        steps += [(JUMP_IF_EQUAL, 0, 1, call), (RETURN, 0, 0, REFUSE | code)]
    steps.append((RETURN, 0, 0, ALLOW))
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    shape = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    libc = ctypes.CDLL(None, use_errno=True)
    for words in ((NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SECCOMP, FILTER, shape, 0, 0)):
        if libc.prctl(*words):
            raise OSError(ctypes.get_errno(), "prctl")


@pytest.mark.parametrize(
    ("engine", "code", "calls", "told"),
    [
        ("io_uring", errno.EPERM, (IO_URING_SETUP,), "libaio instead of io_uring: the kernel does not permit it"),
        ("libaio", errno.ENOSYS, (IO_SETUP,), "psync instead of libaio: not in this kernel"),
        ("io_uring", errno.ENOSYS, (IO_URING_SETUP, IO_SETUP), "psync instead of io_uring: not in this kernel"),
    ],
)
def test_a_refused_engine_gives_way(tmp_path: Path, engine: str, code: int, calls: tuple[int, ...], told: str) -> None:
    words = ["run", "fio-randread-qd32", str(tmp_path), "--set", f"ioengine={engine}", "--set", "size=16m", "--dry-run"]
    done = subprocess.run(
        [*DISKPROF, *words],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: refuse(code, *calls),
    )
    assert told in " ".join(done.stdout.split())
    assert f"--ioengine={told.split()[0]} " in done.stdout
