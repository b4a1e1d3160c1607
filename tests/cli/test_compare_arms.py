"""Runs with a tag are an arm of a comparison, in every form; what is no arm is a usage error and nothing else."""

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from msgspec.structs import replace
from recorded import FAST, FIRST_START, make_plan, record_run

from diskprof.model.run import SeriesPlace
from diskprof.model.run_series import NewSeries, Repetition
from diskprof.store import Store


@pytest.fixture
def ids(tmp_path: Path) -> list[str]:
    """Two runs before, two after, one of another preset."""
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        found = [record_run(store, seed=60 + at, tags=("after" if at > 1 else "before",)) for at in range(4)]
        return [*found, record_run(store, "ioping-seek", tags=("ping",))]


def test_a_tag_is_all_of_its_runs_in_every_form(tmp_path: Path, ids: list[str]) -> None:
    text = diskprof("compare", "before", "after", home=tmp_path).stdout
    assert "before  2 runs: quick on " in text and "(the base)" in text
    assert " to " in next(line for line in text.splitlines() if line.startswith("  IOPS "))
    assert "The figure of an arm is the median of its runs." in text
    arms = diskprof_json("compare", "before", "after", "--json", home=tmp_path)["arms"]
    assert [(arm["label"], [run["id"] for run in arm["runs"]]) for arm in arms] == [
        ("before", ids[:2]),
        ("after", ids[2:4]),
    ]
    markdown = diskprof("report", "before", "after", home=tmp_path).stdout
    assert "# Comparison of before and after" in markdown
    assert all(f"| {run_id} |" in markdown for run_id in ids[:4])
    assert diskprof("compare", "before", "after", "--format", "markdown", home=tmp_path).stdout == markdown
    page = tmp_path / "change.html"
    assert diskprof("report", "before", "after", "-o", str(page), home=tmp_path).returncode == 0
    assert "2 runs" in text and "<svg" in page.read_text()
    table = list(
        csv.DictReader(io.StringIO(diskprof("report", "before", "after", "--format", "csv", home=tmp_path).stdout))
    )
    assert {(row["run"], row["arm"]) for row in table} == {
        *((run_id, "before") for run_id in ids[:2]),
        *((run_id, "after") for run_id in ids[2:4]),
    }
    judged = [row for row in table if row["arm"] == "after" and row["iops_verdict"]]
    assert judged and all(
        float(row["iops_low"]) <= float(row["iops_difference"]) <= float(row["iops_high"]) for row in judged
    )


def test_one_run_against_the_runs_of_a_tag(tmp_path: Path, ids: list[str]) -> None:
    text = diskprof("compare", "before", ids[3], home=tmp_path).stdout
    assert "2 runs" in text and f"run {ids[3]}" in text
    assert "One run of " in text and "the noise between runs is taken from the other side." in " ".join(text.split())


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("before", "nothing"), "There is no run 'nothing'"),
        (("before", "before"), "at least two different runs or tags"),
        (("before",), "at least two different runs or tags"),
        (("before", "ping"), "before and ping share no test"),
        (("before", "{first}"), "is in 'before' and in "),
    ],
)
def test_what_is_no_comparison_is_a_usage_error(
    tmp_path: Path, ids: list[str], names: tuple[str, ...], message: str
) -> None:
    for form in ("--json", "--format=markdown"):
        done = diskprof("compare", *(name.format(first=ids[0]) for name in names), form, home=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr


def test_a_series_is_an_arm_for_each_of_its_targets(tmp_path: Path) -> None:
    new = NewSeries(("/mnt/a", "/mnt/b"), Repetition(repeats=4))
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        series_id, ids = "", []
        for turn, (repeat, arm) in enumerate(new.wanted.turns(2)):
            plan = make_plan("ioping-seek", machine=FAST, runtime_s=3.0)
            plan = replace(plan, target=replace(plan.target, path=new.targets[arm]))
            place = SeriesPlace(series_id, repeat, arm) if series_id else new
            at = FIRST_START + timedelta(minutes=turn)
            ids.append(record_run(store, plan=plan, seed=turn, series=place, started_at=at, tags=("disks",)))
            series_id = series_id or getattr(store.run(ids[0]).series, "series_id", "")
    for name in (series_id, "disks", "latest"):
        arms = diskprof_json("compare", name, "--json", home=tmp_path)["arms"]
        assert [(arm["label"], [run["id"] for run in arm["runs"]]) for arm in arms] == [
            ("/mnt/a", [ids[at] for at in (0, 3, 4, 7)]),
            ("/mnt/b", [ids[at] for at in (1, 2, 5, 6)]),
        ]
