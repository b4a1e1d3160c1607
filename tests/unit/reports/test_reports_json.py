"""Results for programs: valid JSON, and the engines' figures to the last digit."""

import json
import re
from typing import Any

import pytest
from handmade import direction, environment, fio, ioping, latency, run, samples
from msgspec.structs import replace
from recorded import make_plan

from diskprof.analysis.comparison import compare
from diskprof.analysis.findings.find import find
from diskprof.model.advice import Advice
from diskprof.model.plan import Hazard, Severity
from diskprof.model.run import Latency, Message, Progress, RunSummary, Status
from diskprof.model.sample import Phase
from diskprof.reports.data import json_presets, json_runs
from diskprof.reports.data.json import FieldTable, dumps, fields
from diskprof.reports.data.json_runs import comparison_json, plan_json, run_json, summaries_json

READ = direction(15_596.123456789, figures=latency(476_553.7, p99_9=1_234_567))


def loaded(value: object) -> Any:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(dumps(value), parse_constant=refuse)


def test_the_figures_are_the_engines_own() -> None:
    tested = run(fio("randread-qd8", read=READ, cpu=(9.523456, 53.331)))
    (test,) = loaded(run_json(tested))["tests"]
    assert test["read"] == {
        "ios": READ.ios,
        "bytes": READ.bytes,
        "iops": 15_596.123456789,
        "bandwidth_bytes_per_s": READ.bandwidth_bytes_per_s,
        "runtime_ms": 30_000.0,
        "latency_ns": {
            "mean": 476_553.7,
            "min": READ.latency.min,
            "max": READ.latency.max,
            "stddev": READ.latency.stddev,
            "p50": READ.latency.p50,
            "p90": READ.latency.p90,
            "p95": READ.latency.p95,
            "p99": READ.latency.p99,
            "p99_9": 1_234_567,
        },
        "latency_kind": "lat",
        "clat_ns": None,
        "slat_ns": None,
        "lat_ns": None,
        "share_within": None,
    }
    (told,) = loaded(run_json(run(fio(read=replace(READ, slat=Latency(mean=9_876.5))))))["tests"]
    assert told["read"]["slat_ns"]["mean"] == 9_876.5
    assert test["cpu"] == {"user_percent": 9.523456, "system_percent": 53.331}
    assert "write" not in test
    assert "sync_latency_ns" not in test


def test_a_run_tells_what_was_planned_and_where() -> None:
    tested = run(
        fio("a", read=READ),
        tags=("before",),
        note="A note.",
        messages=(Message(5, "Said.", test=0, warning=True), Message(6, "Of the run.")),
    )
    found = loaded(run_json(replace(tested, findings=find(tested, samples([0] * 8), ()))))
    assert (found["id"], found["status"], found["preset"], found["title"]) == (
        "k3f7p2qa",
        "complete",
        "own",
        "Own tests",
    )
    assert found["target"]["kind"] == "directory"
    assert (found["target"]["path"], found["target"]["device"]) == ("/mnt/data", "nvme0n1")
    assert found["parameters"] == {"size": "1g", "runtime": "30s"}
    assert (found["started_at"], found["ended_at"]) == ("2026-03-04T12:00:00+00:00", "2026-03-04T12:05:00+00:00")
    assert (found["tags"], found["note"]) == (["before"], "A note.")
    assert found["environment"]["device"]["serial"] == "E1"
    assert found["environment"]["mount"]["options"] == ["rw", "noatime"]
    assert [message["test"] for message in found["messages"]] == ["a", None]
    assert found["findings"][0]["name"] == "stall"
    assert found["findings"][0]["test"] == "a"
    assert found["tests"][0]["argv"][0] == "/usr/bin/fio"
    assert found["progress"] is None


def test_what_an_engine_does_not_give_is_null_and_what_is_no_number_too() -> None:
    figures = Latency(mean=float("nan"), max=float("inf"))
    (test,) = loaded(run_json(run(ioping("seek", "-R", read=direction(9_000, figures=figures)))))["tests"]
    assert test["read"]["latency_ns"] == dict.fromkeys(
        ("mean", "min", "max", "stddev", "p50", "p90", "p95", "p99", "p99_9")
    )
    assert "cpu" not in test


