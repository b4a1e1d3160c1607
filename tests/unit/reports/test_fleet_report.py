"""A fleet run as a document, as JSON and as CSV."""

import csv
import io
import json

from fleets import FLEET_ID, disks, fleet_run, hosts, hosts_repeated
from msgspec.structs import replace

from diskprof.analysis.fleet.result import FleetResult, labels
from diskprof.analysis.fleet.together import lost_together
from diskprof.model.fleet import FleetMember, MemberState, MemberStatus
from diskprof.model.histogram import merge
from diskprof.model.run import RunSummary, Status
from diskprof.reports.blocks import Paragraph
from diskprof.reports.content.fleet.fleet_report import fleet_report
from diskprof.reports.content.fleet.fleet_rows import fleet_row, row_words
from diskprof.reports.content.fleet.together_report import together_blocks
from diskprof.reports.data.json import dumps
from diskprof.reports.data.json_fleet import fleet_json
from diskprof.reports.formats import Format, write_fleet
from diskprof.reports.render.lines import text

_HOST = ("0000:00:1f.2", "host0")


def drawn(result: FleetResult, width: int = 100) -> str:
    return text(fleet_report(result), width)


def test_the_report_names_the_odd_host_first_and_tells_the_sum() -> None:
    said = drawn(hosts(5000, 5010, 4990, 3500))
    assert "db4: 30% below the other 3, beyond what they differ among themselves (4K rand read QD32)." in said
    assert said.index("What stands out") < said.index("Sum of all hosts") < said.index("Each host")
    assert "! 3.50k" in said
    assert "18,500" in said
    assert "12 ms +-0.8 ms" in said
    assert "quick" in said


def test_repeats_are_told_of_each_host_and_the_sum_is_their_median() -> None:
    result = hosts_repeated((5000, 5100, 4900), (4000, 4100))
    said = drawn(result)
    assert "3 repeats" in said and "(last repeat)" in said and "Repeats of each host" in said
    found = json.loads(dumps(fleet_json(result), ascii_only=False))
    # The third repeat is of one host alone: no sum of both.
    assert found["sums"][0]["iops"] == (9000 + 9200) / 2
    assert [(each["member"], each["values"]) for each in found["repeats"]] == [
        ("db1", [5000, 5100, 4900]),
        ("db2", [4000, 4100]),
    ]
    summaries = [
        RunSummary(run.id, run.status, *[""] * 5, run.started_at, 1.0, fleet=run.fleet)  # type: ignore[arg-type]
        for run in result.runs
    ]
    assert row_words(result.fleet, summaries) == "2 hosts, 5 of 6 runs"
    assert "repeat" not in drawn(hosts(5000, 5010)).lower()


def test_a_row_has_the_tags_that_all_its_runs_have() -> None:
    result = hosts(5000, 5010)
    summaries = [
        RunSummary(
            *(run.id, run.status, *[""] * 5, run.started_at, 1.0),  # type: ignore[arg-type]
            fleet=run.fleet,
            tags=(member.host or "", "before"),
        )
        for run, member in zip(result.runs, result.fleet.members, strict=True)
    ]
    assert fleet_row(result.fleet, summaries).tags == ("before",)


def test_a_lost_host_and_one_left_out_are_told_with_their_reason() -> None:
    result = hosts(5000, 5000, 5000)
    lost = MemberStatus(MemberState.LOST, "Connection timed out")
    out = MemberStatus(MemberState.LEFT_OUT, "fio is missing")
    fleet = replace(result.fleet, statuses=(result.fleet.statuses[0], lost, out), status=Status.INTERRUPTED)
    said = drawn(replace(result, fleet=fleet, runs=(*result.runs[:1], replace(result.runs[1], status=Status.LOST))))
    assert "lost: Connection timed out" in said
    assert "left out: fio is missing" in said
    empty = drawn(replace(result, runs=()))
    assert "No complete test." in empty


def test_disks_of_one_machine_say_what_they_share() -> None:
    said = drawn(disks((1000, 1000, 1000), (500, 500, 990), _HOST, _HOST, ("0000:01:00.0",)))
    assert "each disk alone, then all together" in said
    assert "sda and sdb share the controller 0000:00:1f.2." in " ".join(said.split())
    assert "34% less than the sum of each alone" in " ".join(said.split())


def test_what_several_tests_share_is_told_once() -> None:
    result = disks((1000, 1000, 1000), (500, 500, 990), _HOST, _HOST, ("0000:01:00.0",))
    (lost,) = lost_together(result.alone, result.together)
    said = [block.text for block in together_blocks([lost, lost]) if isinstance(block, Paragraph)]
    assert [text.startswith("2 of 2 tests: sda and sdb share the controller") for text in said] == [False, False, True]
    assert "".join(said).count("share the controller") == 1


def test_members_are_called_as_short_as_tells_them_apart() -> None:
    def called(*members: FleetMember) -> tuple[str, ...]:
        return labels(fleet_run(members))

    assert called(FleetMember("a", "/srv"), FleetMember("b", "/srv")) == ("a", "b")
    both = (FleetMember("a", "/srv"), FleetMember("a", "/var"), FleetMember("b", "/srv"))
    assert called(*both) == ("a:/srv", "a:/var", "b")
    assert called(FleetMember(None, "/dev/sda"), FleetMember(None, "/dev/sdb")) == ("sda", "sdb")
    assert called(FleetMember(None, "/srv"), FleetMember(None, "/var")) == ("/srv", "/var")
    assert called(FleetMember("a", "/srv"), FleetMember(None, "/var")) == ("a", "here")


def test_json_has_the_percentiles_of_the_added_buckets() -> None:
    result = hosts(5000, 5010, 4990, 3500)
    found = json.loads(dumps(fleet_json(result), ascii_only=False))
    added = merge(part.histogram for run in result.runs for _, part in run.tests[0].result.directions)  # type: ignore[union-attr,misc]
    assert found["sums"][0]["p99_ns"] == added.quantile(0.99)
    assert (found["kind"], found["sums"][0]["iops"], found["skew_s"]) == ("fleet", 18500, 0.012)
    assert [(odd["member"], odd["figures"][0]["others"]) for odd in found["odd"]] == [("db4", 3)]
    shared = json.loads(dumps(fleet_json(disks((1000, 1000), (500, 500), _HOST, _HOST)), ascii_only=False))
    assert [(each["shared"], each["place"]) for each in shared["alone_and_together"]] == [
        ("controller", "0000:00:1f.2")
    ]


def test_every_form_has_all_members() -> None:
    result = hosts(5000, 5010, 4990, 3500)
    rows = list(csv.DictReader(io.StringIO(write_fleet(Format.CSV, result))))
    assert [(row["fleet"], row["member"], row["stage"]) for row in rows] == [
        (FLEET_ID, f"db{at}", "together") for at in range(1, 5)
    ]
    for form in (Format.MARKDOWN, Format.HTML):
        said = write_fleet(form, result)
        assert all(f"db{at}" in said for at in range(1, 5))
