"""The files, their sizes and the sequence of I/Os of an imported command, beside plain fio's own."""

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskprof.devices.scan.tree import build_tree
from diskprof.devices.targets import resolve_target
from diskprof.model.errors import UsageError
from diskprof.model.plan import Plan, PlannedTest
from diskprof.model.preset import Layout
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.library import load_library
from diskprof.presets.resolve import settings_of
from diskprof.presets.tuning import with_tuning
from diskprof.runner.carry.testfile import files_of_a_test, held_test_files
from diskprof.runner.plan.files import MOST_FILES
from diskprof.runner.plan.planner import make_plan

pytestmark = pytest.mark.needs("fio")

Requests = list[tuple[int, str, int, int]]
"""Of each request its file, by the order in which fio came to it, what was done, and the place and length in bytes."""


def plan_of(command: str, target: Path, **settings: str) -> Plan:
    tree = build_tree()
    return make_plan(with_tuning(import_command(command).preset), resolve_target(str(target), tree), settings, tree)


def requests(log: Path) -> Requests:
    files: dict[str, int] = {}
    found: Requests = []
    for line in log.read_text().splitlines():
        words = line.split()
        if len(words) >= 4 and words[-3] in ("read", "write"):
            path, action, offset, length = words[-4:]
            found.append((files.setdefault(path, len(files)), action, int(offset), int(length)))
    return found


def sizes(directory: Path) -> list[int]:
    return sorted(path.stat().st_size for path in directory.iterdir() if not path.name.endswith(("log", "json")))


def fio(argv: list[str], cwd: Path, log: Path) -> None:
    subprocess.run([*argv, f"--write_iolog={log}"], cwd=cwd, check=True, capture_output=True, timeout=60)


def as_planned(plan: Plan, log: Path) -> Iterator[tuple[PlannedTest, Requests, list[int]]]:
    """Each test of a plan, done: with its requests, and the sizes of the files that it worked on."""
    with held_test_files(plan.directories, plan.filled, b"{}", pytest.fail):
        for test in plan.tests:
            with files_of_a_test(test.files, pytest.fail):
                log.unlink(missing_ok=True)
                fio(list(test.argv), log.parent, log)
                yield test, requests(log), sizes(Path(plan.directory)) if plan.directory else []


ONE_COPY = [
    "fio --name=a --rw=randread --bs=4k --size=1m --nrfiles=3",
    "fio --name=a --rw=randwrite --bs=4k --size=1m --filename=x:y",
    "fio --name=a --rw=randread --bs=4k --size=1m --filename=x --filename=y",
    "fio --name=a --rw=write --bs=64k --size=1m",
    "fio --name=a --rw=randrw --bs=4k,8k --size=1m",
    "fio --name=a --rw=randrw --bssplit=4k/50:8k/50,16k/100 --size=1m",
    "fio --name=a --rw=randrw --bsrange=4k-16k,32k-64k --size=2m",
    "fio --name=a --rw=randrw --percentage_random=100,0 --bs=4k --size=1m",
    "fio --name=a --rw=randread --bs=4k --size=4m --number_ios=100",
    "fio --name=a --rw=read --bs=64k --size=1m --nrfiles=4 --file_service_type=sequential",
    "fio --name=a --rw=read --bs=64k --size=1m --nrfiles=4 --openfiles=2 --file_service_type=random",
    "fio --name=a --rw=write --bs=64k --filesize=256k --nrfiles=4",
    "fio --name=a --rw=randwrite --bs=4k --size=1m --number_ios=9 --create_on_open=1",
    "fio --name=a --rw=randread --bs=4k --size=1m --thinktime=1000 --thinktime_iotime=1000",
    "fio --name=a --rw=randread --bs=4k --size=1m --ioengine=linuxaio --iodepth=4",
    "fio --name=a --rw=randread --bs=4k --size=1m --offset=1m --offset_increment=1m",
]


