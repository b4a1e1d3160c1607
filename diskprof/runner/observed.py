"""The load of a disk that a stored run watched, and the preset that does the same."""

from msgspec import Struct

from diskprof.analysis.observed_load import load_of_counters, load_of_requests
from diskprof.model.errors import UsageError
from diskprof.model.run import Run
from diskprof.model.seen_load import SeenLoad
from diskprof.model.units import format_duration
from diskprof.presets.mimic import Mimicked, mimic
from diskprof.store import Store


class ObservedRun(Struct, frozen=True):
    """What a run saw of `device`; `title` says what it watched."""

    device: str
    title: str
    load: SeenLoad

    def preset(self, name: str) -> Mimicked:
        """The preset of that load, called `name`. Raises UsageError where there was none."""
        return mimic(self.load, name, f"Load of {self.device}", f"diskprof mimic: {self.title}")


def observed(store: Store, run: Run) -> ObservedRun:
    """Of a watched run. Raises UsageError of another."""
    if not run.plan.watched:
        raise UsageError(
            f"Run {run.id} did not watch a disk: it ran {run.plan.preset}.", "diskprof watch DISK --record"
        )
    intervals = store.system_samples(run.id).samples
    requests = next((test.result.requests for test in run.tests if test.result and test.result.requests), None)
    load = load_of_requests(requests, intervals) if requests else load_of_counters(intervals)
    device = run.plan.target.device or "disk"
    return ObservedRun(device, f"{device}, watched for {format_duration(load.seconds)} (run {run.id})", load)
