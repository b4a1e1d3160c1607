"""The coordinator in a session of its own, where no terminal's end reaches it: how it is started, and what it does there."""

import sys
from pathlib import Path

from diskprof.fleet.coordinator import Coordinator
from diskprof.fleet.order import FleetOrder, order_json, read_order
from diskprof.own_program import HiddenEntry
from diskprof.runner.carry.execute import StopRequest
from diskprof.runner.detached.child import answer_launcher, in_grandchild
from diskprof.runner.detached.launch import start_own, stop_process
from diskprof.runner.detached.order import RunAnswer
from diskprof.store import Store

_PATIENCE_S = 60.0
"""A locked store is waited for as long as by a runner."""


def start_coordinator(order: FleetOrder) -> str:
    """Starts the coordinator; returns the id of the fleet run once its members have begun.

    Raises the DiskprofError that kept it from starting: then nothing runs.
    """
    return start_own(HiddenEntry.COORDINATOR, order_json(order), Path(order.store), "The coordinator did not start.")


def stop_fleet(store: Store, fleet_id: str) -> None:
    """Asks the coordinator to end all runs, and does not wait for it. Raises RunNotFound where none lives."""
    stop_process(store, store.coordinator(fleet_id), fleet_id)


async def _carry_out(order: FleetOrder) -> None:
    stop = StopRequest()
    stop.on_signals()

    def tell(fleet_id: str) -> None:
        try:
            answer_launcher(RunAnswer(fleet_id))
        except BrokenPipeError:
            # Ctrl+C: whoever wanted it takes it for not started.
            stop.ask("Stopped by user before the start was over.")

    with Store.open(Path(order.store), timeout_s=_PATIENCE_S) as store:
        await Coordinator(order, store, stop, tell).carry_out()


def main() -> int:
    """Reads the order from stdin and carries it out; the exit code is that of `in_grandchild`."""
    order = read_order(sys.stdin.buffer.read())
    return in_grandchild(lambda: _carry_out(order))
