"""`diskprof gate PRESET TARGET`: a run that is held against the runs like it, and confirmed before it cries."""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from diskprof.cli import completion_candidates
from diskprof.cli.across import across_option
from diskprof.cli.carrying import named, run_here, tell_of_leftovers
from diskprof.cli.common import echo_json, exit_code_of, not_empty, open_store, width_of_stdout
from diskprof.cli.encoding import echo_data
from diskprof.cli.planning import Request, plan_in_turn
from diskprof.cli.preset_options import quick_option, settings_option, variant_option
from diskprof.cli.run_options import (
    allow_write_option,
    note_option,
    overwrite_option,
    tag_option,
    wait_option,
)
from diskprof.cli.saying import say
from diskprof.model.errors import DiskprofError, ExitCode, UsageError
from diskprof.model.fingerprint import Aspect
from diskprof.model.text import clean
from diskprof.runner.session import Company, Session

if TYPE_CHECKING:
    from diskprof.analysis.gate import GateResult
    from diskprof.model.plan import Plan
    from diskprof.runner.gate import Against, Baseline, Gated
    from diskprof.store import Store

_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,4})?)%")


@click.command("gate", short_help="Run a preset and fail if it got worse than the like runs before.")
@click.argument("preset", shell_complete=completion_candidates.presets_and_files)
@click.argument("target", required=False, shell_complete=completion_candidates.targets)
@click.option(
    "--against",
    required=True,
    metavar="TAG|history",
    callback=not_empty,
    help="Like runs to hold the result against: those with this tag, or `history` for the newest of all.",
    shell_complete=completion_candidates.tags,
)
@click.option("--by", default="5%", metavar="PERCENT", help="How much worse is a regression.  [default: 5%]")
@click.option(
    "--confirm",
    default=9,
    type=click.IntRange(3, 50),
    metavar="N",
    help="At most so many more runs to confirm a regression (3 to 50).  [default: 9]",
)
@across_option
@settings_option
@variant_option
@quick_option
@click.option(
    "--target", "targets", multiple=True, metavar="SLOT=PATH", help="Target by name, for presets with several targets."
)
@tag_option
@note_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    help="Output format.  [default: text]",
)
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--nagios", is_flag=True, help="Print one line and exit 0 to 3 like a Nagios plugin.")
@wait_option
@allow_write_option
@click.option(
    "--confirm-device",
    "devices",
    multiple=True,
    metavar="NAME",
    help="Name or serial number of the device to overwrite; needed for raw writes.",
)
@overwrite_option
@click.pass_context
def gate_command(
    ctx: click.Context,
    preset: str,
    target: str | None,
    against: str,
    by: str,
    confirm: int,
    across: tuple[Aspect, ...],
    settings: tuple[str, ...],
    variant: str,
    targets: tuple[str, ...],
    tags: tuple[str, ...],
    note: str,
    form: str,
    as_json: bool,
    nagios: bool,
    wait: bool,
    allow_write: bool,
    devices: tuple[str, ...],
    overwrite: tuple[str, ...],
) -> None:
    """Run PRESET on TARGET and compare the result with the like runs before: same tests, options, disk, file system, kernel.

    Nothing is asked, and nothing starts without at least 5 like runs. If the first run is worse, more follow to confirm it.
    The new runs are saved and belong to the history from then on.

    Exit codes: 0 kept, 6 regressed, 7 not comparable, too little history, or too noisy to tell.

    \b
    Examples:
      diskprof gate quick /mnt/data --against history
      diskprof gate quick /mnt/data --against before-upgrade --across kernel --by 10%
    """
    from diskprof.runner.gate import HISTORY, Against

    if nagios and (as_json or form != "text"):
        raise click.UsageError("--nagios excludes --json and --format.", ctx)
    if as_json and form == "junit":
        raise click.UsageError("--json and --format junit exclude each other.", ctx)
    request = Request(preset, target, settings, targets, (), variant, allow_write, overwrite, devices)
    wanted = Against("" if against == HISTORY else against, across)
    company = Company.WAIT if wait else Company.REFUSE
    runs = _Runs(Session(ctx.find_root().obj), request, company, tags, note, _share(by), confirm + 1)
    with open_store(ctx) as store:
        try:
            base, gated = runs.carry_out(store, wanted)
        except DiskprofError as error:
            if nagios:
                ctx.exit(_unknown(str(error)))
            raise
        ctx.exit(_tell(store, base, gated, "nagios" if nagios else "json" if as_json else form))


