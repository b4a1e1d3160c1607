"""Runs on several targets: each is told with the name of its slot."""

import json
from collections.abc import Iterator

import pytest
from handmade import TARGET, direction, fio, run, samples
from msgspec.structs import replace
from recorded import write_volumes

from diskprof.analysis.comparison import compare
from diskprof.model.plan import OtherTarget
from diskprof.model.run import Run
from diskprof.model.sample import Direction
from diskprof.reports.content.facts import targets
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import plan_json, run_json
from diskprof.reports.render.markdown import report
from diskprof.reports.render.text import plan_text, show
from diskprof.store import Store


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    path = tmp_path_factory.mktemp("targets") / "runs.db"
    run_id = write_volumes(path)["targets"]
    with Store.open(path) as store:
        yield store.run(run_id)


def test_each_target_has_a_line_with_its_slot(two: Run) -> None:
    lines = (
        "Target      cache: /mnt/cached (directory, ext4 on sda1)\n"
        "Target      nocache: /mnt/uncached (directory, ext4 on sdb1)\n"
    )
    assert lines in show(two)
    assert lines in plan_text(two.plan)
    markdown = report([two])
    assert "| Target cache     | /mnt/cached (directory, ext4 on sda1)" in markdown
    assert "| Target nocache   | /mnt/uncached (directory, ext4 on sdb1)" in markdown


def test_a_plan_names_each_directory_and_its_files(two: Run) -> None:
    text = plan_text(two.plan)
    assert "Directory   /mnt/cached/.diskprof-" in text and "Directory   /mnt/uncached/.diskprof-" in text
    assert "Files       2 of 1 GiB, filled before the first test" in text
    assert "# layout: Create test files (" in text


def test_json_lists_every_target(two: Run) -> None:
    for found in (json.loads(dumps(run_json(two))), json.loads(dumps(plan_json(two.plan)))):
        assert [(one["slot"], one["path"], one["device"]) for one in found["targets"]] == [
            ("cache", "/mnt/cached", "sda1"),
            ("nocache", "/mnt/uncached", "sdb1"),
        ]
        assert found["target"] == {key: value for key, value in found["targets"][0].items() if key != "slot"}


def test_one_target_without_a_name_is_as_ever() -> None:
    alone = run(fio("a", read=direction(1)))
    assert targets(alone.plan) == (("", TARGET),)
    assert "Target      /mnt/data (directory, ext4 on nvme0n1, rw,noatime)\n" in show(alone)
    assert [one["slot"] for one in run_json(alone)["targets"]] == [None]


def test_a_further_target_that_differs_is_a_condition(two: Run) -> None:
    other = replace(two.plan.others[0], target=replace(TARGET, path="/mnt/elsewhere"))
    elsewhere = replace(two, id="other", plan=replace(two.plan, others=(other,)))
    found = {condition.name: condition.values for condition in compare((two, elsewhere)).conditions}
    assert found == {"target nocache": ("/mnt/uncached", "/mnt/elsewhere")}


def test_the_course_of_a_test_in_which_one_of_two_is_paced_is_its_iops() -> None:
    paced = run(fio("mix", rw="randrw", read=direction(700), write=direction(300), options=("--rate_iops=300",)))
    taken = (*samples([700] * 8), *samples([300] * 8, way=Direction.WRITE))
    assert "IOPS over time, from 0" in show(paced, taken)
    assert "1.00k" in show(paced, taken).split("over time")[1]
    alone = run(fio("w", rw="randwrite", write=direction(300), options=("--rate_iops=300",)))
    assert "IOPS or latency" in show(alone, samples([300] * 8, way=Direction.WRITE))


def test_foreign_slots_are_harmless(two: Run) -> None:
    other = OtherTarget("\x1b[31mx", replace(TARGET, path="\x1b]52;c;x\x07磁盘"))
    plan = replace(two.plan, slot="a\u202e", others=(other,))
    for text in (show(replace(two, plan=plan)), plan_text(plan), report([replace(two, plan=plan)])):
        assert "磁盘" in text
        assert not {char for char in text if not char.isprintable()} - {"\n", "\u200b"}
