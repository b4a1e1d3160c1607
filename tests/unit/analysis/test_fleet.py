"""A fleet run as a whole: which member stands out, what all come to together, what is told once."""

from random import Random

from handmade import DISK, direction, fio, latency, on_disk, run
from like_runs import recorded_noise
from msgspec.structs import replace

from diskprof.analysis.fleet.measured import Measured, peers
from diskprof.analysis.fleet.odd_ones import OddOne, odd_ones
from diskprof.analysis.fleet.shared_findings import shared_findings
from diskprof.analysis.fleet.sums import sums
from diskprof.analysis.metrics import Measure
from diskprof.model.histogram import Histogram
from diskprof.model.run import Environment, Finding, Weight
from diskprof.model.sample import Direction

_FLEETS = 20


def host(label: str, *iops: float, environment: Environment | None = None, p99_ns: float = 500_000) -> Measured:
    """A host with a test for each of these IOPS."""
    tests = [
        fio(f"rand-{at}", title=f"4K rand read {at}", read=direction(each, figures=latency(2e5, p99=p99_ns)))
        for at, each in enumerate(iops)
    ]
    return Measured(label, (run(*tests, environment=environment or on_disk()),))


def fleet(random: Random, *levels: float) -> list[Measured]:
    """Hosts at these IOPS, each with the noise of real runs on throttled volumes."""
    noise = recorded_noise()["throttled"]
    usual = sorted(noise)[len(noise) // 2]
    return [host(f"db{at}", level * random.choice(noise) / usual) for at, level in enumerate(levels, start=1)]


def named(members: list[Measured]) -> list[OddOne]:
    return [odd for alike in peers(members) for odd in odd_ones(alike)]


def test_the_odd_host_is_named_in_20_of_20_fleets_and_none_in_20_equal_ones() -> None:
    random = Random(19)
    found = [named(fleet(random, 5000, 5000, 5000, 3500)) for _ in range(_FLEETS)]
    assert [[odd.label for odd in odds] for odds in found] == [["db4"]] * _FLEETS
    assert all(-0.33 < odds[0].figures[0].apart < -0.27 and odds[0].figures[0].worse for odds in found)
    for count in (4, 12):
        equal = [named(fleet(random, *[5000] * count)) for _ in range(_FLEETS)]
        assert equal == [[]] * _FLEETS, count


def test_what_differs_by_itself_names_nobody() -> None:
    """Runs that differ by a factor of ten from one to the next, as recorded on a busy machine."""
    random, noise = Random(19), recorded_noise()["busy"]
    for count in (4, 12):
        equal = [named([host(f"db{at}", *random.sample(noise, 3)) for at in range(count)]) for _ in range(_FLEETS)]
        assert equal == [[]] * _FLEETS, count


def test_the_others_are_the_measure_not_a_mean_with_the_odd_one_in_it() -> None:
    odd = named([host(f"db{at}", 1000.0) for at in range(11)] + [host("db11", 690.0)])
    assert [(one.label, one.figures[0].others, round(one.figures[0].apart, 3)) for one in odd] == [("db11", 11, -0.31)]


def test_unlike_disks_are_not_held_against_each_other() -> None:
    members = [host(f"a{at}", 5000.0) for at in range(4)]
    members += [host(f"b{at}", 300.0, environment=on_disk(model="Slow 500")) for at in range(4)]
    members += [host("c", 90.0, environment=replace(on_disk(), kernel="5.10.0"))]
    assert [len(alike.members) for alike in peers(members)] == [4, 4, 1]
    assert peers(members)[0].disks == f"{DISK.model}, 932 GiB, nvme"
    assert named(members) == []


def test_three_are_too_few_to_name_one() -> None:
    assert named([host("a", 5000.0), host("b", 5000.0), host("c", 500.0)]) == []


def test_a_slow_tail_stands_out_where_the_rate_does_not() -> None:
    members = [host(f"db{at}", 1000.0) for at in range(5)] + [host("db5", 1000.0, p99_ns=5e6)]
    [odd] = named(members)
    assert [(each.name.measure, each.worse) for each in odd.figures] == [(Measure.LATENCY_P99, True)]


def test_percentiles_of_all_are_those_of_the_added_buckets() -> None:
    random = Random(1)
    spreads = [Histogram.of_latencies(random.randrange(50_000, 4_000_000) for _ in range(500)) for _ in range(4)]
    members = [
        Measured(f"db{at}", (run(fio("rand", read=direction(1000.0 * (at + 1), histogram=each))),))
        for at, each in enumerate(spreads)
    ]
    [total] = sums(members)
    added = spreads[0] + spreads[1] + spreads[2] + spreads[3]
    assert (total.direction, total.members, total.iops) == (Direction.READ, 4, 10_000)
    assert [total.quantile(q) for q in (0.5, 0.99, 0.999)] == [added.quantile(q) for q in (0.5, 0.99, 0.999)]
    unknown = [*members, host("db5", 100.0)]
    alone = next(each for each in sums(unknown) if each.test == "rand-0")
    assert alone.quantile(0.99) is None


def test_a_finding_that_hosts_share_is_told_once() -> None:
    doubt = Finding("other-io", Weight.DOUBT, "Other I/O on the disk.", "12% of the reads", "Repeat.", test="rand-0")
    note = Finding("buffered", Weight.NOTE, "Buffered I/O.", "direct=0", "")
    members = [host(f"db{at}", 1000.0) for at in range(3)]
    members[0] = Measured("db0", (replace(members[0].runs[0], findings=(note, doubt)),))
    members[2] = Measured("db2", (replace(members[2].runs[0], findings=(doubt,)),))
    told = shared_findings(members)
    assert [(one.finding.name, one.labels, one.of) for one in told] == [
        ("other-io", ("db0", "db2"), 3),
        ("buffered", ("db0",), 3),
    ]
    assert told[0].tests == ("4K rand read 0",)
