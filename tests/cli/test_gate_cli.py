"""`diskprof gate`: what it refuses before anything starts, with which words and exit code."""

import json
from pathlib import Path

import pytest
from forked import diskprof
from like_runs import plan_here, record_like_runs
from msgspec.structs import replace

from diskprof.model.plan import Plan
from diskprof.model.run import Environment
from diskprof.store import Store

WORDS = ("vps-randread-qd32", "--set", "size=64m", "--set", "runtime=1")


@pytest.fixture
def here(tmp_path: Path) -> tuple[Plan, Environment]:
    """A plan for `tmp_path` as the command makes it, and this machine."""
    return plan_here(tmp_path, *WORDS[2::2], preset=WORDS[0])


def runs_of(tmp_path: Path) -> int:
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        return len(store.summaries())


def gate(tmp_path: Path, *words: str) -> tuple[int, str, str]:
    done = diskprof("gate", WORDS[0], str(tmp_path), *WORDS[1:], *words, home=tmp_path)
    return done.returncode, done.stdout, done.stderr


def test_without_enough_like_runs_it_says_how_many_are_missing(tmp_path: Path, here: tuple[Plan, Environment]) -> None:
    plan, environment = here
    code, out, said = gate(tmp_path, "--against", "history")
    assert (code, out) == (7, "")
    assert "Too little history: no complete run of vps-randread-qd32. 5 more are needed." in said
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        record_like_runs(store, [1.0] * 4, plan=plan, environment=environment, tags=["base"])
    for against in ("history", "base"):
        code, out, said = gate(tmp_path, "--against", against)
        assert (code, out) == (7, "")
        assert "only 4 runs of vps-randread-qd32" in said and "1 more is needed" in said
    assert "--tag base" in said
    assert runs_of(tmp_path) == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kernel": "5.10.0-old"}, "the kernel was 5.10.0-old, it is"),
        ({"disks": (), "device": None, "hostname": "elsewhere"}, "the disk was"),
        ({"mount": None}, ""),
        ({"runtime": "9"}, "runtime was 9s, it is 1s"),
    ],
)
def test_a_condition_that_changed_is_named(
    tmp_path: Path, here: tuple[Plan, Environment], change: dict[str, object], says: str
) -> None:
    plan, environment = here
    if "runtime" in change:
        plan, _ = plan_here(tmp_path, "size=64m", "runtime=9", preset=WORDS[0])
    elif "mount" in change and environment.mount:
        environment = replace(environment, mount=replace(environment.mount, fs_type="minix"))
        says = "the file system was minix, it is"
    else:
        environment = replace(environment, **change)  # type: ignore[arg-type]
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        record_like_runs(store, [1.0] * 6, plan=plan, environment=environment)
    code, out, said = gate(tmp_path, "--against", "history")
    assert (code, out) == (7, "")
    assert "Not comparable with 6 runs of vps-randread-qd32" in said and says in said
    code, out, said = gate(tmp_path, "--against", "history", "--nagios")
    assert code == 3 and out.startswith("DISKPROF UNKNOWN - Not comparable")
    assert runs_of(tmp_path) == 6


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 2, "--against"),
        (("--against", ""), 2, "it is empty"),
        (("--against", "nothing"), 2, "No complete run has the tag nothing."),
        (("--against", "other"), 2, "The runs with the tag other are of quick, not of vps-randread-qd32."),
        (("--against", "history", "--by", "0%"), 2, "--by 0%: not a percentage between 0% and 100%."),
        (("--against", "history", "--by", "much"), 2, "--by much"),
        (("--against", "history", "--by", "10"), 2, "--by 10"),
        (("--against", "history", "--confirm", "1"), 2, "--confirm"),
        (("--against", "history", "--json", "--nagios"), 3, "--nagios excludes"),
        (("--against", "history", "--json", "--format", "junit"), 2, "exclude each other"),
        (("--against", "history", "--set", "size=lots"), 2, "lots"),
        (("--against", "history", "--across", "weather"), 2, "weather"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(tmp_path: Path, words: tuple[str, ...], code: int, says: str) -> None:
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        record_like_runs(store, [1.0] * 6, tags=["other"])
    found, out, said = gate(tmp_path, *words)
    assert found == code
    assert says in (out if code == 3 else said)
    assert runs_of(tmp_path) == 6


def test_a_run_that_is_as_good_as_before_passes(tmp_path: Path, here: tuple[Plan, Environment]) -> None:
    """Real fio, on like runs so slow that any disk is better."""
    plan, environment = here
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        record_like_runs(store, [0.0001] * 6, plan=plan, environment=environment, tags=["base"])
    code, out, said = gate(tmp_path, "--against", "base", "--json", "--tag", "nightly")
    assert code == 0, said
    found = json.loads(out)
    assert (found["outcome"], len(found["before"]), len(found["after"])) == ("kept", 6, 1)
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        assert store.run(found["after"][0]).tags == ("nightly",)
