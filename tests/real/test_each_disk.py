"""Every disk of a machine: each alone, one after the other, then all together, by the real program."""

from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from loops import MIB, Loops

from diskprof.model.run import FleetStage, Status
from diskprof.store import Store


@pytest.mark.needs("root", "loop", "fio")
def test_each_disk_is_alone_before_all_are_together(loops: Loops, tmp_path: Path) -> None:
    nodes = [loops.disk(16 * MIB) for _ in range(2)]
    words = (
        "run",
        "fio-randread-qd32",
        "--each-disk",
        *nodes,
        "--set",
        "runtime=1s",
        "--yes",
        "--tag",
        "disks",
        "--json",
    )
    found = diskprof_json(*words, home=tmp_path)
    assert [member["target"] for member in found["members"]] == nodes
    assert (found["status"], found["complete_runs"], found["skew_s"] is None) == ("complete", 4, False)
    (test,) = found["alone_and_together"]
    assert test["alone"] == sum(disk["alone"] for disk in test["disks"])
    assert test["lost"] == 1 - test["together"] / test["alone"]
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        runs = [store.run(run.id) for run in store.runs_of_fleet(found["id"])]
        by_time = sorted(runs, key=lambda run: run.started_at)
        places = [(run.fleet.member, run.fleet.stage) for run in by_time if run.fleet]
        assert places[:2] == [(0, FleetStage.ALONE), (1, FleetStage.ALONE)]
        assert {stage for _, stage in places[2:]} == {FleetStage.TOGETHER}
        ends = [run.ended_at for run in by_time]
        assert ends[0] and ends[1] and ends[0] <= by_time[1].started_at and ends[1] <= by_time[2].started_at
        assert {run.status for run in runs} == {Status.COMPLETE}
    shown = diskprof("show", "disks", home=tmp_path).stdout
    assert "Alone and together" in shown
    assert found["id"] in diskprof("runs", home=tmp_path).stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--each-disk", "/tmp"), "needs two disks; the only disk is /tmp"),
        (("--each-disk", "/tmp", "/tmp"), "named twice"),
        (("--each-disk", "web1:/srv", "web2:/srv"), "diskprof ssh HOST run PRESET --each-disk"),
        (("--each-disk", "--one-by-one", "/tmp", "/var"), "omit --one-by-one"),
        (("--each-disk", "--until", "3%", "/tmp", "/var"), "not for --each-disk"),
        (("--each-disk", "--follow", "jsonl", "/tmp", "/var"), "not for --each-disk"),
    ],
)
def test_what_each_disk_does_not_go_with(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = diskprof("run", "quick", *words, home=tmp_path)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
