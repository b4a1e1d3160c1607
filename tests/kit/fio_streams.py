"""Recorded output of real fio versions (tests/data/fio-streams): stdout, stderr and exit code of each."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from commands import fio_jobs

from diskprof.model.plan import PlannedTest
from diskprof.model.preset import EngineName

HERE = Path(__file__).parents[1] / "data" / "fio-streams"
NAMES = tuple(sorted(file.name.removesuffix(".out.gz") for file in HERE.glob("*.out.gz")))
MEASURED = tuple(name for name in NAMES if not name.endswith("missing-device"))
INTERVAL_MS = 500
"""The status interval that they were recorded with."""


@dataclass(frozen=True)
class Recording:
    name: str
    out: bytes
    err: str
    code: int

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Every document, taken apart in another way than diskprof does it."""
        found, text, at = [], self.out.decode(), 0
        while (at := text.find("{\n", at)) >= 0:
            document, at = json.JSONDecoder().raw_decode(text, at)
            found.append(document)
        return found

    @property
    def final(self) -> dict[str, Any]:
        return self.documents[-1]

    @property
    def ramp_s(self) -> float:
        return 2.0 if self.name.endswith("ramp") else 0.0


@cache
def recording(name: str) -> Recording:
    err = HERE / f"{name}.err"
    return Recording(
        name,
        gzip.decompress((HERE / f"{name}.out.gz").read_bytes()),
        err.read_text() if err.exists() else "",
        int((HERE / f"{name}.rc").read_text()),
    )


def planned_fio(
    *,
    ramp_s: float = 0.0,
    runtime_s: float = 0.0,
    amount_bytes: int | None = None,
    argv: tuple[str, ...] = ("fio", "--rw=write", "--bs=1"),
) -> PlannedTest:
    """A plan of which only what the engine looks at is filled in. Unless told, its requests may be of any size."""
    return PlannedTest(
        name="test",
        title="Test",
        engine=EngineName.FIO,
        argv=argv,
        jobs=fio_jobs(argv),
        ramp_s=ramp_s,
        runtime_s=runtime_s,
        amount_bytes=amount_bytes,
        bytes_written=0,
        writes_exact=True,
        interval_ms=INTERVAL_MS,
    )


def counters(**more: Any) -> dict[str, Any]:
    """One direction of a job as fio writes it, made up."""
    clat = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0, **more.pop("clat_ns", {})}
    return {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0, "clat_ns": clat, **more}


def document(*jobs: Mapping[str, Any], timestamp_ms: int = 0) -> dict[str, Any]:
    """A document with these jobs, made up."""
    blank = {"jobname": "j", "error": 0, "read": counters(), "write": counters(), "usr_cpu": 1.0, "sys_cpu": 2.0}
    return {"fio version": "fio-3.33", "timestamp_ms": timestamp_ms, "jobs": [{**blank, **job} for job in jobs]}


def as_fio_writes(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"