def test_fsync_latency_stands_where_there_is_any() -> None:
    given = fio("sync", rw="write", write=direction(900))
    assert given.result is not None
    (test,) = loaded(run_json(run(replace(given, result=replace(given.result, sync=latency(2e6))))))["tests"]
    assert test["sync_latency_ns"]["mean"] == 2e6


def test_a_run_under_way_tells_how_far_it_is() -> None:
    going = run(
        fio("a", status=Status.RUNNING),
        status=Status.RUNNING,
        progress=Progress(0, Phase.MEASURING, 0.5, 0.25, 12.0, 9),
        ended_at=None,
    )
    found = loaded(run_json(going))
    assert (found["status"], found["ended_at"]) == ("running", None)
    assert found["progress"]["test"] == "a"
    assert found["progress"]["overall"] == 0.25


def test_names_that_are_not_utf8_are_still_json() -> None:
    odd = run(fio("a", read=READ), environment=environment(hostname="h\udcff\x1b[31m"))
    assert loaded(run_json(odd))["environment"]["hostname"] == "h\\udcff\x1b[31m"


def test_summaries() -> None:
    tested = run()
    summary = RunSummary(
        *("k3f7p2qa", Status.FAILED, "own", "Own tests", "/mnt/data", "nvme0n1", "db-01", tested.started_at, 12.5),
        tags=("t",),
        headline="rand read 12.3k IOPS",
    )
    (found,) = loaded(summaries_json([summary]))
    assert found["status"] == "failed"
    assert found["duration_s"] == 12.5
    assert found["tags"] == ["t"]


def test_a_comparison_tells_value_difference_ratio_and_verdict() -> None:
    base, other = run(fio("a", read=direction(100)), run_id="x"), run(fio("a", read=direction(150)), run_id="y")
    found = loaded(comparison_json(compare((base, other))))
    assert [[run["id"] for run in arm["runs"]] for arm in found["arms"]] == [["x"], ["y"]]
    (test,) = found["tests"]
    iops = test["metrics"][0]
    assert (iops["metric"], iops["direction"], iops["better"]) == ("iops", "read", "higher")
    assert iops["cells"] == [
        {"value": 100, "values": [100], **dict.fromkeys(("difference", "ratio", "interval", "verdict", "more_runs"))},
        {
            "value": 150,
            "values": [150],
            "difference": 50,
            "ratio": 0.5,
            "interval": None,
            "verdict": "better",
            "more_runs": None,
        },
    ]


def test_a_plan_tells_what_it_would_do() -> None:
    plan = replace(run(fio("a")).plan, hazards=(Hazard("h", Severity.BLOCKS, "No.", "Do not."),))
    found = loaded(plan_json(plan))
    assert found["tests"][0]["argv"][0] == "/usr/bin/fio"
    assert found["blocked"] is True
    assert found["hazards"] == [{"name": "h", "severity": "blocks", "message": "No.", "advice": "Do not."}]
    assert found["test_files"][0]["size_bytes"] == 1 << 30
    (test,) = plan.tests
    (late,) = loaded(plan_json(replace(plan, tests=(replace(test, amount_bytes=1 << 30, delay_s=2.5),))))["tests"]
    assert (late["amount_bytes"], late["delay_s"]) == (1 << 30, 2.5)
    assert found["tests"][0]["amount_bytes"] is None


@pytest.mark.parametrize("table", [json_runs._FIELDS, json_presets._FIELDS])
def test_every_field_of_the_tables_is_there(table: FieldTable) -> None:
    for row, spec in table.items():
        if isinstance(spec, str):
            assert all(hasattr(row, re.split("[=?~.{]", word.split("=")[-1])[0]) for word in spec.split()), row


def test_what_is_empty_is_null_or_left_out() -> None:
    value = replace(fio().planned, cell=(), title="")
    assert fields(value, "name cell{}", {}) == {"name": value.name, "cell": {}}
    assert fields(value, "heading=title? cell{}~", {}) == {"heading": None}


def test_the_advice_of_a_hazard_is_the_command_lines() -> None:
    advice = Advice("Say --set size=1g.", "Edit the size.")
    plan = replace(make_plan("quick"), hazards=(Hazard("space", Severity.BLOCKS, "No room.", advice),))
    assert [one["advice"] for one in loaded(plan_json(plan))["hazards"]] == ["Say --set size=1g."]
