"""docs/scripting.md: every key that a program may meet in the JSON is told where it is looked for."""

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from forked import diskprof, diskprof_json
from like_runs import record_like_runs
from recorded import record_volumes, write_library

from diskprof.analysis.comparison import compare
from diskprof.analysis.gate import GateOutcome, gate
from diskprof.analysis.kernel import KernelView
from diskprof.analysis.watched import WatchedTotal
from diskprof.cli.main import main
from diskprof.model.device import Activity, Device, DeviceKind, DeviceTree, Mount
from diskprof.model.errors import ExitCode
from diskprof.model.process_io import ProcessIo
from diskprof.presets.library import load_library
from diskprof.reports.data.gate_formats import gate_json
from diskprof.reports.data.json_history import history_json
from diskprof.reports.data.json_presets import options_json, presets_json, resolved_json
from diskprof.reports.data.json_runs import comparison_json, plan_json, run_json, summaries_json
from diskprof.reports.data.json_watch import interval_json, total_json
from diskprof.reports.render.device_list import devices_json
from diskprof.runner.like_runs import history_of
from diskprof.store import Store

TEXT = (Path(__file__).parents[3] / "docs/scripting.md").read_text()
# What stands under these keys has the names of parameters, options and the like for keys.
NAMES_BELOW = {"parameters", "cell", "fixed", "settings", "when", "options"}


def told(*headings: str) -> set[str]:
    """The words in backticks under these headings."""
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
    return {word for heading in headings for word in re.findall(r"`([\w.]+)`", sections[heading])}


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from keys(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            if not (key in NAMES_BELOW and isinstance(item, dict)):
                yield from keys(item)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    path = tmp_path_factory.mktemp("store") / "runs.db"
    write_library(path)
    with Store.open(path) as made:
        record_volumes(made)
        yield made


def test_a_watched_device() -> None:
    now, view, process = datetime.now(UTC), KernelView(1.0), ProcessIo(0, 1, 1, "dd", 1, 1, 0, 1)
    total = WatchedTotal(view, view, (process,))
    lines = (interval_json(now, "sda", view, (process,)), total_json(now, "sda", total, 0, gone=False))
    found = {key for key in keys([json.loads(line) for line in lines]) if not key.startswith("cgroup_")}
    assert found <= told("Watch", "A run")


def test_runs(store: Store) -> None:
    summaries = store.summaries()
    assert set(keys(summaries_json(summaries))) <= told("Runs")
    for summary in summaries:
        unknown = set(keys(run_json(store.run(summary.id)))) - told("A run", "Expectations", "Sweeps", "Devices")
        assert not unknown, summary.preset


def test_comparisons(store: Store) -> None:
    runs = [store.run(summary.id) for summary in store.summaries()]
    together = [run for run in runs if run.plan.preset == runs[-1].plan.preset]
    comparison = comparison_json(compare(together))
    assert not set(keys(comparison)) - told("Comparisons", "A run", "Expectations", "Sweeps")


def test_a_difference_is_in_the_unit_of_the_value_and_a_ratio_is_its_share_of_the_first(store: Store) -> None:
    section = TEXT.partition("## Comparisons")[2].partition("\n## ")[0]
    assert "`difference` (`value` less the first arm's, in the same unit)" in section
    assert "`ratio` (`difference` as a share of the first arm's `value`: -0.219 is 21.9% less" in section
    runs = [store.run(summary.id) for summary in store.summaries()]
    together = [run for run in runs if run.plan.preset == runs[-1].plan.preset]
    rows = [row for test in comparison_json(compare(together))["tests"] for row in test["metrics"]]
    held = 0
    for first, *others in (row["cells"] for row in rows):
        assert first["difference"] is None and first["ratio"] is None
        for cell in others:
            if cell["difference"] is not None:
                assert cell["difference"] == cell["value"] - first["value"]
                assert (cell["ratio"] is None) is (first["value"] == 0)
                assert cell["ratio"] is None or cell["ratio"] == pytest.approx(cell["difference"] / first["value"])
                held += 1
    assert held


def test_history(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        ids = record_like_runs(store, [1.0] * 8 + [0.8] * 8)
        history = history_json(history_of(store, store.run(ids[-1])))
    assert history["figures"][0]["changes"][0]["run"] == ids[8]
    assert set(keys(history)) <= told("History")


def test_gate(tmp_path: Path) -> None:
    with Store.open(tmp_path / "runs.db") as store:
        ids = record_like_runs(store, [1.0] * 8)
        run = store.run(ids[-1])
        results = store.like_results("quick", store.fingerprint(run.id))
        found = gate_json(gate(run, results[:-1], results[-1:]), run)
    assert set(keys(found)) <= told("Gate")
    assert set(GateOutcome) <= {*told("Gate"), "cannot tell"}


def test_plans(store: Store) -> None:
    for summary in store.summaries():
        plan = plan_json(store.run(summary.id).plan)
        assert not set(keys(plan)) - told("Plans", "A run", "Expectations", "Sweeps")


def test_devices() -> None:
    mount = Mount("/", "ext4", ("rw",), 2**40, 2**30)
    disk = Device(
        name="sda", node="/dev/sda", major=8, minor=0, kind=DeviceKind.DISK, size_bytes=2**40, mounts=(mount,)
    )
    found = devices_json(DeviceTree((disk,)), {"sda": Activity(1, 1, 1, 1, 1)})
    assert set(keys(found)) <= told("Devices")
    assert set(DeviceKind) <= told("Devices")


def test_presets(tmp_path: Path) -> None:
    presets = load_library(tmp_path).presets
    assert set(keys(presets_json(presets))) <= told("Presets")
    assert set(keys([resolved_json(preset) for preset in presets])) <= told("Presets")
    assert {key for engine in options_json().values() for option in engine.values() for key in option} <= told(
        "Presets"
    )


def test_doctor(tmp_path: Path) -> None:
    done = diskprof("doctor", "--json", home=tmp_path)
    assert done.returncode in (0, 1, 3), done.stderr
    found = json.loads(done.stdout)
    found["io_engines"] = list(found["io_engines"].values())
    assert set(keys(found)) <= told("Doctor")


def test_settings(tmp_path: Path) -> None:
    found = diskprof_json("config", "--json", home=tmp_path)
    found["settings"] = list(found["settings"].values())
    assert set(keys(found)) <= told("Settings")
    assert set(keys(diskprof_json("config", "keys", "--json", home=tmp_path))) <= told("Settings")


def commands(group: click.Group, *before: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*before, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)


def test_every_command_with_json_is_told() -> None:
    for name, command in commands(main):
        options = {option for parameter in command.params for option in parameter.opts}
        if "--json" in options:
            assert re.search(rf"\b{name}\b[^\n|]* --json", TEXT), name


def test_every_exit_code_is_told() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", TEXT, re.MULTILINE)}
    assert codes == set(map(int, ExitCode))
