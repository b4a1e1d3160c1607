"""Starting a plan, or a series of them, as the options of a command say: confirm, carry out, tell."""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NoReturn

import click
from msgspec import Struct
from msgspec.structs import replace

from diskprof.cli.carrying import named, run_here, tell_of_leftovers
from diskprof.cli.common import (
    echo_json,
    exit_code_of,
    exit_code_of_series,
    open_store,
    print_result,
    print_series,
    width_of_stdout,
)
from diskprof.cli.planning import tell_of_waiting
from diskprof.cli.saying import say
from diskprof.model.errors import ExitCode
from diskprof.model.plan import Plan
from diskprof.model.run import RunSummary, Status
from diskprof.model.run_series import Repetition, SeriesPlan
from diskprof.reports.formats import FollowFormat
from diskprof.runner.session import Company, Session
from diskprof.store import Store

_LOOKED_BACK = 100
"""Among so many of the newest runs one is looked for that the newest can be compared with."""


class Start(Struct, frozen=True):
    """How to start a plan, by the options of these names."""

    tags: tuple[str, ...]
    note: str
    dry_run: bool
    as_json: bool
    follow: FollowFormat | None
    detach: bool
    yes: bool
    confirm: Sequence[str]
    company: Company


def company_of(ctx: click.Context, wait: bool, concurrent: bool) -> Company:
    if wait and concurrent:
        raise click.UsageError("--wait and --concurrent exclude each other: choose one.", ctx)
    return Company.WAIT if wait else Company.BESIDE if concurrent else Company.REFUSE


def carry_out(
    ctx: click.Context,
    session: Session,
    make: Callable[[], Plan],
    start: Start,
    tell: Callable[[Store, str], None] | None = None,
) -> None:
    """Carries out the plan that `make` gives, once it was confirmed and its turn has come; `tell` prints the result as text."""
    if start.dry_run:
        plan = make()
        _print_plan(plan, start.as_json)
        ctx.exit(ExitCode.REFUSED if plan.blocked else ExitCode.OK)
    plan = session.plan_in_turn(make, start.company, tell_of_waiting)
    asking = sys.stdin.isatty() and sys.stderr.isatty()
    if asking and (plan.raw_devices or not start.yes):
        _show(plan)
    plan = named(plan, start.confirm, asking=asking)
    if asking and not start.yes and not plan.raw_devices:
        click.confirm("Start?", default=True, abort=True, err=True)
    with open_store(ctx) as store:
        tell_of_leftovers(plan, store)
        if start.detach:
            _detach(session, plan, store, start.tags, start.note, start.as_json, start.company)
            return
        run_id = run_here(session, plan, store, start.tags, start.note, start.company, start.follow)
        if start.follow is None and tell and not start.as_json:
            tell(store, run_id)
        elif start.follow is None:
            print_result(store, run_id, start.as_json)
        if sys.stderr.isatty() and not start.as_json:
            say(_next_steps(store.summaries(limit=_LOOKED_BACK)))
        ctx.exit(exit_code_of(store.run(run_id)))


def carry_out_series(
    ctx: click.Context, session: Session, makes: Sequence[Callable[[], Plan]], wanted: Repetition, start: Start
) -> NoReturn:
    """As `carry_out`, of the series of the plans that `makes` give, one for each target."""
    from diskprof.cli.repeating import planned_series, print_series_plan, run_series_here, tell_series
    from diskprof.runner.plan.repeats import plan_series

    if start.dry_run:
        ctx.exit(print_series_plan(plan_series([make() for make in makes], wanted), start.as_json))
    series = planned_series(session, makes, wanted, start.company)
    raw = any(plan.raw_devices for plan in series.plans)
    asking = sys.stdin.isatty() and sys.stderr.isatty()
    if asking and (raw or not start.yes):
        for plan in series.plans:
            _show(plan)
        tell_series(series)
    series = replace(series, plans=tuple(named(plan, start.confirm, asking=asking) for plan in series.plans))
    if asking and not start.yes and not raw:
        click.confirm("Start?", default=True, abort=True, err=True)
    with open_store(ctx) as store:
        for plan in series.plans:
            tell_of_leftovers(plan, store)
        if start.detach:
            _detach(session, series, store, start.tags, start.note, start.as_json, start.company)
            ctx.exit(ExitCode.OK)
        series_id = run_series_here(session, series, store, start.tags, start.note, start.company, start.follow)
        if start.follow is None:
            print_series(store, series_id, start.as_json)
        if sys.stderr.isatty() and not start.as_json:
            say(_next_steps_of_series(series_id, several=len(series.plans) > 1))
        ctx.exit(exit_code_of_series(store, series_id))


def _next_steps(runs: Sequence[RunSummary]) -> str:
    """A line on what to do with the newest of `runs`."""
    newest, *others = runs
    alike = (run for run in others if run.status is Status.COMPLETE and run.preset == newest.preset)
    before = next(alike, None)
    compare = f"compare {before.id} latest" if before else "rerun latest"
    return f"Next: diskprof {compare} | show latest --plot | report latest -o report.md"


def _next_steps_of_series(series_id: str, *, several: bool) -> str:
    compare = f"compare {series_id} | " if several else ""
    return f"Next: diskprof {compare}show {series_id} | report {series_id} -o report.md"


def _print_plan(plan: Plan, as_json: bool) -> None:
    if as_json:
        from diskprof.reports.data.json_runs import plan_json

        echo_json(plan_json(plan))
    else:
        from diskprof.reports.render.text import plan_text

        click.echo(plan_text(plan, width_of_stdout()), nl=False)


def _show(plan: Plan) -> None:
    from diskprof.reports.content.plan_report import hazard_notes, plan_sentence

    say(f"{plan.preset_title}. {plan_sentence(plan)}{_end(plan)}")
    for note in hazard_notes(plan):
        say(f"{note.word}: {note.text} {note.advice}".rstrip())


def _end(planned: Plan | SeriesPlan) -> str:
    """A sentence on when a long plan ends."""
    from diskprof.reports.content.plan_report import end_words
    from diskprof.reports.content.series_plan import end_of_series

    now = datetime.now()
    words = end_of_series(planned, now) if isinstance(planned, SeriesPlan) else end_words(planned, now)
    return f" It {words}." if words else ""


def _detach(
    session: Session,
    planned: Plan | SeriesPlan,
    store: Store,
    tags: tuple[str, ...],
    note: str,
    as_json: bool,
    company: Company,
) -> None:
    if company is Company.WAIT:
        for plan in planned.plans if isinstance(planned, SeriesPlan) else (planned,):
            session.wait_for_others(plan, store, tell_of_waiting)
    beside = company is Company.BESIDE
    run_id = session.start_detached(planned, store.path, tags=tags, note=note, concurrent=beside)
    if as_json:
        echo_json({"id": run_id})
    else:
        click.echo(run_id)
        say(f"Running in the background.{_end(planned)} Watch it: diskprof attach {run_id}")
