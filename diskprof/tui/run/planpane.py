"""The pane that says what will happen, or why nothing can."""

from collections.abc import Callable, Sequence

from diskprof.devices.guard.doubts import Doubt
from diskprof.model.errors import DiskprofError
from diskprof.model.preset import Preset
from diskprof.runner.session import Outlook, Wish
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.paragraphs import paragraph
from diskprof.tui.kit.table import Row, Table
from diskprof.tui.run.device_rows import doubt_lines
from diskprof.tui.run.run_lines import error_lines, missing_lines, preset_lines, variant_lines
from diskprof.tui.shell.keynames import with_keys

Build = Callable[[int], Sequence[Line]]


class PlanPane(Table):
    """Scrolls; has the class `-blocked` while what it shows cannot be started."""

    def __init__(self, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes, cursor=False)
        self._wish: Wish | None = None

    def say(self, words: str) -> None:
        self._show(lambda width: paragraph(words, width, "quiet", first=((" ", ""),)))

    def show_error(self, error: DiskprofError) -> None:
        self._show(lambda width: error_lines(error.message, error.hint, width))

    def show_outlook(
        self, outlook: Outlook, preset: Preset, below: Build, allow_key: str, doubts: Sequence[Doubt] = ()
    ) -> None:
        """The plan or what stands against it, what the preset is for, and the lines that `below` makes.

        `allow_key` is the key of the switch for writing to a device, shown where that matters; `doubts` are those about the
        device that the plan does not have among its hazards. What is on the same wish as before keeps its place.
        """

        key, start = with_keys(self.screen, "{run.variant}"), with_keys(self.screen, "{run.start}")

        def lines(width: int) -> Sequence[Line]:
            shown: list[Line] = []
            chosen = variant_lines(preset, outlook.wish.variant, dict(outlook.wish.settings), key, width)
            if outlook.error:
                shown = [
                    *error_lines(outlook.error.message, outlook.error.hint, width),
                    *([[], *chosen] if chosen else ()),
                ]
            elif outlook.missing:
                shown = [*missing_lines(preset, outlook.missing, start, width), *([[], *chosen] if chosen else ())]
            elif outlook.plan:
                from diskprof.tui.run.plan_lines import plan_lines, switch_lines

                switch = switch_lines(outlook.plan, allow_key, width) if outlook.overwrites else ()
                known = {hazard.name for hazard in outlook.plan.hazards}
                doubtful = doubt_lines([doubt for doubt in doubts if doubt.name not in known], width)
                shown = plan_lines(outlook.plan, width, chosen, switch, doubtful)
            about = preset_lines(preset, width)
            more = below(width)
            return [*shown, *([[], *about] if about else ()), *([[], *more] if more else ())]

        self._show(lines, outlook.wish)
        self.set_class(outlook.blocked, "-blocked")

    def _show(self, build: Build, wish: Wish | None = None) -> None:
        self.show(lambda width: [Row(str(at), line) for at, line in enumerate(build(width))])
        if wish is None or wish != self._wish:
            self.scroll_home(animate=False)
        self._wish = wish
