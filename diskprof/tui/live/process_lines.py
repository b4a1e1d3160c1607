"""Who uses a disk that is watched, a line a process."""

from diskprof.model.run import Run
from diskprof.model.text import clean
from diskprof.model.units import format_percent, format_size
from diskprof.reports.figures import count
from diskprof.tui.kit.painted import Line, Piece, spread

_NOBODY = "No process was seen to use it yet."


def process_lines(run: Run, width: int) -> list[Line]:
    """What each process read and wrote since the watch began, and its share of what all did, the busiest first."""
    unseen = run.environment.hidden_processes
    hidden: Piece = (f" The I/O of {count(unseen, 'process', 'processes')} cannot be seen." if unseen else "", "quiet")
    whole = sum(each.bytes for each in run.processes)
    if not whole:
        return [[(f"   {_NOBODY}", "quiet"), hidden]]
    lines: list[Line] = []
    for each in sorted(run.processes, key=lambda each: -each.bytes):
        ways = (("read", each.read_bytes), ("wrote", each.write_bytes))
        did = " and ".join(f"{verb} {format_size(amount)}" for verb, amount in ways if amount)
        left: list[Piece] = [("   ", ""), (clean(each.name), "strong"), (f" (pid {each.pid}) {did}", "")]
        lines.append(spread(left, [(f" {format_percent(each.bytes / whole)} ", "quiet")], width))
    return lines
