"""`--follow`: the intervals of a run or a series on stdout while it is in progress."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError
from diskprof.reports.formats import FollowFormat, interval_lines
from diskprof.store import Item, Store

# The runner writes every second; more often there is nothing new.
_PERIOD_S = 1.0
_STDOUT = 1


@contextmanager
def following(path: Path, item: Item, wanted: FollowFormat | None, *, from_now: bool = False) -> Iterator[None]:
    """Inside, the intervals of a run or a series in the store at `path` are printed, or those `from_now` on; none without a format.

    By a thread of its own: a reader who is slow must not hold up the runner. Raises DiskprofError at the end where the store could
    not be read, or stdout not be written, other than by a reader that went away.
    """
    if wanted is None:
        yield
        return
    over, errors = Event(), list[DiskprofError]()
    thread = Thread(target=_follow, args=(path, item, wanted, from_now, over, errors), name="follow", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
    thread.join()
    if errors:
        raise errors[0]


def _follow(
    path: Path, item: Item, wanted: FollowFormat, from_now: bool, over: Event, errors: list[DiskprofError]
) -> None:
    try:
        with Store.open(path) as store:
            for text in _texts(store, item, wanted, from_now, over):
                _print(text)
    except DiskprofError as error:
        errors.append(error)
    except BrokenPipeError:
        # A reader that went away, as `head` does, ends no measurement.
        say("Nobody reads stdout any more. The run continues.")
    except OSError as error:
        why = f"Not all intervals were printed: {error.strerror}."
        errors.append(DiskprofError(why, f"`diskprof report {item.id} --format samples` has them."))


def _texts(store: Store, item: Item, wanted: FollowFormat, from_now: bool, over: Event) -> Iterator[str]:
    """What there is to print, once a second until `over`, and then the rest."""
    from diskprof.cli.watching import newest

    ids = _runs(store, item)
    at = len(ids) - 1 if from_now else 0
    run = store.run(ids[at])
    cursor, last = newest(store, run) if from_now else 0, False
    while not last:
        last = over.wait(_PERIOD_S)
        # A run of a series is over when the next has begun.
        for place, run_id in list(enumerate(_runs(store, item)))[at:]:
            if place > at:
                at, cursor, run = place, 0, store.run(run_id)
            batch = store.samples(run_id, after=cursor, histograms=False)
            cursor = batch.last
            if batch.samples:
                yield "".join(interval_lines(wanted, run, batch.samples))


def _runs(store: Store, item: Item) -> list[str]:
    return [run.id for run in store.series_runs(item.id)] if item.is_series else [item.id]


def _print(text: str) -> None:
    """Without the buffers of Python, which a thread that still writes at the end of the process would keep locked."""
    data = text.encode("utf-8", errors="replace")
    while data:
        data = data[os.write(_STDOUT, data) :]
