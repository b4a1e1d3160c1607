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
from diskprof.reports.formats import FollowFormat

_TAGS = ("run", "test", "phase", "direction")
# A backslash would take the meaning of the sign behind it, and has no escape of its own.
_SPECIAL = re.compile(r"[,= ]")


def interval_lines(wanted: FollowFormat, run: Run, samples: Sequence[Sample]) -> Iterator[str]:
    """A line, with its end, for each interval and direction."""
    names = {test.index: test.name for test in run.tests}
    rows = (dict(zip(SAMPLE_COLUMNS, sample_row(run.id, names[each.test], each), strict=True)) for each in samples)
    return _jsonl(run, samples, rows) if wanted is FollowFormat.JSONL else _influx(run, samples, rows)


def _jsonl(run: Run, samples: Sequence[Sample], rows: Iterable[Mapping[str, CsvValue]]) -> Iterator[str]:
    """The columns of `report --format samples`, and `time`, the time of day (UTC) at which the interval ended."""
    for sample, row in zip(samples, rows, strict=True):
        ended = run.started_at + timedelta(microseconds=sample.at_ns // 1000)
        known = {name: value if _is_known(value) else None for name, value in row.items()}
        yield f"{json.dumps({'time': f'{ended:%Y-%m-%dT%H:%M:%S.%fZ}', **known})}\n"


def _influx(run: Run, samples: Sequence[Sample], rows: Iterable[Mapping[str, CsvValue]]) -> Iterator[str]:
    """Measurement `diskprof`; times in ns since 1970."""
    of_run = {"host": run.environment.hostname, "preset": run.plan.preset, "target": run.plan.target.path}
    began_ns = round(run.started_at.timestamp() * 1e6) * 1000
    for sample, row in zip(samples, rows, strict=True):
        tags = {**of_run, **{name: str(row[name]) for name in _TAGS}}
        told = "".join(f",{name}={_escaped(value)}" for name, value in tags.items() if value)
        fields = ",".join(
            f"{name}={_field(value)}" for name, value in row.items() if name not in _TAGS and _is_known(value)
        )
        yield f"diskprof{told} {fields} {began_ns + sample.at_ns}\n"


def _is_known(value: CsvValue) -> bool:
    return value is not None and not (isinstance(value, float) and not isfinite(value))


def _field(value: CsvValue) -> str:
    return f"{value}i" if isinstance(value, int) else repr(value)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"\\{found[0]}", clean(text).replace("\\", "/"))
