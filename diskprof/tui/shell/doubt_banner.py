"""What speaks against relying on a run, in a line or two above its figures."""

from diskprof.model.run import Run, Weight
from diskprof.model.text import clean
from diskprof.reports.content.doubts import run_in_doubt
from diskprof.reports.words import WEIGHTS
from diskprof.tui.kit.painted import Lines
from diskprof.tui.kit.paragraphs import signed
from diskprof.tui.shell.run_signs import ink_of, sign_of


class DoubtBanner(Lines):
    """Not there where nothing speaks against the run, or it has not ended."""

    DEFAULT_CSS = "DoubtBanner { height: 1; display: none; }"

    def tell(self, run: Run, width: int) -> None:
        word = WEIGHTS[Weight.DOUBT]
        words = run_in_doubt(run)
        self.display = bool(words)
        if words:
            lines = signed(sign_of(word), clean(words), width, ink_of(word))
            self.styles.height = len(lines)
            self.put(lines)
