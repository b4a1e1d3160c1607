"""When the processor, and not the disk, made the result."""

from diskprof.analysis.findings.filesystem import COPIES
from diskprof.analysis.findings.rates import rate_kept
from diskprof.analysis.findings.view import TestView
from diskprof.analysis.statistics import median
from diskprof.model.device import DeviceKind
from diskprof.model.preset import EngineName
from diskprof.model.run import Finding, Weight
from diskprof.model.units import format_percent

JOB_BUSY = 95.0
"""Percent of one CPU from which a job is taken to have had no time left."""

MACHINE_BUSY = 0.95
"""Share of all CPUs from which the machine is."""

OWN_SHARE = 0.5
"""The test is what keeps the machine busy if it used more than half of the CPU time that was used."""

KERNELS_SHARE = 0.5
"""Where the kernel works for a test in threads of its own, what is used is the test's work if more than half is the kernel's."""

STEAL = 0.05
"""Share of the CPUs' time taken by the host from which latencies are no longer the disk's."""

STUB = 0.5
"""An interval shorter than this part of the usual one has too few ticks of the clock for a share that is to be told."""


def processor_bound(view: TestView) -> Finding | None:
    """A job that spends all of one CPU, or jobs that together spend all of them, ask no faster of any disk.

    Not so of a job that did all that its rate asked for, or that spins while it waits.
    """
    cpu, used = view.result.cpu, job_use(view)
    if rate_kept(view) or view.load.spins:
        return None
    if words := _kernels_work(view):
        return _bound(view, words)
    if cpu is None or used is None or used <= 0 or not view.lasted:
        return None
    share = used / cpu.percent
    of_it = f"({share * cpu.user_percent:.0f}% user, {share * cpu.system_percent:.0f}% system)"
    several = view.load.threads > 1
    if used >= JOB_BUSY:
        evidence = f"the {'jobs' if several else 'job'} used {used:.0f}% of a CPU{' each' if several else ''} {of_it}"
    elif _own_share(view) >= OWN_SHARE and (busy := _busy(view)) is not None and busy >= MACHINE_BUSY:
        evidence = f"{view.load.threads} jobs used {used:.0f}% of a CPU each {of_it}, and no CPU was idle"
    else:
        return None
    return _bound(view, evidence)


def _bound(view: TestView, evidence: str) -> Finding:
    return view.found(
        "processor-bound",
        Weight.LIMIT,
        "CPU-bound: the processor was the limit, not the disk.",
        evidence,
        "Use more numjobs or larger blocks; compare only with runs on the same CPU.",
    )


def _kernels_work(view: TestView) -> str:
    """Encryption, checksums and copies are made by threads of the kernel, and count as nobody's; empty where that was not it."""
    seen, busy = view.kernel, _busy(view)
    works = [f"{device.title} ({device.kind})" for device in view.stack if device.kind in _WORKING]
    if (mount := view.run.environment.mount) and mount.fs_type in COPIES:
        works.append(mount.fs_type)
    if not (seen and busy and works) or busy < MACHINE_BUSY or _own_share(view) >= OWN_SHARE:
        return ""
    kernels = (seen.cpu_system or 0.0) / busy
    if kernels < KERNELS_SHARE:
        return ""
    return f"no CPU was idle, {format_percent(kernels)} kernel work, e.g. for {', '.join(works)}"


_WORKING = frozenset({DeviceKind.CRYPT, DeviceKind.RAID, DeviceKind.LOOP})


def busy_machine(view: TestView) -> Finding | None:
    """Other programs that leave no CPU idle make I/Os wait for a CPU, which looks like waiting for the disk."""
    busy, own = _busy(view), _own_share(view)
    if busy is None or busy < MACHINE_BUSY or own >= OWN_SHARE or _kernels_work(view):
        return None
    most = "" if view.result.cpu else "at most "
    return view.found(
        "busy-machine",
        Weight.DOUBT,
        "CPUs saturated by other programs; latencies include CPU wait.",
        f"CPUs {format_percent(busy)} busy, {most}{format_percent(own)} of it by the test",
        "Check top; repeat when the machine is idle.",
    )


def _busy(view: TestView) -> float | None:
    """The share of all CPUs' time that was used."""
    seen = view.kernel
    if seen is None or seen.cpu_user is None or seen.cpu_system is None:
        return None
    return seen.cpu_user + seen.cpu_system


def _own_share(view: TestView) -> float:
    """The part of the CPU time used by the test's own jobs, as far as fio and the kernel agree; 0 where it is not known.

    ioping does not say, but has one thread, which may take a CPU where it does not pause.
    """
    busy, used, cpus = _busy(view), job_use(view), view.run.environment.cpus
    if view.record.engine is EngineName.IOPING and not view.load.paced:
        used = 100.0
    return min(1.0, used * view.load.threads / 100 / (busy * cpus)) if busy and used and cpus else 0.0


def job_use(view: TestView) -> float | None:
    """Percent of one CPU that a job used, where several are reported the mean of them (the result holds their sum)."""
    cpu = view.result.cpu
    return cpu.percent / max(1, cpu.reports or view.load.reported) if cpu else None


def cpu_steal(view: TestView) -> Finding | None:
    """A host that runs somebody else makes every I/O look slower than the disk was."""
    average = view.kernel.cpu_steal if view.kernel else None
    if average is None or average < STEAL:
        return None
    most = max(average, *_whole_shares(view))
    return view.found(
        "cpu-steal",
        Weight.DOUBT,
        "CPU steal: the host took CPU time from this VM during the test.",
        f"steal {format_percent(average)} on average, {format_percent(most)} at most",
        "Repeat at another time; if it persists, the host is overcommitted and latencies include CPU wait.",
    )


def _whole_shares(view: TestView) -> list[float]:
    """The steal of each interval; not of the stubs at the ends, in which one tick of the clock is a large share."""
    known = [(share, s.duration_ns) for s in view.watched if (share := s.cpu_steal) is not None]
    usual = median([duration for _, duration in known]) or 0.0
    return [share for share, duration in known if duration >= STUB * usual]
