"""Time in which the machine slept, or runner and engine stood still together, while a test measured."""

from diskprof.analysis.findings.view import TestView
from diskprof.model.run import Finding, Lapse, LapseKind, Weight
from diskprof.model.units import format_duration, format_iops, format_percent


def slept(view: TestView) -> Finding | None:
    """A suspended machine: the drive lost its power or woke from deep sleep, what was in flight waited."""
    mine = [lapse for lapse in view.lapses if lapse.kind is LapseKind.SLEPT]
    if not mine:
        return None
    return view.found(
        "slept",
        Weight.DOUBT,
        "The machine was suspended during the test.",
        f"{_times(mine)} {_first(view, mine)}; some latencies may include it, and caches started cold",
        "Run it again without suspend: systemd-inhibit --what=sleep diskprof run ...",
    )


def stood_still(view: TestView) -> Finding | None:
    """A stopped process or a frozen control group: fio's own clock went on, so its averages hold the pause."""
    if not view.stood:
        return None
    mine = [lapse for lapse, _ in view.stood]
    lost = sum(lapse.seconds for lapse in mine)
    share = min(1.0, lost / view.seconds) if view.seconds else 1.0
    working = max(0.0, view.seconds - lost)
    without = f", {format_iops(view.ios / working)} IOPS without it" if working > 0 else ""
    return view.found(
        "stood-still",
        Weight.DOUBT,
        "The test was stopped or frozen for a while; the disk was idle.",
        f"{_times(mine)} {_first(view, mine)}, {format_percent(share)} of the test{without}",
        "Run it again: mean and max include the pause, lower percentiles hardly.",
    )


def _times(lapses: list[Lapse]) -> str:
    total = format_duration(sum(lapse.seconds for lapse in lapses))
    return f"for {total}," if len(lapses) == 1 else f"{len(lapses)} times, {total} in total, the first"


def _first(view: TestView, lapses: list[Lapse]) -> str:
    first = lapses[0]
    ended_s = view.into_test(first.at_ns)
    began_s = ended_s if first.kind is LapseKind.SLEPT else max(0.0, ended_s - first.seconds)
    return f"{format_duration(began_s)} into the test"
