"""`diskprof mimic` of a real load: the preset of it is one that can be run, and says what fio did."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from forked import diskprof
from loops import MIB, Loops
from tracing import traces

from diskprof.presets.library import preset_of_file
from diskprof.presets.resolve import expand_defaults

IOSTAT = Path(__file__).parents[1] / "data" / "iostat" / "sysstat-12.txt"


def load(node: str, seconds: int) -> "subprocess.Popen[bytes]":
    words = ("fio", "--name=load", f"--filename={node}", "--rw=randread", "--bs=4k", "--rate_iops=200", "--direct=1")
    return subprocess.Popen((*words, "--time_based", f"--runtime={seconds}"), stdout=subprocess.DEVNULL)


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[None]:
    with traces(tmp_path):
        yield


@pytest.mark.needs("root", "loop", "fio", "tracefs")
def test_a_known_load_becomes_a_preset_of_it(loops: Loops, tmp_path: Path, traced: None) -> None:
    node, made = loops.disk(32 * MIB), tmp_path / "mine.toml"
    with load(node, 60) as fio:
        try:
            done = diskprof("mimic", node, "--for", "2s", "-o", made, home=tmp_path)
        finally:
            fio.terminate()
    assert done.returncode == 0, done.stderr
    assert "Rate" in done.stdout and "Working set" in done.stdout and str(made) in done.stdout
    jobs = [dict(job.options) for job in expand_defaults(preset_of_file(made)).tests[0].jobs]
    busiest = max(jobs, key=lambda job: int(job["rate_iops"]))
    assert (busiest["rw"], busiest["bs"]) == ("randread", "4096")
    assert 1 <= int(busiest["rate_iops"]) <= 400
    again = diskprof("mimic", node, "--for", "1s", "-o", made, home=tmp_path)
    assert again.returncode == 2 and "already exists" in again.stderr


def test_of_iostats_text_and_bad_input(tmp_path: Path) -> None:
    done = diskprof("mimic", "--from", IOSTAT, "--name", "pasted", home=tmp_path)
    assert done.returncode == 0 and "taken to be at random" in done.stdout, done.stderr
    assert "Run it: diskprof run pasted TARGET" in done.stderr
    shown = diskprof("presets", "show", "pasted", home=tmp_path)
    assert shown.returncode == 0 and "rate_iops=4000" in shown.stdout.replace(" = ", "=")
    for words, said in (
        ((), "Name a device"),
        (("/dev/no-such",), "does not exist"),
        (("no-such-run",), "There is no run"),
        (("/", "--for", "0"), "1 s or more"),
        (("--from", IOSTAT, "--name", "Not Good"), "not a valid preset name"),
        (("--from", IOSTAT, "--name", "pasted"), "already exists"),
        (("sdz", "--from", IOSTAT), "told nothing of sdz"),
        (("--from", "/no-such"), "cannot be read"),
        (("--from", "/dev/zero"), "after the first 1 MiB is left out"),
    ):
        refused = diskprof("mimic", *words, home=tmp_path)
        assert refused.returncode == 2 and said in refused.stderr, (words, refused.stderr)
