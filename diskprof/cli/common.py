"""What the commands share: the store, what they print and how they end, files to write to, values that may not be empty."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from diskprof.cli.encoding import stdout_is_utf8
from diskprof.model.errors import DiskprofError, ExitCode, Refused, UsageError
from diskprof.model.text import clean

if TYPE_CHECKING:
    from diskprof.model.run import Run
    from diskprof.store import Store


def open_store(ctx: click.Context) -> "Store":
    """The store that `--store` or the environment names, with the runs of dead runners marked as interrupted."""
    from diskprof.store import Store

    path: Path | None = ctx.find_root().obj
    store = Store.open(path)
    store.reap()
    return store


def exit_code_of(run: "Run") -> ExitCode:
    """How a command ends that saw this run to its end."""
    from diskprof.analysis.expectations import judge, missed
    from diskprof.model.run import Status

    if run.status is Status.COMPLETE:
        return ExitCode.EXPECTATION_MISSED if missed(judge(run)) else ExitCode.OK
    return ExitCode.INTERRUPTED if run.status is Status.CANCELLED else ExitCode.FAILED


def exit_code_of_series(store: "Store", series_id: str) -> ExitCode:
    """How a command ends that saw this series to its end: of its runs the first that was not as expected counts."""
    from diskprof.model.run import Status

    status = store.series(series_id).status
    if status is not Status.COMPLETE:
        return ExitCode.INTERRUPTED if status is Status.CANCELLED else ExitCode.FAILED
    codes = (exit_code_of(store.run(run.id)) for run in store.series_runs(series_id))
    return next((code for code in codes if code is not ExitCode.OK), ExitCode.OK)


def echo_json(value: Any) -> None:
    """Prints `value` as JSON that any program can read: no NaN, no broken text; ASCII alone where no more can be printed."""
    from diskprof.reports.data.json import dumps

    click.echo(dumps(value, ascii_only=not stdout_is_utf8()), nl=False)


def with_class(run: "Run", name: str) -> "Run":
    """The run with another class of its disk; as it is without a name. Raises UsageError."""
    if not name:
        return run
    from msgspec.structs import replace

    from diskprof.presets.disk_classes import disk_class

    return replace(run, plan=replace(run.plan, disk_class=disk_class(name).name))


def print_result(store: "Store", run_id: str, as_json: bool, disk_class: str = "") -> None:
    """The run as it stands in the store, on stdout; `disk_class` in place of the class of its disk."""
    from diskprof.runner.session import earlier_results, samples_of_drains, seen_by_kernel

    run = with_class(store.run(run_id), disk_class)
    kernel = seen_by_kernel(store, run)
    if as_json:
        from diskprof.reports.data.json_runs import run_json

        echo_json(run_json(run, kernel, earlier_results(store, run), samples_of_drains(store, run)))
        return
    from diskprof.reports.render.text import show

    samples = store.samples(run_id, histograms=False).samples
    earlier = earlier_results(store, run)
    drawn = show(run, samples, width_of_stdout(), kernel=kernel, earlier=earlier, ascii_only=not stdout_is_utf8())
    click.echo(drawn, nl=False)


def print_caps(store: "Store", run_id: str) -> None:
    """What limits the disk of a run, on stdout."""
    from diskprof.reports.content.caps_words import caps_report
    from diskprof.reports.render.lines import text

    drawn = text(caps_report(store.run(run_id)), width_of_stdout(), ascii_only=not stdout_is_utf8())
    click.echo(drawn, nl=False)


def print_series(store: "Store", series_id: str, as_json: bool) -> None:
    """The series as it stands in the store, on stdout."""
    from diskprof.runner.session import series_result

    result = series_result(store, series_id)
    if as_json:
        from diskprof.reports.data.json_series import series_json

        echo_json(series_json(result.series, result.runs, result.figures))
        return
    from diskprof.reports.content.series_report import series_report
    from diskprof.reports.render.lines import text

    drawn = text(series_report(result), width_of_stdout(), ascii_only=not stdout_is_utf8())
    click.echo(drawn, nl=False)


def print_fleet(store: "Store", fleet_id: str, as_json: bool) -> None:
    """The fleet run as it stands in the store, on stdout."""
    from diskprof.runner.session import fleet_result

    result = fleet_result(store, fleet_id)
    if as_json:
        from diskprof.reports.data.json_fleet import fleet_json

        echo_json(fleet_json(result))
        return
    from diskprof.reports.content.fleet.fleet_report import fleet_report
    from diskprof.reports.render.lines import text

    click.echo(text(fleet_report(result), width_of_stdout(), ascii_only=not stdout_is_utf8()), nl=False)


def width_of_stdout(otherwise: int = 100) -> int:
    """Columns to lay out for: those of COLUMNS, else the terminal's, or `otherwise` where stdout is none."""
    import shutil

    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return shutil.get_terminal_size((otherwise, 24)).columns if known else otherwise


def place_of(word: str | None) -> Path | None:
    """The file that somebody named; None for stdin or stdout, which is - or not named."""
    return None if word in (None, "-") else Path(str(word))


def refuse_device(path: Path) -> None:
    """Raises Refused for an output file that is a block device: a report would overwrite the beginning of a disk."""
    try:
        is_disk = path.is_block_device()
    except OSError:
        # What cannot be reached cannot be overwritten either: whoever opens it says why.
        return
    if is_disk:
        raise Refused(f"{clean(str(path))} is a disk, and would be overwritten.", "Give the name of a file.")


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name, and the place of an earlier one, when it is whole; a pipe or terminal is written as it comes.

    Raises Refused for a block device, UsageError for a directory, DiskprofError where it cannot be written.
    """
    refuse_device(path)
    try:
        if path.is_dir():
            raise UsageError(f"{clean(str(path))} is a directory.", "Add a file name.")
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        target = path.resolve()
        # Not by the end of its own name: a collector of files with that end must not read half of one.
        passing = target.with_name(f".{target.name[:200]}-{secrets.token_hex(4)}")
        try:
            with passing.open("xb") as file:
                yield file
            if target.exists():
                passing.chmod(target.stat().st_mode & 0o777)
            passing.replace(target)
        finally:
            passing.unlink(missing_ok=True)
    except OSError as error:
        why = f"{clean(str(path))} cannot be written: {error.strerror}."
        raise DiskprofError(why, "Choose another place with -o.") from None


class NamedFile(click.Path):
    """The name of a file; click takes an empty one for the directory where one is."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


def not_empty(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str:
    """The callback of an option that means something else where it is left out: "" then. Raises BadParameter of an empty value."""
    if value == "":
        raise click.BadParameter("it is empty: give a value, or leave the option out.", ctx, parameter)
    return value or ""
