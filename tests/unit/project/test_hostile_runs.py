"""A run that somebody else made may say what it likes: it is refused, or every place that shows it copes and stays clean."""

import gzip
import io
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hostile import HOSTILE, LINES, WORDS, dangers, imported, paths, poisoned_lines
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diskprof.analysis.comparison import compare
from diskprof.analysis.expectations import judge
from diskprof.model.errors import DiskprofError
from diskprof.model.run import Run
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_runs import comparison_json, run_json, summaries_json
from diskprof.reports.data.nagios import plugin_line
from diskprof.reports.render.markdown import report
from diskprof.reports.render.plotext_plot import run_plots
from diskprof.reports.render.text import comparison_text, runs_table, show
from diskprof.store import Store
from diskprof.store.exchange.transfer import export_runs

NUMBERS = (0, 1, -1, 2**31, 2**62, 2**63 - 1, 0.5, 1e-300, 1e18, 10**400, float("nan"), float("inf"))
VALUES = (*NUMBERS, None, True, "", HOSTILE, "x" * 5000, "\ud800", "9" * 500, [], {}, [[]], "latest", "1e999")


def pages(store: Store, ids: list[str]) -> Iterator[tuple[str, str]]:
    """Everything that the command line and the reports say of these runs."""
    runs: list[Run] = [store.run(run_id) for run_id in ids]
    samples = {run_id: store.samples(run_id).samples for run_id in ids}
    summaries = store.summaries()
    yield "runs", runs_table(summaries, 100)
    yield "runs --json", dumps(summaries_json(summaries))
    for each in runs:
        for ascii_only in (False, True):
            yield "show", show(each, samples[each.id], 80, ascii_only=ascii_only)
        yield "show --json", dumps(run_json(each))
        yield "show --plot", run_plots(each, samples[each.id], 80, colour=False, ascii_only=True)
        yield "nagios", plugin_line(each, judge(each))[1]
        for test in each.tests:
            store.document(each.id, test.index)
            store.course(each.id, test.index)
        store.system_samples(each.id)
    yield "report", report(runs[:1], samples)
    yield "report of several", report(runs, samples)
    comparison = compare(runs, samples)
    yield "compare", comparison_text(comparison, 100)
    yield "compare --json", dumps(comparison_json(comparison))


def test_a_file_of_the_first_version_stays_readable(store: Store) -> None:
    assert imported(store, LINES) == ["abc", "def"]
    again = io.BytesIO()
    export_runs(store, ["abc", "def"], again)
    lines = [json.loads(line) for line in gzip.decompress(again.getvalue()).splitlines()]
    # Later versions may know more of a run than that one wrote.
    assert [set(line) for line in lines] == [set(line) for line in LINES]
    assert [line for line in lines if "samples" in line or "end" in line] == [
        line for line in LINES if "samples" in line or "end" in line
    ]


def test_words_for_a_terminal_are_shown_and_not_obeyed(store: Store) -> None:
    ids = imported(store, poisoned_lines())
    for name, text in pages(store, ids):
        # Ours: it keeps a name from being called in a forge.
        assert not dangers(text.replace("\u200b", "")), name
        assert len(text) > 20


def alike(value: Any) -> tuple[Any, ...]:
    """Other values that pass for one of this kind."""
    if isinstance(value, str):
        return ("", HOSTILE, "x" * 5000, "\ud800", "9" * 500, "global", *sorted(WORDS))
    if isinstance(value, list):
        return ([], value * 2, value[:1])
    return VALUES if isinstance(value, dict) else NUMBERS[:9]


def test_the_line_for_nagios_keeps_its_form(store: Store) -> None:
    for run_id in imported(store, poisoned_lines()):
        _, line = plugin_line(store.run(run_id), ())
        words, bar, figures = line.partition(" | ")
        assert bar and "|" not in words
        assert all(
            re.fullmatch(r"'[A-Za-z0-9_.%-]+'=[0-9.]+[a-zB%]*(;[0-9.:;]*)?", figure) for figure in figures.split(" ")
        )


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32))
def test_what_is_taken_in_can_be_shown(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """One or two values of a run changed to any others: it is refused, or nothing that shows it falls over."""
    chance = random.Random(seed)
    lines = json.loads(json.dumps(LINES))
    for _ in range(chance.randint(1, 2)):
        line = chance.choice(lines)
        *way, last = chance.choice(list(paths(line))[1:] or [(next(iter(line)),)])
        place: Any = line
        for step in way:
            place = place[step] if isinstance(place, list | dict) else {}
        if isinstance(place, list | dict) and (isinstance(place, dict) or last < len(place)):
            place[last] = chance.choice(alike(place[last]) if chance.random() < 0.8 else VALUES)
    with Store.open(tmp_path_factory.mktemp("hostile") / "runs.db") as store:
        try:
            ids = imported(store, lines)
        except DiskprofError as error:
            assert not dangers(str(error))
            assert store.summaries() == []
            return
        for name, text in pages(store, ids):
            assert not dangers(text.replace("\u200b", "")), name
