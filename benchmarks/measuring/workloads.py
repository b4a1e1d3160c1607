"""What fio does while it is watched: tests that are bound by the processor, by one request at a time, and by many."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from measuring.processes import Home, diskprof, run

RAMP_S = 1.0
"""fio counts from here on: by then whatever started it has settled."""

_FILE_BYTES = 256 << 20

PRESET = """
name = "{name}"
title = "{title}"
category = "quick"

[parameters]
runtime = {{ default = "8s", summary = "what fio measures" }}

[[test]]
name = "test"
title = "{title}"

[test.options]
rw = "randread"
bs = "4k"
size = "{size}"
runtime = "$runtime"
ramp_time = "{ramp}"
time_based = true
{options}
"""


@dataclass(frozen=True)
class Workload:
    """A test; `options` in TOML. Jobs that are `busy` ask no disk and keep a processor busy each."""

    name: str
    title: str
    options: str
    jobs: int = 1
    busy: bool = False


WORKLOADS = (
    Workload(
        "null", "Bound by two processors", 'ioengine = "null"\nnumjobs = 2\nnorandommap = true', jobs=2, busy=True
    ),
    Workload("qd1", "Random read, 4 KiB, one at a time", 'ioengine = "libaio"\niodepth = 1\ndirect = {direct}'),
    Workload("qd32", "Random read, 4 KiB, 32 at once", 'ioengine = "libaio"\niodepth = 32\ndirect = {direct}'),
)


class Bench:
    """A home with one preset for each workload, and a file to read from."""

    def __init__(self, home: Home, *, small: bool = False) -> None:
        self.home, self.file = home, home.path / "file"
        _fill(self.file, _FILE_BYTES // 8 if small else _FILE_BYTES)
        direct = "true" if _takes_direct(self.file) else "false"
        for workload in WORKLOADS:
            text = PRESET.format(
                name=f"observer-{workload.name}",
                title=workload.title,
                size=self.file.stat().st_size,
                ramp=f"{RAMP_S:g}s",
                options=workload.options.format(direct=direct),
            )
            (home.presets / f"observer-{workload.name}.toml").write_text(text)

    def order(self, workload: Workload, seconds: float, *words: str) -> list[str]:
        """The command that runs `workload` for so long."""
        what = (f"observer-{workload.name}", str(self.file), "--set", f"runtime={seconds:g}s")
        return [*diskprof(), "run", *what, "--yes", *words]

    def argv(self, workload: Workload, seconds: float) -> list[str]:
        """The arguments that diskprof gives fio."""
        plan = json.loads(run(self.order(workload, seconds, "--dry-run", "--json"), self.home))
        return list(plan["tests"][0]["argv"])


def _takes_direct(file: Path) -> bool:
    try:
        os.close(os.open(file, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        return False
    return True


def _fill(file: Path, size: int) -> None:
    block = os.urandom(1 << 20)
    with file.open("wb") as out:
        for _ in range(size >> 20):
            out.write(block)
        out.flush()
        os.fsync(out.fileno())
