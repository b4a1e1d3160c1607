"""Where a benchmark ran, and with what."""

import os
import platform
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Self


@dataclass(frozen=True)
class Machine:
    """`load` is that of the last minute; `turns_ms` how long a million turns of a loop took, by which machines are compared."""

    cpus: int
    cpu: str
    linux: str
    python: str
    textual: str
    fio: str
    load: float
    turns_ms: float

    @classmethod
    def here(cls) -> Self:
        cpu = next(
            (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
            platform.machine(),
        )
        return cls(
            cpus=len(os.sched_getaffinity(0)),
            cpu=cpu,
            linux=platform.release(),
            python=platform.python_version(),
            textual=_version("textual"),
            fio=_fio(),
            load=os.getloadavg()[0],
            turns_ms=_turns_ms(),
        )

    @classmethod
    def of(cls, table: Mapping[str, object]) -> Self:
        """What `asdict` made of one. Raises TypeError or ValueError for anything else."""
        texts = {name: str(table.get(name, "?")) for name in ("cpu", "linux", "python", "textual", "fio")}
        numbers = {name: float(str(table.get(name))) for name in ("load", "turns_ms")}
        return cls(cpus=int(str(table.get("cpus"))), **texts, **numbers)

    def __str__(self) -> str:
        return (
            f"{self.cpus} x {self.cpu}, Linux {self.linux}, Python {self.python}, Textual {self.textual}, {self.fio}, "
            f"load {self.load:.1f}, a million turns of a loop in {self.turns_ms:.0f} ms"
        )


def _turns_ms() -> float:
    """How fast Python is here and now, the best of three."""
    taken = []
    for _ in range(3):
        began = time.perf_counter()
        for _ in range(1_000_000):
            pass
        taken.append(time.perf_counter() - began)
    return 1000 * min(taken)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return []


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "?"


def _fio() -> str:
    try:
        return subprocess.run(("fio", "--version"), capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return "no fio"
