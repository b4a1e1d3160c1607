"""A program in the place of fio: real fio, which this one starts at the right moment, slows down, or puts words into its mouth.

The same for ioping, whose output is another.
"""

import os
import sys
from enum import StrEnum
from pathlib import Path


class Moment(StrEnum):
    """Where a run of a preset with two tests stands."""

    LAYING_OUT = "laying out"
    RAMP = "ramp"
    MEASURING = "measuring"
    BETWEEN = "between tests"


class Misbehaviour(StrEnum):
    """What comes out beside real fio's words, before a document of the moment."""

    NONE = "none"
    JUNK = "junk"
    TRUNCATED = "truncated"
    LONG_LINE = "long line"
    FLOOD = "flood"


_BEGINNING = r"""
import ctypes, os, signal, subprocess, sys
from itertools import count
from pathlib import Path

STATE = Path(__file__).parent
JUNK = b'note: \x1b]52;c;aGVsbG8=\x07 iodepth \xff\xfe\n\n}\n[1, 2]\n\x00\x00\n{} {\nfio: pid=1, error\nnull\n"{"\n'


def misbehave():
    if MISBEHAVIOUR == "junk":
        os.write(1, JUNK)
    elif MISBEHAVIOUR == "truncated":
        os.write(1, b'{\n  "fio version" : "fio-3.33",\n  "jobs" : [\n    {\n      "jobname" : "rea\n')
    elif MISBEHAVIOUR == "long line":
        for _ in range(100):
            sys.stdout.buffer.write(b"x" * 1_000_000)
        sys.stdout.buffer.flush()
    elif MISBEHAVIOUR == "flood":
        for line in range(20_000):
            sys.stderr.buffer.write(b"fio: something went wrong, for the %dth time\n" % line)
        sys.stderr.buffer.flush()


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)

"""
_BODY = r"""
PROCESS, DOCUMENT = {"laying out": (0, 0), "ramp": (1, 1), "measuring": (1, 3), "between tests": (2, 0)}[MOMENT]

signal.signal(signal.SIGINT, signal.SIG_DFL)
# Otherwise it spins for 64 ms each time, to gauge the processor's clock.
argv = [REAL, "--clocksource=clock_gettime", *sys.argv[1:]]
if "--version" in argv:
    os.execv(REAL, argv)
for number in count():
    try:
        os.close(os.open(STATE / f"process-{number}", os.O_CREAT | os.O_EXCL))
        break
    except FileExistsError:
        pass
if number == 0 and RATE:
    argv.append(f"--rate={RATE}")
if number == 2 and (STATE / "gate").exists():
    (STATE / "waiting").touch()
    (STATE / "gate").open().close()
if MISBEHAVIOUR == "none" or number != PROCESS:
    os.execv(REAL, argv)

fio = subprocess.Popen(argv, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, lambda number, frame: fio.send_signal(number))
seen, told = 0, False
for line in fio.stdout:
    if line == b"{\n" and seen == DOCUMENT and not told:
        told = True
        misbehave()
    sys.stdout.buffer.write(line)
    if line == b"}\n":
        seen += 1
        sys.stdout.buffer.flush()
sys.exit(fio.wait())
"""

_IOPING_BODY = r"""
argv = [REAL, *sys.argv[1:]]
try:
    first = "-v" not in argv and os.open(STATE / "first", os.O_CREAT | os.O_EXCL)
except FileExistsError:
    first = False
signal.signal(signal.SIGINT, signal.SIG_DFL)
if first is False:
    os.execv(REAL, argv)
ioping = subprocess.Popen(argv, stdout=subprocess.PIPE, preexec_fn=die_with_parent)
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, lambda number, frame: ioping.send_signal(number))
seen = 0
for line in ioping.stdout:
    if line == b"},{\n":
        seen += 1
        if seen == 1:
            sys.stdout.buffer.write(b"}\n")
            sys.stdout.buffer.flush()
            misbehave()
            line = b",{\n"
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
sys.exit(ioping.wait())
"""


def write_standin(
    directory: Path, real: str, moment: Moment, misbehaviour: Misbehaviour = Misbehaviour.NONE, *, rate: str = ""
) -> Path:
    """A program for DISKPROF_FIO in a new `directory`, where it counts its processes: the first lays out, the others are the tests.

    `rate` slows the laying out down (bytes a second, as fio spells it). With `Moment.BETWEEN` and no misbehaviour the process
    of the second test touches `waiting` and begins once somebody has opened the FIFO `gate` for writing.
    """
    directory.mkdir()
    if moment is Moment.BETWEEN and misbehaviour is Misbehaviour.NONE:
        os.mkfifo(directory / "gate")
    program = directory / "fio"
    names = f"REAL, MOMENT, MISBEHAVIOUR, RATE = {(real, str(moment), str(misbehaviour), rate)!r}"
    program.write_text(f"#!{sys.executable} -IS\n{names}\n{_BEGINNING}{_BODY}")
    program.chmod(0o755)
    return program


def write_ioping_standin(directory: Path, real: str, misbehaviour: Misbehaviour) -> Path:
    """A program for DISKPROF_IOPING in a new `directory`. The first that measures misbehaves before its second element."""
    directory.mkdir()
    program = directory / "ioping"
    names = f"REAL, MISBEHAVIOUR = {(real, str(misbehaviour))!r}"
    program.write_text(f"#!{sys.executable} -IS\n{names}\n{_BEGINNING}{_IOPING_BODY}")
    program.chmod(0o755)
    return program
