"""Python with diskprof loaded, which becomes the program once for each line of its stdin (see forked.py)."""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import sys
import time

LATE = ("click", "markdown_it", "orjson", "platformdirs", "plotext", "psutil", "pydantic", "pyudev")
"""What the program imports where it first needs it."""


def load() -> None:
    """Everything but the screen."""
    from diskprof.without_tls import without_tls

    without_tls()
    import diskprof

    for found in pkgutil.walk_packages(diskprof.__path__, "diskprof.", onerror=lambda name: None):
        if not found.name.startswith("diskprof.tui") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    for name in LATE:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def become(order: dict[str, object]) -> None:
    """This process is the program from here on: its words, its surroundings, its streams."""
    os.chdir(str(order["cwd"]))
    os.environ.clear()
    os.environ.update(dict(order["env"]))  # type: ignore[call-overload]
    time.tzset()
    for number, name in enumerate((os.devnull, str(order["out"]), str(order["err"]))):
        file = os.open(name, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    sys.argv = ["diskprof", *(os.fsdecode(bytes.fromhex(word)) for word in order["words"])]  # type: ignore[attr-defined]


def serve() -> bool:
    """True in a process that is to be the program; False where there is nothing more to do."""
    orders, answers = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    while line := orders.readline():
        child = os.fork()
        if child == 0:
            orders.close()
            answers.close()
            become(json.loads(line))
            return True
        answers.write(f"{child}\n".encode())
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return False


if __name__ == "__main__":
    load()
    if serve():
        runpy.run_module("diskprof", run_name="__main__", alter_sys=True)
