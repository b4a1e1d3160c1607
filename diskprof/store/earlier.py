"""What other runs measured of the same tests: earlier ones on the same disk, and those that are alike in all.

Every function works inside the caller's transaction.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from diskprof.model.device import Device
from diskprof.model.earlier import EarlierResult
from diskprof.model.fingerprint import Aspect, Fingerprint, LikeRuns
from diskprof.model.run import RunSummary, Status
from diskprof.model.sample import Direction
from diskprof.store import codec
from diskprof.store.reading import number_of, summaries_of

_COLUMNS = {
    Aspect.TESTS: "tests",
    Aspect.DISK: "disk",
    Aspect.FILE_SYSTEM: "file_system",
    Aspect.KERNEL: "kernel",
}
_FINGERPRINT = ", ".join(_COLUMNS.values())
_TAGGED = " AND number IN (SELECT tag.run FROM tag WHERE tag.name = ?)"
# Which runs others are held against (docs/reading-results.md): in a median of many those in doubt count too, as what is doubtful
# on a machine is often so in each of its runs; the one best of all must be beyond doubt.
_WHOLE = "run.deleted_at IS NULL AND run.status = 'complete'"
_SURE = f"{_WHOLE} AND run.doubts = '' AND run.imported_from = ''"

MOST_RUNS = 100
"""So many of the newest that match are looked at: a store of ten thousand runs must not delay a result."""

ALIKE = f"""
    SELECT run.number, run.id, run.started_at, run.hostname, json_extract(environment, '$.disks')
    FROM run JOIN detail ON detail.run = run.number
    WHERE run.ordinal < ?1 AND run.preset = ?2 AND run.device = ?3 AND {_SURE}
      AND json_extract(plan, '$.parameters') = ?4 AND json_extract(plan, '$.target.kind') = ?5
      AND (json_extract(environment, '$.disks') <> '[]' OR run.target = ?6)
    ORDER BY run.ordinal DESC, run.number DESC LIMIT ?7"""
_NEWEST = """
    SELECT run.number, run.id, run.hostname, json_extract(environment, '$.disks')
    FROM run JOIN detail ON detail.run = run.number
    WHERE run.status = ?1 AND (?2 IS NULL OR run.preset = ?2) AND run.deleted_at IS NULL
    ORDER BY run.ordinal DESC, run.number DESC LIMIT ?3"""
_FIGURES = ", ".join(
    f"json_extract(result, '$.{side}.{path}')"
    for side in ("read", "write")
    for path in ("iops", "bandwidth_bytes_per_s", "latency.mean")
)


def earlier_results(db: sqlite3.Connection, run_id: str) -> tuple[EarlierResult, ...]:
    """Of complete runs without doubts that began before this one; the newest first. Raises RunNotFound."""
    number = number_of(db, run_id)
    mine = db.execute(
        "SELECT ordinal, preset, device, hostname, target, json_extract(plan, '$.parameters'),"
        " json_extract(plan, '$.target.kind'), json_extract(environment, '$.disks'), imported_from"
        " FROM run JOIN detail ON detail.run = run.number WHERE run.number = ?",
        (number,),
    ).fetchone()
    if mine is None or mine[-1]:
        # What disk a file's results are of is not known.
        return ()
    ordinal, preset, device, host, target, parameters, kind, disks, _ = mine
    wanted = (ordinal, preset, device, parameters, kind, target, MOST_RUNS)
    found: list[EarlierResult] = []
    for other, other_id, started, other_host, other_disks in db.execute(ALIKE, wanted).fetchall():
        if _identity(other_disks, other_host) == _identity(disks, host):
            found += _results(db, other, other_id, started)
    return tuple(found)


def newest_on(db: sqlite3.Connection, disks: Sequence[Device], host: str, preset: str) -> str | None:
    """The newest complete run on these whole disks of the host `host`, of the preset if there is one, else of any.

    Of the last `MOST_RUNS` runs of each.
    """
    choices = (preset, None) if preset else (None,)
    found = (next(_on(db, disks, host, of_preset), None) for of_preset in choices)
    return next((run_id for _, run_id in filter(None, found)), None)


def summaries_on(db: sqlite3.Connection, disks: Sequence[Device], host: str) -> list[RunSummary]:
    """The complete runs on these whole disks of the host `host`, of the last `MOST_RUNS` of all, newest first."""
    return summaries_of(db, [number for number, _ in _on(db, disks, host, None)])


def _on(db: sqlite3.Connection, disks: Sequence[Device], host: str, preset: str | None) -> Iterator[tuple[int, str]]:
    if not disks:
        return
    wanted = _identity(codec.to_json(disks), host)
    for number, run_id, its_host, its_disks in db.execute(_NEWEST, (Status.COMPLETE.value, preset, MOST_RUNS)):
        if _identity(its_disks, its_host) == wanted:
            yield number, run_id


def _identity(disks: str | None, host: str) -> tuple[tuple[str, ...], ...]:
    """What tells the disks from others; one without a number of its own is known by its name in its host."""
    found = []
    for disk in json.loads(disks or "[]"):
        number = disk.get("wwid") or disk.get("serial")
        found.append((str(number),) if number else (host, str(disk.get("name")), str(disk.get("size_bytes"))))
    return tuple(sorted(found)) or ((host,),)


def _results(db: sqlite3.Connection, number: int, run_id: str, started: int) -> list[EarlierResult]:
    rows = db.execute(
        f"SELECT name, json_extract(result, '$.sync.mean'), {_FIGURES} FROM test"
        " WHERE run = ? AND status = ? AND result IS NOT NULL ORDER BY position",
        (number, Status.COMPLETE.value),
    )
    return [result for name, sync, *sides in rows for result in _sides(run_id, started, name, sync, sides)]


def _sides(run_id: str, started: int, name: str, sync: float | None, sides: list[Any]) -> list[EarlierResult]:
    found = []
    for direction, (iops, bandwidth, mean) in zip(Direction, (sides[:3], sides[3:]), strict=True):
        if iops is not None and bandwidth is not None:
            found.append(
                EarlierResult(run_id, codec.from_micros(started), name, direction, iops, bandwidth, mean, sync)
            )
    return found


def fingerprint_of(db: sqlite3.Connection, run_id: str) -> Fingerprint:
    """Raises RunNotFound."""
    row = db.execute(f"SELECT {_FINGERPRINT} FROM fingerprint WHERE run = ?", (number_of(db, run_id),)).fetchone()
    return Fingerprint(*row)


def kinds_of_runs(db: sqlite3.Connection, preset: str, tag: str = "") -> tuple[LikeRuns, ...]:
    """The complete runs of a preset, or those of them with `tag`, by their fingerprints, the kind of the newest run first."""
    rows = db.execute(
        f"SELECT {_FINGERPRINT}, count(*), id, max(ordinal) FROM run JOIN fingerprint ON run = number"
        f" WHERE preset = ? AND {_WHOLE}{_TAGGED if tag else ''} GROUP BY {_FINGERPRINT} ORDER BY max(ordinal) DESC",
        tuple(map(codec.to_text, (preset, tag) if tag else (preset,))),
    )
    return tuple(LikeRuns(Fingerprint(*words), count, newest) for *words, count, newest, _ in rows)


def like_results(
    db: sqlite3.Connection, preset: str, like: Fingerprint, across: Collection[Aspect] = (), tag: str = ""
) -> tuple[EarlierResult, ...]:
    """What the complete runs of a preset measured that are alike in all but `across`, the oldest first; only those with `tag`."""
    alike = {column: like.of(aspect) for aspect, column in _COLUMNS.items() if aspect not in across}
    rows = db.execute(
        f"SELECT run.id, run.started_at, test.name, json_extract(result, '$.sync.mean'), {_FIGURES}"
        " FROM run JOIN fingerprint ON fingerprint.run = number JOIN test ON test.run = number"
        f" WHERE preset = ? AND {_WHOLE} AND test.status = 'complete' AND result IS NOT NULL"
        f"{''.join(f' AND {column} = ?' for column in alike)}{_TAGGED if tag else ''}"
        " ORDER BY ordinal, number, position",
        (*map(codec.to_text, (preset, *alike.values())), *([codec.to_text(tag)] if tag else [])),
    )
    return tuple(
        result for run_id, started, name, sync, *sides in rows for result in _sides(run_id, started, name, sync, sides)
    )
