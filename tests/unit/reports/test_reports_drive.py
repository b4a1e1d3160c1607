"""What drives counted, in a report, in JSON, and on its way through a store and a file."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from handmade import direction, fio, run
from msgspec.structs import replace
from recorded import FAST, make_plan

from diskprof.model.drive import DriveCount, DriveCounters, DriveRecord, Silence
from diskprof.model.run import Run, Status
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import run_json
from diskprof.reports.render.html import report_html
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import show
from diskprof.store import Store, this_process
from diskprof.store.exchange.transfer import export_runs, import_runs

GIB = 1 << 30
BEFORE = DriveCounters(100 * GIB, 512_000, temperature_c=41, errors=(DriveCount("media errors", 3),))
AFTER = replace(BEFORE, host_bytes=112 * GIB, temperature_c=52, errors=(DriveCount("media errors", 5),))
DRIVE = DriveRecord("nvme0n1", BEFORE, AFTER, test_bytes=11 * GIB, hottest_c=58)


def told(*drives: DriveRecord) -> Run:
    return replace(run(fio(write=direction(2000))), drives=drives)


def test_a_row_for_each_drive() -> None:
    lines = show(told(DRIVE), width=100).splitlines()
    head = next(line for line in lines if line.startswith("Drive  "))
    assert "NAND writes" not in head and "Throttled" not in head
    row = lines[lines.index(head) + 2]
    for words in ("nvme0n1", "12 GiB", "11 GiB", "41 to 52 °C", "58 °C", "2 media errors"):
        assert words in row
    assert "## Drive (smartctl)" in report([told(DRIVE)]) and "Drive (smartctl)" in report_html([told(DRIVE)], {})
    assert "smartctl" not in show(told())


@pytest.mark.parametrize(
    ("drive", "words"),
    [
        (
            DriveRecord("sda", silence=Silence.MISSING, advice="apt install smartmontools"),
            "smartctl is not installed: what the drive counts is not known. To see it: apt install smartmontools",
        ),
        (
            DriveRecord("sda", silence=Silence.DENIED, advice="sudo diskprof"),
            "What the drive counts is told to root only. To see it: sudo diskprof",
        ),
        (DriveRecord("sda", silence=Silence.ASLEEP), "was in standby"),
        (DriveRecord("sda", silence=Silence.LATE), "did not answer smartctl in time"),
        (DriveRecord("sda", silence=Silence.MUTE), "does not tell smartctl"),
        (DriveRecord("sda", silence=Silence.SWAPPED), "Another drive has this name"),
    ],
)
def test_why_nothing_is_known_is_told_once(drive: DriveRecord, words: str) -> None:
    text = " ".join(show(told(drive), width=120).split())
    assert text.count(words) == 1
    both = " ".join(show(told(drive, replace(drive, device="sdb")), width=120).split())
    assert both.count(words) == 1 and "sda, sdb: " in both


def test_json() -> None:
    (listed,) = json.loads(dumps(run_json(told(DRIVE))))["drives"]
    assert listed == {
        "device": "nvme0n1",
        "silence": None,
        "advice": "",
        "host_bytes": 12 * GIB,
        "test_bytes": 11 * GIB,
        "nand_bytes": None,
        "amplification": None,
        "temperature_before_c": 41,
        "temperature_after_c": 52,
        "hottest_c": 58,
        "errors": [{"name": "media errors", "count": 2}],
        "thermal_events": None,
    }
    (silent,) = json.loads(dumps(run_json(told(DriveRecord("sda", silence=Silence.DENIED, advice="sudo x")))))["drives"]
    assert (silent["silence"], silent["advice"]) == ("denied", "sudo x")


def test_a_store_and_a_file_keep_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "a.db") as store, Store.open(tmp_path / "b.db") as other:
        run_id = store.create_run(make_plan(), FAST.environment, runner=this_process())
        store.tell_drives(run_id, (DRIVE, DriveRecord("sdb", silence=Silence.ASLEEP)))
        store.finish_run(run_id, status=Status.CANCELLED)
        kept = store.run(run_id).drives
        assert kept == (DRIVE, DriveRecord("sdb", silence=Silence.ASLEEP))
        file = BytesIO()
        export_runs(store, [run_id], file)
        file.seek(0)
        import_runs(other, [("a", file)])
        assert other.run(other.summaries()[0].id).drives == kept
