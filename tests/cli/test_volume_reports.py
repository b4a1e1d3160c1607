"""Promises, sweeps and several targets as the command line tells them."""

from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from program import diskprof as from_scratch
from recorded import write_volumes


@pytest.fixture
def volumes(tmp_path: Path) -> dict[str, str]:
    return write_volumes(tmp_path / ".local/share/diskprof/runs.db")


def test_a_sweep_is_shown_drawn_and_reported(tmp_path: Path, volumes: dict[str, str]) -> None:
    shown = diskprof("show", volumes["sweep"], "--plot", home=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "IOPS-limited up to 32 KiB (about 5,000 IOPS)" in shown.stdout
    assert "MB/s by block size, a line for each queue depth" in shown.stdout
    assert len(diskprof_json("show", volumes["sweep"], "--json", home=tmp_path)["sweep"]["cells"]) == 35
    assert "### rand read" in diskprof("report", volumes["sweep"], home=tmp_path).stdout


def test_two_sweeps_are_compared_and_drawn(tmp_path: Path, volumes: dict[str, str]) -> None:
    pair = volumes["sweep"], volumes["smaller"]
    compared = diskprof("compare", *pair, "--plot", home=tmp_path)
    assert compared.returncode == 0, compared.stderr
    assert "web-4 against web-3" in compared.stdout
    assert "rand read: most IOPS by block size:  * web-3   o web-4" in compared.stdout
    refused = diskprof("compare", *pair, "--plot", "--format", "json", home=tmp_path)
    assert refused.returncode == 2 and "--plot" in refused.stderr and not refused.stdout
    for words in (("--json", "--plot"), ("--json", "--format", "markdown")):
        refused = diskprof("compare", *pair, *words, home=tmp_path)
        assert refused.returncode == 2 and "--json" in refused.stderr and not refused.stdout


def test_a_comparison_knows_the_noise_of_the_runs(tmp_path: Path, volumes: dict[str, str]) -> None:
    pair = volumes["sweep"], volumes["smaller"]
    text = diskprof("compare", *pair, home=tmp_path).stdout
    assert "only the noise within runs is known" in " ".join(text.split())
    markdown = diskprof("compare", *pair, "--format", "markdown", home=tmp_path).stdout
    # Both are judged by the samples too, so they agree.
    sentence = next(line for line in markdown.splitlines() if line.startswith("- **web-4 against web-3"))
    assert sentence.strip("-* ").replace("\\", "") in " ".join(text.split())


def test_promises_are_told_in_every_form(tmp_path: Path, volumes: dict[str, str]) -> None:
    run_id = volumes["promises"]
    assert "\nExpectations\n" in diskprof("show", run_id, home=tmp_path).stdout
    found = diskprof_json("show", run_id, "--json", home=tmp_path)["expectations"]
    assert [one["verdict"] for one in found].count("missed") == 2
    assert "**Missed 2 of 6 expectations" in diskprof("report", run_id, home=tmp_path).stdout


def test_without_utf8_results_are_ascii(tmp_path: Path, volumes: dict[str, str]) -> None:
    shown = from_scratch("show", volumes["promises"], "--plot", home=tmp_path, PYTHONIOENCODING="ascii")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.isascii() and "IOPS over time" in shown.stdout


def test_a_dry_run_begins_with_the_plan_in_a_sentence(tmp_path: Path) -> None:
    done = diskprof(
        *("run", "quick", tmp_path, "--set", "size=64m", "--set", "runtime=2", "--dry-run"),
        *("--expect", "randread-4k-qd32.read.iops>=5000"),
        home=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert f"Tests a temporary 64 MiB file in {tmp_path}" in " ".join(done.stdout.split())
    assert "Expected\n  4K rand read QD32: read IOPS >= 5,000 (from --expect)\n" in done.stdout
