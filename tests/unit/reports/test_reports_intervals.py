"""The lines of `--follow`, read back."""

import json
import re
from datetime import datetime, timedelta

from handmade import START, environment, fio, run, samples
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from diskprof.model.sample import Direction, Phase, Sample
from diskprof.reports.formats import FollowFormat, interval_lines

RUN = run(fio("first"), fio("second"))
TAKEN = (*samples([100, 0, 300]), *samples([50], test=1, way=Direction.WRITE, phase=Phase.PREPARING))


def parse_influx(line: str) -> tuple[str, dict[str, str], dict[str, float], int]:
    """Measurement, tags, fields and time of a line, by the line protocol's grammar. Raises AssertionError."""
    tag = r"(?:[^\s,=\\]|\\[,= ])+"
    match = re.fullmatch(rf"({tag})((?:,{tag}={tag})*) (\S+) (\d+)\n", line)
    assert match, line
    tags = {
        re.sub(r"\\(.)", r"\1", name): re.sub(r"\\(.)", r"\1", value)
        for name, value in re.findall(rf",({tag})=({tag})", match[2])
    }
    pairs = [re.fullmatch(r"([a-z0-9_]+)=(-?[\d.]+(?:e[+-]?\d+)?)(i?)", pair) for pair in match[3].split(",")]
    assert all(pair and ("." not in pair[2] if pair[3] else True) for pair in pairs), line
    return match[1], tags, {pair[1]: float(pair[2]) for pair in pairs if pair}, int(match[4])


def test_an_interval_is_a_line_of_json() -> None:
    found = [json.loads(line) for line in interval_lines(FollowFormat.JSONL, RUN, TAKEN)]
    assert [(each["test"], each["phase"], each["direction"], each["ios"]) for each in found] == [
        ("first", "measuring", "read", 25),
        ("first", "measuring", "read", 0),
        ("first", "measuring", "read", 75),
        ("second", "preparing", "write", 12),
    ]
    assert [each["latency_mean_ns"] for each in found] == [1e5, None, 1e5, 1e5]
    assert datetime.fromisoformat(found[2]["time"]) == START + timedelta(seconds=0.75)


def test_an_interval_is_a_line_for_influx() -> None:
    found = [parse_influx(line) for line in interval_lines(FollowFormat.INFLUX, RUN, TAKEN)]
    assert {name for name, *_ in found} == {"diskprof"}
    assert found[0][1] == {
        "host": "db-01",
        "preset": "own",
        "target": "/mnt/data",
        "run": RUN.id,
        "test": "first",
        "phase": "measuring",
        "direction": "read",
    }
    assert found[3][1]["phase"] == "preparing" and found[0][2]["iops"] == 100 and found[0][2]["latency_p99_ns"] > 0
    # Of an interval in which nothing completed there is no latency.
    assert not [name for name in found[1][2] if "latency" in name]
    assert [time - round(START.timestamp()) * 10**9 for *_, time in found] == [sample.at_ns for sample in TAKEN]


@given(st.text(max_size=12))
def test_no_name_breaks_a_line(name: str) -> None:
    plan = replace(RUN.plan, preset=name, target=replace(RUN.plan.target, path=name))
    planned = replace(RUN.tests[0].planned, name=name)
    tests = (replace(RUN.tests[0], planned=planned), RUN.tests[1])
    made = replace(RUN, plan=plan, tests=tests, environment=environment(hostname=name))
    one: tuple[Sample, ...] = TAKEN[:1]
    (line,) = interval_lines(FollowFormat.INFLUX, made, one)
    _, tags, _, _ = parse_influx(line)
    assert tags["run"] == RUN.id and tags.get("host") == tags.get("preset") == tags.get("test") == tags.get("target")
    (line,) = interval_lines(FollowFormat.JSONL, made, one)
    assert line.count("\n") == 1 and json.loads(line)["test"] == name
