"""Whole reports of recorded runs, as a person read them and found them good.

After a change that is meant, `DISKPROF_GOLDEN=write pytest tests/unit/reports/test_reports_golden.py` writes them anew; read the
difference before it is committed.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import record_library, record_volumes

from diskprof.analysis.comparison import compare
from diskprof.analysis.findings.find import find
from diskprof.analysis.kernel import KernelView, seen_by_test
from diskprof.model.run import Run
from diskprof.model.sample import Sample
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import comparison_json, run_json, summaries_json
from diskprof.reports.render.markdown import report
from diskprof.reports.render.plotext_plot import comparison_plots, run_plots
from diskprof.reports.render.text import comparison_text, plan_text, runs_table, show
from diskprof.store import Store

GOLDEN = Path(__file__).parents[2] / "golden"


@dataclass(frozen=True)
class Library:
    """The recorded runs by what they are, with the findings of today's rules."""

    runs: dict[str, Run]
    samples: dict[str, tuple[Sample, ...]]
    kernel: dict[str, dict[int, KernelView]]
    listed: str

    def seen(self, *names: str) -> dict[str, dict[int, KernelView]]:
        return {self.runs[name].id: self.kernel[name] for name in names}

    def samples_by_id(self, *names: str) -> dict[str, tuple[Sample, ...]]:
        return {self.runs[name].id: self.samples[name] for name in names}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Store.open(tmp_path_factory.mktemp("golden") / "runs.db") as store:
        runs, taken, kernel = {}, {}, {}
        recorded = record_library(store)
        listed = runs_table(store.summaries()) + dumps(summaries_json(store.summaries(limit=2)))
        for name, run_id in {**recorded, **record_volumes(store)}.items():
            run, taken[name] = store.run(run_id), store.samples(run_id).samples
            system = store.system_samples(run_id).samples
            kernel[name] = seen_by_test(taken[name], system)
            runs[name] = replace(run, findings=find(run, taken[name], system))
        yield Library(runs, taken, kernel, listed)


def golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("DISKPROF_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["first", "mixed", "ioping", "seek", "failed", "cancelled", "interrupted", "running"])
def test_show(library: Library, name: str) -> None:
    golden(f"show-{name}.txt", show(library.runs[name], library.samples[name], kernel=library.kernel[name]))


@pytest.mark.parametrize("name", ["first", "mixed", "ioping", "failed"])
def test_report(library: Library, name: str) -> None:
    golden(f"report-{name}.md", report([library.runs[name]], library.samples_by_id(name), kernel=library.seen(name)))


def test_report_of_two_runs(library: Library) -> None:
    golden(
        "report-first-slow.md",
        report(
            [library.runs["first"], library.runs["slow"]],
            library.samples_by_id("first", "slow"),
            kernel=library.seen("first", "slow"),
        ),
    )


@pytest.mark.parametrize("names", [("first", "slow"), ("first", "second", "slow"), ("first", "failed")])
def test_comparison(library: Library, names: tuple[str, ...]) -> None:
    runs = [library.runs[name] for name in names]
    golden(f"compare-{'-'.join(names)}.txt", comparison_text(compare(runs, library.samples_by_id(*names))))


def test_json(library: Library) -> None:
    golden("run-mixed.json", dumps(run_json(library.runs["mixed"], library.kernel["mixed"])))
    pair = [library.runs[name] for name in ("ioping", "seek")]
    golden("compare-ioping-seek.json", dumps(comparison_json(compare(pair, library.samples_by_id("ioping", "seek")))))


@pytest.mark.parametrize("name", ["sweep", "promises", "targets"])
def test_what_a_volume_is_asked(library: Library, name: str) -> None:
    golden(f"show-{name}.txt", show(library.runs[name], library.samples[name], kernel=library.kernel[name]))
    golden(f"report-{name}.md", report([library.runs[name]], library.samples_by_id(name), kernel=library.seen(name)))


def test_two_sweeps(library: Library) -> None:
    pair, taken = [library.runs[name] for name in ("sweep", "smaller")], library.samples_by_id("sweep", "smaller")
    golden("compare-sweep-smaller.txt", comparison_text(compare(pair, taken)))
    golden("plot-sweep.txt", run_plots(library.runs["sweep"], library.samples["sweep"]))
    golden("plot-sweep-smaller.txt", comparison_plots(compare(pair, taken), pair, taken, ascii_only=True))
    golden("sweep.json", dumps(run_json(library.runs["sweep"])["sweep"]))


def test_plans_of_a_volume(library: Library) -> None:
    golden("plan-promises.txt", plan_text(library.runs["promises"].plan))
    golden("plan-targets.txt", plan_text(library.runs["targets"].plan))


def test_lists_plans_and_charts(library: Library) -> None:
    golden("runs.txt", library.listed)
    golden("plan-first.txt", plan_text(library.runs["first"].plan))
    golden("plot-mixed.txt", run_plots(library.runs["mixed"], library.samples["mixed"]))