def _share(text: str) -> float:
    """Raises UsageError for what is no percentage above 0 and below 100."""
    found = _PERCENT.fullmatch(text.strip())
    share = float(found[1]) / 100 if found else 0.0
    if not 0 < share < 1:
        raise UsageError(f"--by {clean(text[:40])}: not a percentage between 0% and 100%.", "For example: --by 10%")
    return share


class _Runs(Struct, frozen=True, dict=True):
    """What a gate makes: runs of a request, at most `most`, each with a plan of its own."""

    session: Session
    request: Request
    company: Company
    tags: tuple[str, ...]
    note: str
    allowed: float
    most: int

    def carry_out(self, store: "Store", against: "Against") -> "tuple[Baseline, Gated]":
        """Raises what refuses a plan, and NotComparable."""
        from diskprof.runner.gate import baseline, run_gate

        first = self._plan()
        base = baseline(self.session, store, first, against)
        tell_of_leftovers(first, store)
        plans = iter((first,))
        return base, run_gate(
            store,
            base,
            self._once(store, lambda: next(plans, None)),
            allowed=self.allowed,
            most=self.most,
            tell=self._ask,
        )

    def _plan(self) -> "Plan":
        return named(plan_in_turn(self.session, self.company, self.request), self.request.confirm, asking=False)

    def _once(self, store: "Store", first: "Callable[[], Plan | None]") -> Callable[[], str]:
        def once() -> str:
            return run_here(self.session, first() or self._plan(), store, self.tags, self.note, self.company)

        return once

    def _ask(self, result: "GateResult") -> None:
        """Says what is in question, and that another run follows."""
        from diskprof.analysis.gate import GateOutcome

        open_ones = [figure for figure in result.figures if figure.outcome is GateOutcome.UNCLEAR]
        worst = max(open_ones, key=lambda figure: figure.held.worse)
        done = len(result.after)
        worse = f"{100 * worst.held.worse:.1f}% worse than before" if worst.held.median_now else "nothing kept it"
        say(f"After {done}: {worst.title}: {worse}. Run {done + 1} (of at most {self.most}) to confirm.")


def _tell(store: "Store", base: "Baseline", gated: "Gated", form: str) -> int:
    """Prints the result and returns the exit code."""
    run, result = gated.run, gated.result
    if result is None:
        reason = f"Run {run.id} is {run.status}: {run.reason}"
        if form == "nagios":
            return _unknown(reason)
        say(f"diskprof: {reason}")
        return int(exit_code_of(run))
    from diskprof.analysis.gate import GateOutcome
    from diskprof.reports.data.gate_formats import gate_json, gate_junit, gate_line

    match form:
        case "nagios":
            status, line = gate_line(result, run)
            click.echo(line)
            return int(status)
        case "json":
            echo_json(gate_json(result, run))
        case "junit":
            echo_data(gate_junit(result, run))
        case _:
            from diskprof.reports.content.history.gate_report import gate_report
            from diskprof.reports.render.lines import text

            blocks = gate_report(result, run, store.run(base.runs[-1]))
            click.echo(text(blocks, width_of_stdout()), nl=False)
    codes = {GateOutcome.REGRESSED: ExitCode.REGRESSED, GateOutcome.UNCLEAR: ExitCode.NOT_COMPARABLE}
    return int(codes.get(result.outcome, ExitCode.OK))


def _unknown(said: str) -> int:
    from diskprof.reports.data.nagios import PluginStatus, unknown_line

    click.echo(unknown_line(said))
    return int(PluginStatus.UNKNOWN)
