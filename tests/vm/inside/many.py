#!/opt/diskprof/bin/python
"""Runs many commands of diskprof, each forked from one process that has loaded the program: a start takes some seconds here.

many.py N < COMMANDS, a JSON list of lists of words; at most N run at once. What a command says on stderr is printed as it comes,
with its number before it. When all have ended, stdout has a JSON list with `rc`, `out` and `err` of each.
"""

import json
import os
import selectors
import sys
import tempfile
from contextlib import suppress
from typing import IO, Any

import diskprof.devices.scan.udev
import diskprof.runner.carry.execute  # noqa: F401
from diskprof.cli.entry import run

ENDED = "(ended)"
os.environ["DISKPROF_FIO"] = "/opt/lane/fio"


def load() -> None:
    """All that a run needs is loaded by the plan of one."""
    kept = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    for preset in ("ioping-cached", "quick"):
        sys.argv = ["diskprof", "run", preset, "/root", "--dry-run"]
        with suppress(SystemExit):
            run()
        sys.stdout.flush()
        sys.stderr.flush()
    os.dup2(kept[0], 1)
    os.dup2(kept[1], 2)


def start(words: list[str], out: IO[str]) -> tuple[int, int]:
    """The process id of the command, and the descriptor that its stderr is read from."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write_end)
        return pid, read_end
    os.close(read_end)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out.fileno(), 1)
    os.dup2(write_end, 2)
    os.close(write_end)
    sys.argv = ["diskprof", *words]
    try:
        run()
        os._exit(0)
    except SystemExit as end:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(end.code if isinstance(end.code, int) else int(end.code is not None))


def main() -> None:
    commands, at_once = json.load(sys.stdin), int(sys.argv[1])
    load()
    waiting = list(enumerate(commands))
    results: list[dict[str, Any] | None] = [None] * len(commands)
    running = selectors.DefaultSelector()
    while waiting or running.get_map():
        while waiting and len(running.get_map()) < at_once:
            number, words = waiting.pop(0)
            out = tempfile.TemporaryFile("w+")  # noqa: SIM115 (read when the command has ended)
            pid, err = start(words, out)
            running.register(err, selectors.EVENT_READ, (number, pid, out, bytearray()))
        for key, _ in running.select():
            number, pid, out, said = key.data
            if data := os.read(key.fd, 65536):
                said += data
                sys.stderr.writelines(f"{number}: {line}\n" for line in data.decode(errors="replace").splitlines())
                sys.stderr.flush()
                continue
            running.unregister(key.fd)
            os.close(key.fd)
            _, status = os.waitpid(pid, 0)
            sys.stderr.write(f"{number}: {ENDED}\n")
            sys.stderr.flush()
            out.seek(0)
            err = said.decode(errors="replace")
            results[number] = {"rc": os.waitstatus_to_exitcode(status), "out": out.read(), "err": err}
    json.dump(results, sys.stdout)


main()
