"""`diskprof history`: the like runs of a target, and what it says where there are none."""

from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from like_runs import record_like_runs, short_plan
from msgspec.structs import replace
from recorded import FAST

from diskprof.model.run import Environment
from diskprof.runner.session import Session
from diskprof.store import Store


def here(path: Path) -> tuple[Environment, str]:
    """What a run on `path` would know of this machine, and the path's file system."""
    session = Session()
    tree = session.scan()
    target = session.resolve_target(str(path), tree)
    disks = tree.disks_below(target.device)
    mount = FAST.environment.mount
    assert mount
    environment = replace(
        FAST.environment, hostname=session.hostname(), disks=disks, mount=replace(mount, fs_type=target.fs_type)
    )
    return environment if disks else replace(environment, device=None), target.path


@pytest.fixture
def ids(tmp_path: Path) -> list[str]:
    """Twenty like runs on `tmp_path`, of which the last eight are slower, and two with another kernel."""
    environment, path = here(tmp_path)
    plan = short_plan()
    plan = replace(plan, target=replace(plan.target, path=path))
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        old = replace(environment, kernel="5.10.0-old")
        record_like_runs(store, [1.0, 1.0], plan=plan, environment=old)
        return record_like_runs(store, [1.0] * 12 + [0.7] * 8, plan=plan, environment=environment, first_day=2)


def test_the_history_of_a_target(tmp_path: Path, ids: list[str]) -> None:
    done = diskprof("history", "quick", str(tmp_path), home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "Left out: 2 with another kernel (5.10.0-old).\n")
    assert "20 like runs" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.endswith("worse"))
    assert ids[12] in line and "-30%" in line
    assert "level" in done.stdout
    found = diskprof_json("history", "quick", str(tmp_path), "--json", "--across", "kernel", home=tmp_path)
    assert (found["runs"], found["newest"]) == (22, ids[-1])
    assert [change["run"] for change in found["figures"][0]["changes"]] == [ids[12]]
    page = diskprof("history", "--run", "latest", "--format", "html", home=tmp_path).stdout
    assert page.startswith("<!DOCTYPE html>") and "<svg" in page and ids[12] in page


def test_the_report_of_a_run_has_its_history(tmp_path: Path, ids: list[str]) -> None:
    page = diskprof("report", "latest", "--format", "html", home=tmp_path).stdout
    assert "<h2>History</h2>" in page and ids[12] in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("quick",), "Name a preset and a target, or a run with --run."),
        (("quick", ".", "--run", "latest"), "--run excludes PRESET and TARGET."),
        (("quikc", "."), "quick"),
        (("soak", "."), "There are no complete runs of soak."),
        (("quick", "/no/such/place"), "/no/such/place"),
        (("quick", "/dev/shm"), "There are no runs of quick on"),
        (("--run", "nothing"), "nothing"),
        (("quick", ".", "--json", "--format", "html"), "exclude each other"),
        (("quick", ".", "--across", "weather"), "weather"),
    ],
)
def test_without_a_history_it_says_what_is_missing(
    tmp_path: Path, ids: list[str], words: tuple[str, ...], says: str
) -> None:
    done = diskprof("history", *words, home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
