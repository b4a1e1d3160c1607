"""Signals that end a run."""

import asyncio
import signal

from diskprof.runner.carry.execute import StopRequest

_REASONS = {
    signal.SIGINT: "Stopped by the person (SIGINT).",
    signal.SIGTERM: "Stopped by SIGTERM.",
    signal.SIGHUP: "Stopped because the terminal went away (SIGHUP).",
}


def stop_on_signals(stop: StopRequest) -> None:
    """Makes SIGINT, SIGTERM and SIGHUP ask the run under way to end, in the running event loop."""
    loop = asyncio.get_running_loop()
    for number, reason in _REASONS.items():
        loop.add_signal_handler(number, stop.ask, reason)