@pytest.mark.parametrize("command", ONE_COPY)
def test_a_command_does_the_requests_that_fio_does_on_files_of_the_same_size(command: str, tmp_path: Path) -> None:
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    plain.mkdir()
    ours.mkdir()
    fio([*shlex.split(command), "--thread"], plain, plain / "log")
    ((_, done, held),) = as_planned(plan_of(command, ours), tmp_path / "log")
    assert done == requests(plain / "log") and done
    # fio cuts files in the middle of a block where the size does not divide.
    assert [-(-size // 4096) for size in held] == [-(-size // 4096) for size in sizes(plain)]
    assert not list(ours.iterdir())


COPIES = [
    ("fio --name=a --rw=write --bs=64k --size=1m --numjobs=4", [1 << 20] * 4),
    ("fio --name=a --rw=write --bs=64k --size=1m --numjobs=2 --nrfiles=2", [512 << 10] * 4),
    ("fio --name=a --rw=write --bs=64k --size=1m --numjobs=4 --filename=x", [1 << 20]),
    ("fio --name=a --rw=write --bs=64k --size=1m --name=b --rw=write --bs=64k --size=2m", [1 << 20, 2 << 20]),
    ("fio --name=a --rw=write --bs=4k --size=1m --numjobs=2 --offset_increment=1m --filename=x", [2 << 20]),
]


@pytest.mark.parametrize(("command", "expected"), COPIES)
def test_copies_and_jobs_have_as_many_files_as_fio_gives_them(
    command: str, expected: list[int], tmp_path: Path
) -> None:
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    plain.mkdir()
    ours.mkdir()
    subprocess.run([*shlex.split(command), "--thread"], cwd=plain, check=True, capture_output=True, timeout=60)
    assert sizes(plain) == expected
    plan = plan_of(command, ours)
    ((test, _, held),) = as_planned(plan, tmp_path / "log")
    assert held == expected == sorted(file.size_bytes for file in plan.test_files)
    assert plan.space_needed == sum(expected) and test.layout is Layout.FRESH


def test_a_file_for_each_test_that_only_writes_is_made_anew_by_fio_and_gone_after_it(tmp_path: Path) -> None:
    command = "fio --rw=write --bs=64k --size=1m --name=a --name=b --stonewall"
    plan = plan_of(command, tmp_path)
    assert plan.layout is None and plan.space_needed == 1 << 20
    logs = tmp_path / "logs"
    logs.mkdir()
    for test, done, held in as_planned(plan, logs / "log"):
        assert len(done) == 16 and held == [1 << 20]
        assert [file.layout for file in test.files] == [Layout.FRESH]


@pytest.mark.parametrize(("layout", "blocks"), [("filled", 0), ("sparse", 0)])
def test_a_layout_can_be_chosen(layout: str, blocks: int, tmp_path: Path) -> None:
    plan = plan_of("fio --name=a --rw=randwrite --bs=4k --size=1m", tmp_path, layout=layout)
    assert (plan.layout is not None) == (layout == "filled")
    (file,) = plan.test_files
    assert file.layout == layout and file.size_bytes == 1 << 20
    with held_test_files(plan.directories, plan.filled, b"{}", pytest.fail):
        with files_of_a_test(plan.tests[0].files, pytest.fail):
            made = Path(file.path).stat()
            assert (made.st_size, made.st_blocks) == (1 << 20, blocks)
        assert Path(file.path).exists() == (layout == "filled")


def test_a_part_of_a_file_that_is_there(tmp_path: Path) -> None:
    target = tmp_path / "data"
    target.write_bytes(bytes(1 << 20))
    plan = plan_of("fio --name=a --rw=randread --bs=4k --size=25%", target)
    assert plan.tests[0].load.fio[0].size == 256 << 10
    assert any("25% of the target, 256 KiB" in hazard.message for hazard in plan.hazards)
    with pytest.raises(UsageError, match="needs an existing device or file"):
        plan_of("fio --name=a --rw=randread --bs=4k --size=25%", tmp_path)


def test_more_files_than_a_run_can_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too many"):
        plan_of(f"fio --name=a --rw=read --size=1g --numjobs=2 --nrfiles={MOST_FILES}", tmp_path)


def test_files_are_filled_one_after_the_other_and_each_whole(tmp_path: Path) -> None:
    """More of them than one list of fio's can name."""
    plan = plan_of("fio --name=a --rw=read --bs=4k --size=16k --numjobs=150 --group_reporting", tmp_path)
    assert plan.layout and len(plan.layout.jobs) > 1
    with held_test_files(plan.directories, plan.filled, b"{}", pytest.fail):
        done = subprocess.run(plan.layout.argv, check=True, capture_output=True, timeout=60)
        assert done.returncode == 0
        written = [path.read_bytes() for path in Path(plan.directory).glob("*.dat")]
    assert len(written) == 150 and all(len(data) == 16 << 10 and data.count(0) < 4 << 10 for data in written)


def test_a_promise_says_that_its_writes_went_over_filled_files(tmp_path: Path) -> None:
    """Who promised it wrote into new ones."""
    preset, tree = load_library(None).get("azure-max-write-iops"), build_tree()
    target = resolve_target(str(tmp_path), tree)

    def basis(**settings: str) -> str:
        (promise,) = make_plan(preset, target, {"size": "1m", **settings}, tree).expectations
        return promise.basis

    assert basis() == "tier standard-d8ds-v4; on filled files, the source on new ones"
    assert basis(layout="fresh") == "tier standard-d8ds-v4"
    plan = make_plan(preset, target, {"size": "1m"}, tree)
    assert [file.size_bytes for file in plan.files] == [1 << 20] * 4
    one = make_plan(preset, target, settings_of(preset, "one-file", {"size": "1m"}), tree)
    assert [file.size_bytes for file in one.files] == [1 << 20]
