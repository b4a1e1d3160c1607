"""What fio says of the deepest queue that keeps a latency (`latency_target`): the answer such a test is run for."""

from diskprof.engines.figures import Section, count, figure
from diskprof.model.text import clean
from diskprof.model.units import format_latency


def depths_told(document: Section, *, ended_early: bool) -> str:
    """A sentence for each job of a final document that searched; empty where none did.

    `ended_early`: fio ends before its time when it has found the depth, and only then (F61).
    """
    jobs = document.get("jobs")
    entries = [job for job in jobs if isinstance(job, dict)] if isinstance(jobs, list) else []
    searched = [job for job in entries if count(job, "latency_target")]
    several = len({str(job.get("jobname")) for job in searched}) > 1
    said = [
        f"{clean(str(job.get('jobname')))}: {_told(job, ended_early)}" if several else _told(job, ended_early)
        for job in searched
    ]
    return " ".join(dict.fromkeys(said))


def _told(job: Section, ended_early: bool) -> str:
    share = figure(job, "latency_percentile") or 100
    asked = f"{share:g}% of the I/Os within {format_latency(count(job, 'latency_target'))}"
    if ended_early:
        return f"{count(job, 'latency_depth')} at once is the deepest queue that keeps {asked}."
    return f"Until its time was over fio found no queue depth that keeps {asked}."
