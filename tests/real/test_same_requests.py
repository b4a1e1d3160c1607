"""Commands and job files as they are written for fio: the requests of what diskprof makes of them are fio's own, one by one.

On the null engine, which does nothing: what a job asks for is seen without a disk, each job alone and for a few megabytes.
"""

import shlex
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from fio_parse import can_be_a_command, showcmd
from msgspec.structs import replace

from diskprof.engines.fio.reader import fio_argv
from diskprof.model.errors import PresetError
from diskprof.model.job import FioJob
from diskprof.model.target import Target, TargetKind
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.imported import ImportedPreset
from diskprof.presets.foreign.jobfile import import_job_file
from diskprof.presets.resolve import resolve
from diskprof.runner.plan.files import opened
from diskprof.runner.plan.places import FilePlace

pytestmark = [pytest.mark.fio, pytest.mark.needs("fio")]

OWN = sorted((Path(__file__).parents[1] / "data/jobs").glob("*.fio"))
EXAMPLES = sorted(Path("/usr/share/doc/fio/examples").glob("*.fio"))

BOUNDS = [
    *("--kb_base=1024", "--ioengine=null", "--numjobs=1", "--size=8m", "--io_size=8m", "--loops=1", "--offset=0"),
    *("--time_based=0", "--runtime=0", "--ramp_time=0", "--startdelay=0", "--thinktime=0", "--latency_target=0"),
    *("--rate=0", "--rate_iops=0", "--rate_min=0", "--rate_iops_min=0", "--randrepeat=1"),
    "--clocksource=clock_gettime",
]
"""What makes any job a short one that touches nothing, without a change of its pattern.

With a clock that fio need not gauge: that is most of what starting it takes, twice for each job.
"""

COMMANDS = (Path(__file__).parents[1] / "data/commands.txt").read_text().splitlines()


_ELSEWHERE = ("--directory=", "--filesize=", "--wait_for", "--numa_", "--cpus_allowed")
"""What depends on the machine, or on jobs that are not there where one is alone."""


def requests(words: Sequence[str], directory: Path, log: Path) -> list[tuple[int, str, int, int]]:
    """Of each request its file by the order in which it came first, what it does, and its place and length in bytes."""
    log.unlink(missing_ok=True)
    subprocess.run(
        ["fio", *words, *BOUNDS, f"--write_iolog={log}"], cwd=directory, check=True, capture_output=True, timeout=60
    )
    files: dict[str, int] = {}
    found = []
    for line in log.read_text().splitlines():
        words = line.split()[-4:]
        if len(words) == 4 and words[1] in ("read", "write"):
            found.append((files.setdefault(words[0], len(files)), words[1], int(words[2]), int(words[3])))
    return found


def _whole(words: Sequence[str]) -> Iterator[str]:
    """Each option as one word that begins with two dashes."""
    rest = list(words)
    while rest:
        word = f"--{rest.pop(0).lstrip('-')}"
        if "=" not in word and rest and not rest[0].startswith("-"):
            word += f"={rest.pop(0)}"
        yield word


def of_fio(command: str) -> list[list[str]]:
    """The words of each job of a command, with those that stand before the first."""
    shared: list[str] = []
    jobs: list[list[str]] = []
    for word in _whole(shlex.split(command)[1:]):
        if word.startswith("--name=") and word != "--name=global":
            jobs.append([])
        (jobs[-1] if jobs else shared).append(word)
    return [[word for word in (*shared, *job) if not word.startswith(_ELSEWHERE)] for job in jobs]


def of_diskprof(imported: ImportedPreset, directory: Path) -> list[tuple[FioJob, list[str]]]:
    """Each job that was made of it, as it is started in a directory."""
    slots = [slot.name for slot in imported.preset.targets] or [""]
    places = [
        FilePlace(slot, Target(TargetKind.DIRECTORY, str(directory), "", "", "", ""), directory=f"here{slot}")
        for slot in slots
    ]
    for place in places:
        (directory / place.directory).mkdir()
    found = []
    for test in resolve(imported.preset, {}).tests:
        for job in test.load.fio:
            alone = fio_argv("fio", (replace(job, opened=opened(test, job, places)),), interval_ms=250, read_only=False)
            found.append((job, [word for word in alone[1:] if not word.startswith(("--output", "--status"))]))
    return found


def assert_same(command: str, imported: ImportedPreset, directory: Path) -> None:
    theirs, ours = of_fio(command), of_diskprof(imported, directory)
    assert len(theirs) == len(ours)
    for words, (job, mine) in zip(theirs, ours, strict=True):
        if "random_distribution" in dict(job.options):
            # fio takes the name of the file for the seed of these.
            name = next((word for word in words if word.startswith("--filename=")), f"--filename={job.name}.0.0")
            mine = [name if word.startswith("--filename=") else word for word in mine]
        # fio takes a while to end, so both at once.
        with ThreadPoolExecutor(2) as pool:
            found = [
                pool.submit(requests, each, directory, directory / name)
                for name, each in (("theirs.log", words), ("ours.log", mine))
            ]
        expected, got = (each.result() for each in found)
        assert expected and got == expected, job.name


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_asks_for_what_it_asked_for(command: str, tmp_path: Path) -> None:
    assert_same(command, import_command(command), tmp_path)


def imports() -> Iterator[tuple[Path, ImportedPreset]]:
    for path in (*OWN, *EXAMPLES):
        # Why the others are refused is asked in test_imported_jobs.py.
        with suppress(PresetError):
            yield path, import_job_file(path)


@pytest.mark.parametrize(
    ("path", "imported"),
    [pytest.param(path, imported, id=path.stem) for path, imported in imports() if can_be_a_command(path)],
)
def test_a_job_file_asks_for_what_it_asked_for(path: Path, imported: ImportedPreset, tmp_path: Path) -> None:
    assert_same(showcmd(path), imported, tmp_path)
