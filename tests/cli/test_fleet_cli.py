"""Runs on several hosts on the command line: what is refused before any host is asked."""

import csv
import io
from datetime import timedelta
from pathlib import Path

import pytest
from fleets import begun, ended
from forked import diskprof, diskprof_json
from recorded import FIRST_START, record_run

from diskprof.store import Store


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "quick", ".", "--one-by-one"), "are for targets on hosts"),
        (("run", "quick", "web1:/srv", "--one-by-one", "--at-once", "2"), "exclude each other"),
        (("run", "quick", "web1:/srv", "--at-once", "0"), "--at-once"),
        (("run", "quick", ".", "--engine", "fio-server"), "are for targets on hosts"),
        (("run", "quick", "web1:/srv", "--engine", "fio-server", "--at-once", "2"), "omit --one-by-one, --at-once"),
        (("run", "quick", "web1:/srv", "--repeat", "0"), "not a number of repeats"),
        (("run", "quick", "web1:/srv", "--repeat", "3", "--in-order"), "turn: omit it"),
        (("run", "quick", "web1:/srv", "--pause", "3"), "--pause needs --repeat"),
        (("run", "quick", "web1:/srv", "--target", "a=/srv"), "nor for several hosts"),
        (("run", "quick", "web1:/srv", "web1:/data"), "web1 is named twice"),
        (("run", "quick", "web1:"), "web1 has no target"),
        (("run", "quick", "@absent.txt"), "absent.txt cannot be read"),
        (("run", "no-such-preset", "web1:/srv"), "no preset"),
        (("run", "quick", "web1:/srv", "--set", "size"), "not NAME=VALUE"),
        (("fleet", "fetch", "abcdefgh"), "There are no runs yet"),
    ],
)
def test_it_is_told_what_cannot_be(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = diskprof(*words, home=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not done.stdout


def test_without_anything_lost_there_is_nothing_to_fetch(tmp_path: Path) -> None:
    done = diskprof("fleet", "fetch", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", "Nothing is lost.")


def test_fleet_runs_are_compared_host_by_host(tmp_path: Path) -> None:
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        ids = []
        for factors in ((1.0, 0.8, 0.7), (1.0, 1.0)):
            fleet_id, runs = begun(store, *factors)
            ended(store, fleet_id, runs)
            ids.append(fleet_id)
    told = diskprof_json("compare", *ids, "--json", home=tmp_path)
    assert [each["member"] for each in told["members"]] == ["db1", "db2"] and told["not_compared"] == ["db3"]
    for each in told["members"]:
        assert [arm["label"] for arm in each["arms"]] == ids
    text = diskprof("compare", *ids, home=tmp_path).stdout
    first, second = text.index("db1\n"), text.index("db2\n")
    assert first < second and "better" not in text[first:second] and "better" in text[second:]
    assert "Not compared: db3." in text
    page = diskprof("compare", *ids, "--format", "markdown", home=tmp_path).stdout
    assert [line for line in page.splitlines() if line.startswith("# ")] == ["# db1", "# db2"]
    # A report is the same, as a page and as a table too.
    assert diskprof("report", *ids, home=tmp_path).stdout == page
    html = diskprof("report", *ids, "--format", "html", home=tmp_path).stdout
    assert html.index("<h1>db1") < html.index("<h1>db2") and "Not compared: db3." in html
    rows = list(csv.DictReader(io.StringIO(diskprof("report", *ids, "--format", "csv", home=tmp_path).stdout)))
    assert {(row["member"], row["arm"]) for row in rows} == {(name, arm) for name in ("db1", "db2") for arm in ids}
    done = diskprof("compare", *ids, "--plot", home=tmp_path)
    assert done.returncode == 2 and "name two runs of a host" in done.stderr
    # A tag of other runs too means all of them, not the fleet run.
    with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
        for fleet_id, tag in zip(ids, ("before", "after"), strict=True):
            for run in store.runs_of_fleet(fleet_id):
                store.set_tags(run.id, (tag,))
        alone = record_run(store, tags=("before",), started_at=FIRST_START - timedelta(days=9))
    told = diskprof_json("compare", "before", "after", "--json", home=tmp_path)
    assert "members" not in told and alone in [run["id"] for run in told["arms"][0]["runs"]]
    # One by itself has a column for each host.
    assert len(diskprof_json("compare", ids[0], "--json", home=tmp_path)["arms"]) == 3
