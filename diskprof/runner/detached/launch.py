"""Starting a run in a session of its own, and asking it to stop."""

import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from diskprof.devices.targets import sudo_command
from diskprof.engines.process import start_session
from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError, RunNotFound
from diskprof.model.fleet import MemberOrder
from diskprof.model.plan import Plan
from diskprof.model.run_series import SeriesPlan
from diskprof.own_program import HiddenEntry, own_program
from diskprof.runner.detached.order import RunOrder, order_json, read_answer, refused
from diskprof.store import ProcessIdentity, Store, as_owner_of, is_alive

_LOG = "runner.log"
_LOG_BYTES = 1 << 20


def start_detached(
    planned: Plan | SeriesPlan,
    store_path: Path,
    *,
    tags: Sequence[str] = (),
    note: str = "",
    concurrent: bool = False,
    member: MemberOrder | None = None,
) -> str:
    """Starts the runner in its own session, where no terminal's end reaches it; returns the id of the run or the series once it
    is in the store.

    Raises the DiskprofError that kept the runner from starting: Refused beside another run on the same disk, unless
    `concurrent`, and for all that `begun` refuses.
    """
    plans, wanted = (planned.plans, planned.wanted) if isinstance(planned, SeriesPlan) else ((planned,), None)
    order = order_json(RunOrder(plans, str(store_path), tuple(tags), note, concurrent, wanted, member))
    return start_own(HiddenEntry.RUNNER, order, store_path, "The runner did not start.")


def start_own(entry: HiddenEntry, order: bytes, store_path: Path, failed: str) -> str:
    """Starts a part of this program in a session of its own, with its order; returns the id that it answers.

    Raises the DiskprofError that it answers, or `failed` where it says nothing.
    """
    log = store_path.parent / _LOG
    with _opened(log) as errors:
        output = start_session((*own_program(), entry), order, errors)
    try:
        answer = read_answer(output)
        if answer.run:
            return answer.run
        error = refused(answer)
    except ValueError:
        raise DiskprofError(failed, f"See the log {log}.") from None
    raise error


def _opened(log: Path) -> BinaryIO:
    """The runners' last words, added to until they are too many. Raises DiskprofError."""
    try:
        with as_owner_of(log):
            full = log.exists() and log.stat().st_size > _LOG_BYTES
            return log.open("wb" if full else "ab")
    except OSError as error:
        raise DiskprofError(
            f"Nothing was started: the log {log} cannot be written: {error.strerror}.",
            "It is next to the run database: make that directory writable, or use --store.",
        ) from None


def request_stop(store: Store, run_id: str) -> None:
    """Asks the runner of a run or a series to end it, as SIGINT would. Raises RunNotFound where no runner lives.

    To stop a run of a series is to stop the series.

    It returns at once: the run is over when the store says so.
    """
    series = store.resolve_item(run_id).is_series
    stop_process(store, store.series_runner(run_id) if series else store.runner(run_id), run_id)


def stop_process(store: Store, runner: ProcessIdentity, run_id: str) -> None:
    """Asks the process that carries out what is called so to end it. Raises RunNotFound where it does not live."""
    try:
        if _signal(runner, signal.SIGINT):
            return
    except PermissionError:
        command = ("--store", str(store.path), "stop", run_id)
        raise DiskprofError(
            f"The run {run_id} belongs to another user.", f"Run as root: {sudo_command(command)}"
        ) from None
    raise RunNotFound(f"Run {run_id} is not in progress.", Advice("See `diskprof runs`.", "See the list of runs."))


def _signal(process: ProcessIdentity, number: signal.Signals) -> bool:
    """Sends the signal to that very process, not to another that has its number now. Raises PermissionError."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return False
    try:
        if not is_alive(process):
            return False
        signal.pidfd_send_signal(descriptor, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(descriptor)
    return True
