"""Where a run is in its series, and how far apart the repeats are: a line of the head."""

from __future__ import annotations

from collections.abc import Callable

from diskprof.model.cells import cut
from diskprof.model.run import Run
from diskprof.model.run_series import RunSeries, letter
from diskprof.model.text import clean
from diskprof.model.units import percent_words
from diskprof.reports.content.series_report import place_words, plus_minus
from diskprof.reports.render.lines import sparkline
from diskprof.reports.words import STATUSES
from diskprof.tui.kit.painted import Line, Piece
from diskprof.tui.shell.run_signs import ink_of

_ROUNDS = 16
_LEAST_REST = 12


def series_line(run: Run, series: RunSeries, width: int, *, ascii_only: bool) -> Line:
    """`Series k3f7p2qa: repeat 3 of 5, target B  +-1.9% ▇▅▃▂ wanted 3%: 4K rand read QD32 read`.

    The small chart has the width of the widest interval after each round, from zero.
    """
    place = run.series
    assert place
    status = STATUSES[series.status]
    left: list[Piece] = [(f" Series {series.id}: ", "quiet"), (place_words(series, place), "strong")]
    if series.status.over:
        left += [("  ", ""), (f"{status.sign} {status.word}", ink_of(status))]
    spreads = [spread for spread in series.spreads if spread.repeats > 1]
    if not spreads:
        return left
    last = spreads[-1]
    shares = [spread.share for spread in spreads[-_ROUNDS:]]
    left += [("  ", ""), (plus_minus(last), "title"), (" ", "")]
    if len(shares) > 1:
        left += [(sparkline(shares, ascii_only=ascii_only), "accent"), (" ", "")]
    left += [(f"wanted {percent_words(series.wanted.until)} ", "quiet")] if series.wanted.until else []
    room = width - sum(len(text) for text, _ in left)
    where = f", target {letter(last.arm)}" if len(series.targets) > 1 else ""
    words = clean(f"{run.title(last.test)} {last.direction}{where}")
    return [*left, (cut(words, room), "quiet")] if room >= _LEAST_REST else left


class SeriesReader:
    """Reads the series of the run that is shown, when it can have changed: as its runs begin and end."""

    def __init__(self, read: Callable[[str], RunSeries]) -> None:
        self._read = read
        self._known: tuple[str, bool] = "", False
        self._series: RunSeries | None = None

    def of(self, run: Run) -> RunSeries | None:
        """The series of a run; None of a run alone. Raises StoreError."""
        if run.series is None:
            return None
        now = run.id, run.status.over
        ending = run.status.over and self._series is not None and not self._series.status.over
        if now != self._known or self._series is None or ending:
            self._known, self._series = now, self._read(run.series.series_id)
        return self._series
