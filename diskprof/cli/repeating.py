"""`diskprof run --repeat` and `--until`: a series from its plans to its result."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import datetime
from typing import TYPE_CHECKING

import click

from diskprof.cli.common import echo_json, width_of_stdout
from diskprof.cli.following import following
from diskprof.cli.planning import tell_of_waiting
from diskprof.cli.saying import say
from diskprof.model.errors import ExitCode
from diskprof.model.plan import Plan
from diskprof.model.run_series import Repetition, SeriesPlan
from diskprof.reports.formats import FollowFormat
from diskprof.runner.session import Company, Session
from diskprof.store import Item, ItemKind, Store

if TYPE_CHECKING:
    from diskprof.runner.carry.begin import Begun


def planned_series(
    session: Session, makes: Sequence[Callable[[], Plan]], wanted: Repetition, company: Company
) -> SeriesPlan:
    """The series of the plans that `makes` give, each in its turn. Raises what refuses one of them."""
    from diskprof.runner.plan.repeats import plan_series

    return plan_series([session.plan_in_turn(make, company, tell_of_waiting) for make in makes], wanted)


def print_series_plan(series: SeriesPlan, as_json: bool) -> ExitCode:
    """What a series would do, then the plan of each target; returns how the command ends."""
    if as_json:
        from diskprof.reports.data.json_series import series_plan_json

        echo_json(series_plan_json(series))
    else:
        from diskprof.reports.content.plan_report import plan_report
        from diskprof.reports.content.series_plan import series_plan_report
        from diskprof.reports.render.lines import text

        blocks = [*series_plan_report(series), *(block for plan in series.plans for block in plan_report(plan))]
        click.echo(text(blocks, width_of_stdout()), nl=False)
    return ExitCode.REFUSED if any(plan.blocked for plan in series.plans) else ExitCode.OK


def tell_series(series: SeriesPlan) -> None:
    """What will be done, on stderr."""
    from diskprof.reports.content.series_plan import end_of_series, series_sentence

    words = end_of_series(series, datetime.now())
    say(f"{series_sentence(series)}{f' It {words}.' if words else ''}")


def run_series_here(
    session: Session,
    series: SeriesPlan,
    store: Store,
    tags: Sequence[str],
    note: str,
    company: Company,
    follow: FollowFormat | None,
) -> str:
    """Carries the series out in this process, with progress on stderr; returns its id."""
    begun = session.begun(series.plans[0], store, company, tell_of_waiting, tags=tags, note=note, series=series.new)
    with ExitStack() as holds:
        first = holds.enter_context(begun)
        place = store.run(first.run_id).series
        assert place is not None
        with following(store.path, Item(place.series_id, ItemKind.SERIES), follow):
            return asyncio.run(_carry_out(series, first, holds.close, concurrent=company is Company.BESIDE))


async def _carry_out(series: SeriesPlan, first: "Begun", release: Callable[[], None], *, concurrent: bool) -> str:
    from diskprof.cli.watching import watch
    from diskprof.runner.carry.execute import StopRequest
    from diskprof.runner.carry.repeat import Repeater

    async def beside(run: "Begun") -> None:
        await watch(run.store.path, run.run_id)

    stop = StopRequest()
    stop.on_signals()
    return await Repeater(series, first.store, stop, concurrent=concurrent).carry_out(first, release, beside)
