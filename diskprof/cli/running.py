"""Which run a command means that works on one under way."""

from diskprof.model.errors import RunNotFound
from diskprof.model.run import Status
from diskprof.store import Store


def running_run(store: Store, name: str | None) -> str:
    """The id of the run called `name`, or of the only one under way. Raises RunNotFound."""
    if name is not None:
        return store.resolve(name)
    running = [summary.id for summary in store.summaries() if summary.status is Status.RUNNING]
    if len(running) == 1:
        return running[0]
    if running:
        raise RunNotFound(f"{len(running)} runs are under way: {', '.join(running)}.", "Say which one.")
    raise RunNotFound("No run is under way.", "`diskprof runs` lists those that were kept.")
