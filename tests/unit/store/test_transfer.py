"""A run that travelled in a file is the same run; a file that is not whole, or not ours, leaves nothing behind."""

import gzip
import io
import json
import subprocess
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from recorded import FAST, make_plan, record_library, record_run, record_volumes

from diskprof.analysis.comparison import compare
from diskprof.model.errors import DiskprofError, RunNotFound, StoreError, UsageError
from diskprof.model.metric import parse_metric
from diskprof.model.plan import TestFile
from diskprof.model.process_io import ProcessIo
from diskprof.model.run import DirectionResult, Environment, Latency, Message, RoundFigures, Status, TestResult
from diskprof.model.steady import RoundsRule, SteadyWindows
from diskprof.reports.data.json_runs import comparison_json, run_json
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import show
from diskprof.runner.detached.launch import request_stop
from diskprof.runner.leftovers import leftovers
from diskprof.store import Store
from diskprof.store.exchange.runfile import LONGEST_LINE
from diskprof.store.exchange.transfer import BadFile, ImportedRun, export_runs, import_runs


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "here.db") as store:
        yield store


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "there.db") as store:
        yield store


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A run in a file."""
    with Store.open(tmp_path_factory.mktemp("packed") / "runs.db") as store:
        return exported(store, record_run(store, run_id="abc", tags=("mine",), note="a note", runtime_s=1.0))


def exported(store: Store, *ids: str) -> bytes:
    file = io.BytesIO()
    export_runs(store, ids, file)
    return file.getvalue()


def taken(store: Store, *files: bytes) -> list[ImportedRun]:
    return import_runs(store, [(f"file{n}", io.BytesIO(data)) for n, data in enumerate(files)])


def lines_of(packed: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(packed).splitlines()]


def file_of(lines: list[dict[str, Any]]) -> bytes:
    return gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


def changed(packed: bytes, key: str, change: Callable[[Any], object], which: int = 0) -> bytes:
    """The file with what stands under `key` (a line's, for the `which`th time) changed in place."""
    lines = lines_of(packed)
    change([line[key] for line in lines if key in line][which])
    return file_of(lines)


def test_every_kind_of_run_comes_out_as_it_went_in(here: Store, there: Store) -> None:
    ids = {**record_library(here), **record_volumes(here)}
    ids.pop("running")
    here.reap()
    runs = {name: run_id for name, run_id in ids.items() if here.run(run_id).status.over}
    assert {here.run(run_id).status for run_id in runs.values()} >= {
        *(Status.COMPLETE, Status.FAILED, Status.CANCELLED, Status.INTERRUPTED)
    }
    assert taken(there, exported(here, *runs.values())) == [ImportedRun(each, each, new=True) for each in runs.values()]
    for run_id in runs.values():
        assert replace(there.run(run_id), runner_pid=None) == replace(here.run(run_id), runner_pid=None)
        assert there.samples(run_id) == here.samples(run_id)
        assert there.system_samples(run_id) == here.system_samples(run_id)
        assert [s.p99_ns for s in there.samples(run_id).samples] == [s.p99_ns for s in here.samples(run_id).samples]
        for test in here.run(run_id).tests:
            assert there.document(run_id, test.index) == here.document(run_id, test.index)
            assert there.course(run_id, test.index) == here.course(run_id, test.index)
    wanted = {summary.id: summary for summary in here.summaries()}
    assert all(summary == wanted[summary.id] for summary in there.summaries())


def test_it_shows_compares_and_reports_as_the_original(here: Store, there: Store) -> None:
    first, second = record_run(here, run_id="abc"), record_run(here, run_id="def", seed=2, factor=1.1)
    taken(there, exported(here, first), exported(here, second))

    def looks(store: Store) -> list[object]:
        runs = [store.run(run_id) for run_id in (first, second)]
        samples = {run.id: store.samples(run.id).samples for run in runs}
        pages = [(run_json(run), show(run, samples[run.id], 100)) for run in runs]
        return [*pages, report(runs, samples), comparison_json(compare(runs, samples))]

    assert looks(there) == looks(here)


def test_rounds_that_fall_come_out_as_they_went_in(here: Store, there: Store) -> None:
    rule = RoundsRule(make_plan().tests[0].name, parse_metric("read.iops"), windows=2)
    run_id = here.create_run(replace(make_plan(), rounds=rule), FAST.environment)
    steady = SteadyWindows(False, (900.0, 500.0), 2, 0, 10**9, 0.0, range=0.57, slope=-0.57)
    part = DirectionResult(
        1, 4096, 500.0, 1e6, 1e3, Latency(), rounds=(RoundFigures(900.0), RoundFigures(500.0, max=7.0))
    )
    here.finish_round(run_id, [(0, TestResult(part, steady=steady), b"{}")], at_ns=10**9)
    here.finish_run(run_id, status=Status.CANCELLED)
    taken(there, exported(here, run_id))
    again = there.run(run_id)
    assert replace(again, runner_pid=None) == replace(here.run(run_id), runner_pid=None) and again.rounds == steady
    assert again.tests[0].result and again.tests[0].result.read and again.tests[0].result.read.rounds == part.rounds


def test_the_processes_of_each_test_come_out_as_they_went_in(here: Store, there: Store) -> None:
    run_id = record_run(here)
    dd = ProcessIo(0, 7, 1, "dd", 5, 6, 10, 20)
    here.append(run_id, processes=[dd, replace(dd, test=1, pid=8)])
    here.append(run_id, processes=[replace(dd, read_bytes=1, last_ns=30)])
    expected = (replace(dd, read_bytes=6, write_bytes=12, last_ns=30), replace(dd, test=1, pid=8))
    assert here.run(run_id).processes == expected
    (imported,) = taken(there, exported(here, run_id))
    assert there.run(imported.run_id).processes == expected
    there.delete(imported.run_id)
    packed = changed(exported(here, run_id), "test", lambda test: test["processes"][0].update(test=1))
    assert "of a test that it does not have" in refused(there, packed).message


def test_what_is_exported_again_is_byte_for_byte_the_same(here: Store, there: Store) -> None:
    data = exported(here, record_run(here, run_id="abc", tags=("a", "b")))
    taken(there, data)
    assert exported(there, "abc") == data


def test_bytes_that_are_no_text_come_back_too(here: Store, there: Store) -> None:
    plan = make_plan()
    path = b"/mnt/\xff\xfe\x1b]52;c;aGk=\x07".decode("utf-8", "surrogateescape")
    plan = replace(plan, target=replace(plan.target, path=path))
    run_id = here.create_run(plan, Environment(hostname="a\x00b\u202e"), note="\ud800 \x9b31m")
    here.append(run_id, messages=[Message(1, path)])
    document = bytes(range(256)) * 5
    here.finish_test(run_id, 0, status=Status.FAILED, at_ns=2, document=document)
    here.finish_run(run_id, status=Status.FAILED, reason="no \ufffe reason", headline="[/] <b>")
    taken(there, exported(here, run_id))
    assert replace(there.run(run_id), runner_pid=None) == replace(here.run(run_id), runner_pid=None)
    assert there.document(run_id, 0) == document


def test_importing_twice_does_not_double_it(there: Store, packed: bytes) -> None:
    assert taken(there, packed) == [ImportedRun("abc", "abc", new=True)]
    there.set_tags("abc", ("else",))
    assert taken(there, packed, packed) == [ImportedRun("abc", "abc", new=False)] * 2
    assert [(summary.id, summary.tags) for summary in there.summaries()] == [("abc", ("else",))]


def test_a_clash_of_ids_loses_neither_run(there: Store, packed: bytes) -> None:
    own = record_run(there, run_id="abc", seed=5, plan=make_plan("mixed-70-30"))
    before = there.run(own)
    (moved,) = taken(there, packed)
    assert moved.new and moved.given == "abc" != moved.run_id
    assert there.run(own) == before
    assert there.run(moved.run_id).plan.preset == "quick"
    assert taken(there, packed) == [ImportedRun("abc", moved.run_id, new=False)]
    assert len(there.summaries()) == 2


def test_without_a_place_for_what_is_being_read_it_says_so(
    there: Store, packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(StoreError, match="No temporary directory") as caught:
        taken(there, packed)
    assert "TMPDIR" in caught.value.hint
    assert there.summaries() == []


@pytest.mark.needs("root", "sys-admin", "mount")
def test_without_room_for_what_is_being_read_it_says_where(
    there: Store, packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "small"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", place], check=True)
    try:
        monkeypatch.setattr(tempfile, "tempdir", str(place))
        with pytest.raises(StoreError, match="disk is full") as caught:
            taken(there, packed)
        assert list(place.iterdir()) == []
    finally:
        subprocess.run(["umount", place], check=True)
    assert "TMPDIR" in caught.value.hint
    assert there.summaries() == []


def test_a_run_under_way_is_not_exported(here: Store) -> None:
    run_id = here.create_run(make_plan(), FAST.environment)
    with pytest.raises(UsageError, match="in progress"):
        exported(here, run_id)


def test_the_store_can_be_written_while_files_are_read(there: Store, packed: bytes) -> None:
    """A run under way writes every second, and a file of a day takes longer to read."""

    class Reading(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            there.set_note(own, f"{self.tell()}")
            return super().read(size)

    own = record_run(there, run_id="own", seed=3, runtime_s=1.0)
    import_runs(there, [("slow", Reading(packed))])
    assert there.run("abc")


def test_nothing_on_this_machine_is_touched_for_an_imported_run(here: Store, there: Store, tmp_path: Path) -> None:
    """Neither a file that stands where its test file was, nor a process that has its runner's number."""
    directory = tmp_path / ".diskprof-0123abcd"
    directory.mkdir()
    (directory / "test.dat").touch()
    plan = replace(
        make_plan(), directory=str(directory), files=(TestFile(str(directory), str(directory / "test.dat"), 1),)
    )
    own = record_run(here, plan=plan, end=Status.INTERRUPTED, stop_in=(1, 0.5), run_id="abc", runtime_s=1.0)
    here.reap()
    assert [leftover.run_id for leftover in leftovers(here)] == [own]
    taken(there, exported(here, own))
    assert there.run(own).status is Status.INTERRUPTED
    assert list(leftovers(there)) == []
    with pytest.raises(RunNotFound):
        request_stop(there, own)


# --- Files that are not whole, or not ours ---------------------------------------------------------------------------


def refused(store: Store, *files: bytes) -> BadFile:
    """The error; nothing of the files is kept."""
    before = store.summaries()
    with pytest.raises(BadFile) as caught:
        taken(store, *files)
    assert store.summaries() == before
    assert "file" in caught.value.message and "Nothing was imported" in caught.value.message
    return caught.value


def test_a_file_cut_anywhere_leaves_nothing(there: Store, packed: bytes) -> None:
    for end in (0, 1, 2, 9, 10, 11, *range(12, len(packed), len(packed) // 20), len(packed) - 1, len(packed) - 8):
        refused(there, packed[:end])
    lines = lines_of(packed)
    for end in range(len(lines)):
        refused(there, file_of(lines[:end]))
    # The good one beside it is not taken either.
    refused(there, packed, packed[:-1])


def test_a_line_that_is_missing_doubled_or_out_of_place_is_noticed(there: Store, packed: bytes) -> None:
    lines = lines_of(packed)
    for at in range(1, len(lines)):
        refused(there, file_of(lines[:at] + lines[at + 1 :]))
        refused(there, file_of(lines[:at] + lines[at : at + 1] + lines[at:]))


def test_a_damaged_file_is_noticed(there: Store, packed: bytes) -> None:
    for at in range(20, len(packed), len(packed) // 25):
        refused(there, packed[:at] + bytes([packed[at] ^ 0x10]) + packed[at + 1 :])
    refused(there, packed + b"more")
    refused(there, packed + packed)


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"\x1f\x8b", b"not gzip at all\n" * 100, gzip.compress(b""), gzip.compress(b"\xff\n")],
    # gzip writes the time into what it packs, which must not become the name of a test.
    ids=["nothing", "json", "two-bytes", "text", "gzip-of-nothing", "gzip-of-bytes"],
)
def test_another_kind_of_file_is_none_of_ours(there: Store, data: bytes) -> None:
    refused(there, data)


def test_a_newer_format_asks_for_an_update(there: Store, packed: bytes) -> None:
    lines = lines_of(packed)
    lines[0]["version"] = 2
    error = refused(there, file_of(lines))
    assert "newer" in error.message and "Update" in error.hint
    lines = lines_of(packed)
    lines[0]["columns"]["samples"].append("colour")
    assert "newer" in refused(there, file_of(lines)).hint
    lines = lines_of(packed)
    lines.insert(3, {"pictures": []})
    assert "newer" in refused(there, file_of(lines)).hint
    for header in (
        {},
        {"format": "other"},
        [],
        7,
        {"format": "diskprof runs"},
        {"format": "diskprof runs", "version": 0},
    ):
        refused(there, file_of([header, *lines_of(packed)[1:]]))  # type: ignore[list-item]


HOSTILE: list[tuple[str, Callable[[Any], object]]] = [
    ("run", lambda run: run.update(id="latest")),
    ("run", lambda run: run.update(id="../x")),
    ("run", lambda run: run.update(id="x'; DROP TABLE run; --")),
    ("run", lambda run: run.update(id=7)),
    ("run", lambda run: run.update(status="running")),
    ("run", lambda run: run.update(status="skipped")),
    ("run", lambda run: run.update(status="wonderful")),
    ("run", lambda run: run.update(started_at="yesterday")),
    ("run", lambda run: run.update(started_at="2026-01-01T00:00:00")),
    ("run", lambda run: run.update(started_at="9999-12-31T23:59:59+00:00")),
    ("run", lambda run: run.update(ended_at="0001-01-01T00:00:00+00:00")),
    ("run", lambda run: run.update(tags=["latest"])),
    ("run", lambda run: run.update(tags=[7])),
    ("run", lambda run: run.update(tags="mine")),
    ("run", lambda run: run.update(note="x" * 70_000)),
    ("run", lambda run: run.update(plan=None)),
    ("run", lambda run: run["plan"].update(tests=[])),
    ("run", lambda run: run["plan"].update(space_needed=-1)),
    ("run", lambda run: run["plan"].update(space_needed=float("nan"))),
    ("run", lambda run: run["plan"].update(assumed_bandwidth=float("inf"))),
    ("run", lambda run: run["plan"].update(assumed_bandwidth="1e999")),
    ("run", lambda run: run["plan"].update(space_needed="-5")),
    ("run", lambda run: run["plan"].update(preset_title="x" * 70_000)),
    ("run", lambda run: run["plan"]["tests"][0].update(runtime_s="long")),
    ("run", lambda run: run["plan"]["tests"][0].update(engine="sh")),
    ("run", lambda run: run["environment"].update(memory_bytes=10**30)),
    ("run", lambda run: run["environment"].update(cpus=-4)),
    ("run", lambda run: run["environment"].update(device={"name": "sda"})),
    ("run", lambda run: run.update(findings=[{"name": "x"}])),
    ("run", lambda run: run["progress"].update(test=99)),
    ("test", lambda test: test.update(index=3)),
    ("test", lambda test: test.update(status="pending")),
    ("test", lambda test: test.update(started_ns=-1)),
    ("test", lambda test: test.update(document=None)),
    ("test", lambda test: test.update(document="\ud812")),
    ("test", lambda test: test["result"]["read"].update(iops=float("nan"))),
    ("test", lambda test: test["result"]["read"].update(iops=-5)),
    ("test", lambda test: test["result"]["read"].update(ios="many")),
    ("test", lambda test: test["result"]["read"].update(histogram="AAAA")),
    ("test", lambda test: test["result"]["read"]["latency"].update(p99=1e300)),
    ("messages", lambda messages: messages[0].update(test=99)),
    ("messages", lambda messages: messages.clear()),
    ("samples", lambda samples: samples[0].pop()),
    ("samples", lambda samples: samples[0].__setitem__(0, 99)),
    ("samples", lambda samples: samples[0].__setitem__(0, -1)),
    ("samples", lambda samples: samples[0].__setitem__(3, -1)),
    ("samples", lambda samples: samples[0].__setitem__(3, 2**63)),
    ("samples", lambda samples: samples[0].__setitem__(7, float("nan"))),
    ("samples", lambda samples: samples[0].__setitem__(7, "nan")),
    ("samples", lambda samples: samples[0].__setitem__(-1, "!")),
    ("samples", lambda samples: samples[0].__setitem__(-1, "AAAA" * 5000)),
    ("samples", lambda samples: samples.__setitem__(0, "row")),
    ("system", lambda samples: samples[0].__setitem__(3, "x")),
    ("system", lambda samples: samples[0].__setitem__(14, float("-inf"))),
    ("end", lambda end: end.update(samples=10**9)),
    ("end", lambda end: end.pop("samples")),
]


@pytest.mark.parametrize(("key", "change"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_cannot_be_is_not_believed(there: Store, packed: bytes, key: str, change: Callable[[Any], object]) -> None:
    refused(there, changed(packed, key, change))


@pytest.mark.parametrize(
    "line", [b"[" * 100_000, b'{"run": ' + b'{"a":' * 50_000, b"{}", b"7", b'{"run":1e999}', b"\n"]
)
def test_a_line_that_is_no_json_of_ours(there: Store, packed: bytes, line: bytes) -> None:
    header = gzip.decompress(packed).splitlines()[0]
    refused(there, gzip.compress(header + b"\n" + line + b"\n"))


def test_a_bomb_does_not_go_off(there: Store, packed: bytes) -> None:
    """What unpacks to a thousand times its size is not unpacked, nor read into memory."""
    header = gzip.decompress(packed).splitlines(keepends=True)[0]
    bombs = [
        gzip.compress(header + b" " * (120 << 20), 9),
        gzip.compress(header + b'{"messages":[{"at_ns":0,"text":"' + b"a" * (2 * LONGEST_LINE), 9),
    ]
    for bomb in bombs:
        tracemalloc.start()
        try:
            refused(there, bomb)
            assert tracemalloc.get_traced_memory()[1] < 4 * LONGEST_LINE
        finally:
            tracemalloc.stop()


def test_an_export_that_cannot_be_read_back_is_not_made(here: Store) -> None:
    run_id = record_run(here, run_id="abc", runtime_s=1.0)
    with pytest.raises(DiskprofError):
        exported(here, "nothing")
    assert exported(here, run_id)
