"""The load of a disk that a stored run watched."""

from diskprof.analysis.observed_load import load_of_counters, load_of_requests
from diskprof.model.errors import UsageError
from diskprof.model.run import Run
from diskprof.model.seen_load import SeenLoad
from diskprof.store import Store


def load_of_run(store: Store, run: Run) -> SeenLoad:
    """Of a watched run. Raises UsageError of another."""
    if not run.plan.watched:
        raise UsageError(
            f"Run {run.id} did not watch a disk: it ran {run.plan.preset}.", "diskprof watch DISK --record"
        )
    intervals = store.system_samples(run.id).samples
    requests = next((test.result.requests for test in run.tests if test.result and test.result.requests), None)
    return load_of_requests(requests, intervals) if requests else load_of_counters(intervals)
