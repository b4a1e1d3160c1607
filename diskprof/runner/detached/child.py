"""The detached runner: reads an order on stdin, answers with one line of JSON, and carries the run out."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path

from diskprof.model.errors import DiskprofError
from diskprof.model.run_series import SeriesPlan
from diskprof.runner.carry.begin import begun
from diskprof.runner.carry.execute import StopRequest, execute
from diskprof.runner.carry.repeat import Repeater
from diskprof.runner.detached.order import RunAnswer, RunOrder, answer_json, read_order, refusal
from diskprof.store import Store


def answer_launcher(answer: RunAnswer) -> None:
    """Answers whoever started this process, and closes stdout: nobody reads it any more."""
    os.write(1, answer_json(answer))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


async def _carry_out(order: RunOrder) -> None:
    stop = StopRequest()
    stop.on_signals()
    with Store.open(Path(order.store)) as store:
        series = SeriesPlan(order.plans, order.wanted) if order.wanted else None
        with ExitStack() as holds:
            run = holds.enter_context(
                begun(
                    *(order.plans[0], store),
                    tags=order.tags,
                    note=order.note,
                    concurrent=order.concurrent,
                    series=series.new if series else None,
                    member=order.member,
                )
            )
            place = store.run(run.run_id).series
            answer_launcher(RunAnswer(place.series_id if place else run.run_id))
            if series:
                await Repeater(series, store, stop, concurrent=order.concurrent).carry_out(run, holds.close)
            else:
                await execute(run, stop)


def in_grandchild(carry_out: Callable[[], Coroutine[object, object, None]]) -> int:
    """Carries out in a grandchild; the exit code is 0, or that of the error, which the launcher is answered with."""
    # The launcher waits for its child only: the runner proper is a grandchild, which nobody has to reap.
    if os.fork():
        os._exit(0)
    try:
        asyncio.run(carry_out())
    except DiskprofError as error:
        # Once the launcher has its answer nobody reads another: this goes to the log.
        sys.stderr.write(f"{datetime.now().astimezone():%Y-%m-%d %H:%M:%S} {error}\n")
        answer_launcher(refusal(error))
        return int(error.exit_code)
    return 0


def main() -> int:
    """Reads the order from stdin and executes it; the exit code is that of `in_grandchild`."""
    order = read_order(sys.stdin.buffer.read())
    return in_grandchild(lambda: _carry_out(order))
