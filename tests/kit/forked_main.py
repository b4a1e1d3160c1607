"""Python with diskprof loaded, which becomes the program once for each line of its stdin, or each caller (see forked.py)."""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import time
from collections.abc import Sequence
from functools import cache
from select import select

LATE = ("click", "markdown_it", "orjson", "platformdirs", "plotext", "psutil", "pydantic", "pyudev")
"""What the program imports where it first needs it."""
ENCODINGS = ("encodings.utf_8_sig", "encodings.idna", "encodings.unicode_escape")


def load() -> None:
    """Everything but the screen."""
    from diskprof.without_tls import without_tls

    without_tls()
    import diskprof

    for found in pkgutil.walk_packages(diskprof.__path__, "diskprof.", onerror=lambda name: None):
        if not found.name.startswith("diskprof.tui") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    for name in (*LATE, *ENCODINGS):
        importlib.import_module(name)

    gc.collect()
    gc.freeze()


@cache
def load_for_others() -> None:
    """Python and the presets may lie where only root may look: what another user needs of them is read before."""
    from diskprof.devices.scan.udev import scan
    from diskprof.presets.library import load_library

    load_library(), scan()


def become(order: dict[str, object], streams: Sequence[int] = ()) -> None:
    """This process is the program from here on: its words, its surroundings, its streams."""
    os.environ.clear()
    os.environ.update(dict(order["env"]))  # type: ignore[call-overload]
    time.tzset()
    names = (os.devnull, str(order.get("out")), str(order.get("err")))
    for number, file in enumerate(streams or [os.open(name, os.O_RDWR) for name in names]):
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["/opt/bin/diskprof", *(os.fsdecode(bytes.fromhex(word)) for word in order["words"])]  # type: ignore[attr-defined]
    if isinstance(uid := order.get("uid"), int):
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    os.chdir(str(order["cwd"]))


def serve() -> dict[str, object] | None:
    """In a process that is to be the program, what it was asked for; None where there is nothing more to do."""
    orders, answers = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    while line := orders.readline():
        order: dict[str, object] = json.loads(line)
        if order["uid"] is not None:
            load_for_others()
        child = os.fork()
        if child == 0:
            orders.close()
            answers.close()
            become(order)
            return order
        answers.write(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return None


def serve_callers(path: str) -> dict[str, object] | None:
    """As `serve`, for programs that connect to a socket there and hand over their streams. Ends with its stdin."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen(64)
        os.write(1, b"0\n")
        while listening in select([listening, 0], [], [])[0]:
            caller, _ = listening.accept()
            with caller:
                # Each has a process beside it that tells its exit code: callers do not wait for each other.
                if os.fork() == 0:
                    return answer(caller)
    return None


def answer(caller: socket.socket) -> dict[str, object] | None:
    """In a process that is to be the program, what the caller asked for; None in the one that has told how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    data, streams, _, _ = socket.recv_fds(caller, 1 << 20, 3)
    order: dict[str, object] = json.loads(data)
    child = os.fork()
    if child == 0:
        caller.close()
        become(order, streams)
        return order
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(child, 0)
    caller.sendall(b"%d" % os.waitstatus_to_exitcode(status))
    return None


if __name__ == "__main__":
    load()
    if asked := serve_callers(sys.argv[1]) if sys.argv[1:] else serve():
        if asked.get("uid") is None:
            runpy.run_module("diskprof", run_name="__main__", alter_sys=True)
        else:
            from diskprof.cli.entry import run

            run()
