"""The processes that other I/O on the disk came from."""

from diskprof.model.run import Run
from diskprof.model.units import format_duration, format_size
from diskprof.reports import figures
from diskprof.reports.blocks import Cell, Table
from diskprof.reports.layout import Column

_TITLE = "Processes on the disk"
_TITLE_BESIDE = "Other processes on the disk"
_RULE = "other-io"
_LEGEND = (
    "Processes with a file of the disk open; read and written on all disks while the test measured. "
    "Writes to the page cache count when they are made."
)


def process_title(run: Run) -> str:
    return _TITLE if run.plan.watched else _TITLE_BESIDE


def process_tables(run: Run) -> tuple[Table, ...]:
    """A row for each process of each test that other I/O was found in, or that was watched; nothing where none is known."""
    doubted = [each for each in run.findings if each.name == _RULE]
    # Of several tests that say the same there is one finding, without a test.
    tests = {
        test.index: test
        for test in run.tests
        if run.plan.watched or any(each.test in ("", test.name) for each in doubted)
    }
    rows = tuple(
        (
            *(Cell(each.name), Cell(str(each.pid)), Cell(tests[each.test].title)),
            *(
                Cell(format_size(amount) if amount else figures.MISSING)
                for amount in (each.read_bytes, each.write_bytes)
            ),
            Cell(format_duration(max(0, each.last_ns - each.first_ns) / 1e9)),
        )
        for each in run.processes
        if each.test in tests
    )
    columns = (
        *(Column("Process", least=8), Column("pid", right=True), Column("Test", least=12, middle=True)),
        *(Column("Read", right=True), Column("Written", right=True), Column("Within", right=True, spare=1)),
    )
    return (Table(columns, rows, legend=_LEGEND),) if rows else ()
