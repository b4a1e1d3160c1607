"""The doubts about a run and the limits that it shows, in a line or two above its figures."""

from diskprof.model.cells import width_of as cells_of
from diskprof.model.run import Run, Weight
from diskprof.model.text import clean
from diskprof.reports.content.doubts import run_in_doubt, run_limits
from diskprof.reports.words import WEIGHTS
from diskprof.tui.kit.painted import Line, Lines
from diskprof.tui.kit.paragraphs import signed
from diskprof.tui.shell.run_signs import ink_of, sign_of

_BETWEEN = "  "


class FindingBanner(Lines):
    """Hidden if the run has neither doubts nor limits. A run in progress tells its doubts so far."""

    DEFAULT_CSS = """
    FindingBanner { height: 1; }
    FindingBanner.-none { display: none; }
    """

    def tell(self, run: Run, width: int) -> None:
        lines = banner_lines(run, width)
        self.set_class(not lines, "-none")
        if lines:
            self.styles.height = len(lines)
            self.put(lines)


def banner_lines(run: Run, width: int) -> list[Line]:
    """`! In doubt: ...` and `▲ Limit: ...`, on one line if both fit."""
    told = [(Weight.DOUBT, clean(run_in_doubt(run))), (Weight.LIMIT, clean(run_limits(run)))]
    each = [signed(sign_of(WEIGHTS[weight]), words, width, ink_of(WEIGHTS[weight])) for weight, words in told if words]
    together: list[Line] = [[piece for lines in each for line in (*lines, [(_BETWEEN, "")]) for piece in line]]
    if len(each) > 1 and sum(cells_of(text) for text, _ in together[0]) <= width + len(_BETWEEN):
        return together
    return [line for lines in each for line in lines]
