"""Intervals of a run in progress, a line each: JSON lines, and the line protocol of InfluxDB and Telegraf."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from math import isfinite

from diskprof.model.run import Run
from diskprof.model.sample import Sample
from diskprof.model.text import clean
from diskprof.reports.data.tables import SAMPLE_COLUMNS, CsvValue, sample_row

_TAGS = ("run", "test", "phase", "direction")
# A backslash would take the meaning of the sign behind it, and has no escape of its own.
_SPECIAL = re.compile(r"[,= ]")


def jsonl_lines(run: Run, samples: Sequence[Sample]) -> Iterator[str]:
    """A line, with its end, for each interval and direction.

    It has the columns of `report --format samples`, and `time`, the time of day (UTC) at which the interval ended.
    """
    for sample, row in _rows(run, samples):
        ended = run.started_at + timedelta(microseconds=sample.at_ns // 1000)
        known = {name: value if _is_known(value) else None for name, value in row.items()}
        yield f"{json.dumps({'time': f'{ended:%Y-%m-%dT%H:%M:%S.%fZ}', **known})}\n"


def influx_lines(run: Run, samples: Sequence[Sample]) -> Iterator[str]:
    """A line, with its end, for each interval and direction: measurement `diskprof`; times in ns since 1970."""
    of_run = {"host": run.environment.hostname, "preset": run.plan.preset, "target": run.plan.target.path}
    began_ns = round(run.started_at.timestamp() * 1e6) * 1000
    for sample, row in _rows(run, samples):
        tags = {**of_run, **{name: str(row[name]) for name in _TAGS}}
        told = "".join(f",{name}={_escaped(value)}" for name, value in tags.items() if value)
        fields = ",".join(
            f"{name}={_field(value)}" for name, value in row.items() if name not in _TAGS and _is_known(value)
        )
        yield f"diskprof{told} {fields} {began_ns + sample.at_ns}\n"


def _rows(run: Run, samples: Iterable[Sample]) -> Iterator[tuple[Sample, Mapping[str, CsvValue]]]:
    names = {test.index: test.name for test in run.tests}
    for sample in samples:
        yield sample, dict(zip(SAMPLE_COLUMNS, sample_row(run.id, names[sample.test], sample), strict=True))


def _is_known(value: CsvValue) -> bool:
    return value is not None and not (isinstance(value, float) and not isfinite(value))


def _field(value: CsvValue) -> str:
    return f"{value}i" if isinstance(value, int) else repr(value)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", clean(text).replace("\\", "/"))
