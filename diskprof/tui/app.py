"""The app: four modes, the store that all of them read, and what goes on whatever one looks at."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from msgspec.structs import replace
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.timer import Timer

from diskprof.config.settings import FASTEST_HZ, SLOWEST_HZ, Charts, Settings, SlowLink
from diskprof.model.errors import DiskprofError
from diskprof.model.text import clean
from diskprof.presets.problem import Problem
from diskprof.reports.words import STATUSES
from diskprof.tui.dialogs.confirm import Answer, Ask
from diskprof.tui.dialogs.help import HelpScreen, keys_of
from diskprof.tui.kit.charts.glyphs import Charset, this_charset
from diskprof.tui.kit.painted import Line
from diskprof.tui.kit.palette import Depth
from diskprof.tui.kit.terminal.driver import LettingGoDriver
from diskprof.tui.kit.textual_fixes import begin_with, set_timer
from diskprof.tui.kit.theme import meanings, terminal_depth, theme_name, themes
from diskprof.tui.shell.bars import TABS
from diskprof.tui.shell.base import ModeScreen
from diskprof.tui.shell.keynames import with_keys
from diskprof.tui.shell.store_watch import POLL_S, StorePlace, StoreWatcher, Whereabouts
from diskprof.tui.shell.terminal_app import TerminalApp

if TYPE_CHECKING:
    from textual.widget import AwaitMount

    from diskprof.model.run import RunSummary
    from diskprof.runner.comparing import ArmRuns
    from diskprof.runner.session import Outlook, SeriesOutlook, Session
    from diskprof.store import Store
    from diskprof.tui.dialogs.chooser import Choice

_STANDS_AFTER_S = 0.5
_GARBAGE = 5_000
"""New objects before they are looked through: Python's 700 are little for what one picture makes."""

CALM_POLL_S = 1.0
_MOST_TOLD = 3


def _run_screen() -> Screen[Any]:
    from diskprof.tui.run.screen import RunScreen

    return RunScreen()


def _live_screen() -> Screen[Any]:
    from diskprof.tui.live.screen import LiveScreen

    return LiveScreen()


def _runs_screen() -> Screen[Any]:
    from diskprof.tui.runs.screen import RunsScreen

    return RunsScreen()


def _compare_screen() -> Screen[Any]:
    from diskprof.tui.compare.screen import CompareScreen

    return CompareScreen()


def _prepare() -> None:
    for module in ("live.screen", "runs.screen", "runs.result", "compare.screen"):
        importlib.import_module(f"diskprof.tui.{module}")
    # What is there now stays to the end: to look through it again and again took a tenth of what following a run takes.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    gc.enable()


def title_words(running: Sequence[RunSummary], newest: RunSummary | None, done: float | None) -> str:
    """`diskprof: 34% quick on /mnt/data` while a run is in progress; `diskprof: quick complete on /mnt/data` afterwards."""
    if len(running) > 1:
        return f"diskprof: {len(running)} runs in progress"
    run = running[0] if running else newest
    if run is None:
        return "diskprof"
    what, where = clean(run.preset), clean(run.target)
    if not running:
        return f"diskprof: {what} {STATUSES[run.status].word} on {where}"
    return f"diskprof: {done or 0.0:.0%} {what} on {where}"


class WholeCells(ScrollBarRender):
    """Scroll bars without halves of cells: lists move by whole rows, and not every font has halves."""

    VERTICAL_BARS: ClassVar[list[str]] = [" "] * 8
    HORIZONTAL_BARS: ClassVar[list[str]] = [" "] * 8


ScrollBar.renderer = WholeCells


class Command(NamedTuple):
    """A command of the palette."""

    choice: Choice
    run: Callable[[], object]


class DiskprofApp(TerminalApp):
    """`session` is the machine and the store; a test gives another."""

    TITLE = "diskprof"
    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {
        "run": _run_screen,
        "live": _live_screen,
        "runs": _runs_screen,
        "compare": _compare_screen,
    }
    DEFAULT_MODE = "run"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(tab.key, f"mode('{tab.mode}')", tab.title, id=f"app.{tab.mode}", show=False) for tab in TABS),
        Binding("y", "copy", "Copy", id="app.copy", tooltip="Copy the report, the commands or the id of the run"),
        Binding("question_mark", "help", "Help", id="app.help", key_display="?", tooltip="Help for this screen"),
        Binding("f1", "help", "Help", id="app.help-f1", show=False, tooltip="Help for this screen"),
        Binding("q", "quit", "Quit", id="app.quit", tooltip="Quit; a run can continue in the background"),
        Binding(
            "ctrl+p",
            "command_palette",
            "Commands by name",
            id="app.palette",
            show=False,
            priority=True,
            tooltip="All commands, by name",
        ),
        Binding(
            "colon",
            "command_palette",
            "Commands by name",
            id="app.palette-colon",
            show=False,
            key_display=":",
            tooltip="All commands, by name",
        ),
        Binding(
            "ctrl+l",
            "redraw",
            "Redraw",
            id="app.redraw",
            show=False,
            priority=True,
            tooltip="Redraw the screen",
        ),
        Binding(
            "ctrl+z",
            "suspend_process",
            "Suspend",
            id="app.suspend",
            show=False,
            priority=True,
            tooltip="Back to the shell; its command fg comes back here",
        ),
    ]

    def __init__(
        self,
        session: Session,
        *,
        charset: Charset | None = None,
        depth: Depth = Depth.TRUE,
        settings: Settings | None = None,
        problems: Sequence[Problem] = (),
        live_first: bool = False,
    ) -> None:
        """`charset` is what charts are made of; None: what the terminal can be trusted to show. `depth`: its colours.

        `live_first`: open on Live if a run is in progress.

        `problems` are those of the configuration file, to be told once the screen stands.
        """
        # Decided here once: with NO_COLOR a theme of any but the terminal's own colours is sent as greys (F46).
        super().__init__(ansi_color=True if depth is Depth.SIXTEEN else None)
        self.settings = settings or Settings()
        self._problems = tuple(str(problem) for problem in problems)
        self.charset = charset or (Charset.ASCII if self.settings.ascii else this_charset(self.settings.charts))
        self._polling: Timer | None = None
        self.session = session
        self.store: Store = session.open_store()
        self.store_path: Path = self.store.path
        self.place = StorePlace(self.store_path)
        self.watcher = StoreWatcher(self.store)
        self._host = ""
        self._titled = False
        self.left_running: tuple[str, ...] = ()
        """Ids of the runs that continue after diskprof was quit."""
        if live_first and self.watcher.read().running:
            self.store.reap()
            if self.watcher.read().running:
                begin_with(self, "live")
        self.waiting = ""
        """What waits for another run to end before it starts, in words. It starts by this program, or not at all."""
        for theme in themes(depth):
            self.register_theme(theme)
        wanted = Depth.SIXTEEN if self.settings.slow_link is SlowLink.ON else depth
        self.theme = theme_name(self.settings.theme, wanted)
        self.changed_keys: dict[str, str] = {}
        self._set_keys()

    def _set_keys(self) -> None:
        if not self.settings.keys:
            return
        from diskprof.tui.shell.keys import choose_keys

        self.changed_keys, faults = choose_keys(self.settings.keys)
        self._problems += tuple(f"keys.{name}: {text}" for name, text in faults.items())
        self.set_keymap(self.changed_keys)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return meanings(self.current_theme)

    def on_mount(self) -> None:
        self.set_class(self.charset is Charset.ASCII, "-ascii")
        self._host = clean(self.session.hostname())
        self.catch_signals()
        self._poll()
        self._poll_every(POLL_S)
        if self.settings.slow_link is SlowLink.ON:
            self.calm_down()
        for problem in self._problems[:_MOST_TOLD]:
            self.notify(
                f"{clean(problem)}\nThe default holds. `diskprof config` tells all.",
                title="A setting cannot be used",
                severity="warning",
                timeout=12,
                markup=False,
            )
        if not gc.isenabled():
            set_timer(self, _STANDS_AFTER_S, self._stands)

    def _stands(self) -> None:
        """The first screen is there: time for what it did not need, and for what the others will."""
        self.run_worker(_prepare, thread=True)

    def on_unmount(self) -> None:
        self.store.close()

    def calm_down(self) -> None:
        super().calm_down()
        self._poll_every(CALM_POLL_S)

    def _poll_every(self, least_s: float) -> None:
        """Look at the store as often as the settings say, at most each `least_s`."""
        if self._polling is not None:
            self._polling.stop()
        self._polling = self.set_interval(max(least_s, 1 / self.settings.refresh), self._poll)

    def action_faster(self, factor: float) -> None:
        """Follow a run so many times as often, until the app ends."""
        refresh = min(max(self.settings.refresh * factor, SLOWEST_HZ), FASTEST_HZ)
        self.settings = replace(self.settings, refresh=refresh)
        least_s = CALM_POLL_S if self.calm else POLL_S
        self._poll_every(least_s)
        self.notify(f"A run is read every {max(least_s, 1 / refresh):g} s.", timeout=4, markup=False)

    # what goes on

    def _poll(self) -> None:
        if not self.is_running:
            # The app is ending: what its screens hold goes before they do, and they before this does.
            return
        self.notice_slow_link()
        news = self.place.news()
        try:
            changed = self.watcher.poll() or news is not None
            if news is not None:
                self.place.check()
        except DiskprofError as error:
            self.tell(error)
            changed = news is not None
        screen = self.screen
        if changed and isinstance(screen, ModeScreen) and screen.is_mounted:
            self.show_state(screen)
            screen.store_changed()
        if changed:
            self._show_title()

    def show_state(self, screen: ModeScreen) -> None:
        """Write into the first line of `screen` what goes on."""
        screen.top.show(self._host, self._state())

    def _show_title(self) -> None:
        """The progress of the run in the terminal's title, which is seen from another window; at its end, how it ended."""
        running, newest = self.watcher.state.running, self.watcher.state.newest
        if not running and not self._titled:
            return
        try:
            done = self.store.overall(running[0].id) if len(running) == 1 else None
        except DiskprofError as error:
            self.tell(error)
            return
        self._titled = True
        if isinstance(self._driver, LettingGoDriver):
            self._driver.show_title(title_words(running, newest, done))

    def _state(self) -> Line:
        if (where := self.place.where()) is not Whereabouts.SAME:
            return [(f"! store {where}", "warn")]
        running = self.watcher.state.running
        if not running:
            return [("nothing running", "quiet")]
        what = clean(running[0].preset) if len(running) == 1 else str(len(running))
        return [("▶ ", "title"), (f"{what} ", "strong"), ("running", "strong")]

    # where one goes

    def action_mode(self, mode: str) -> None:
        if not self.screen.is_modal:
            self.switch_mode(mode)

    def show_run(self, run_id: str) -> None:
        """Open a run, going or over, in the Live screen."""
        from diskprof.tui.live.screen import LiveScreen

        self.switch_mode("live")
        if isinstance(self.screen, LiveScreen):
            self.screen.show_run(run_id)

    def start_plan(self, outlook: Outlook) -> None:
        """Ask on the Run screen whether to start a plan; come back here if not."""
        from diskprof.tui.run.screen import RunScreen

        here = self.current_mode
        self.switch_mode("run")
        if isinstance(self.screen, RunScreen):
            self.screen.start_plan(outlook, lambda: self.switch_mode(here))

    def start_series(self, planned: SeriesOutlook) -> None:
        """As `start_plan`, of a series."""
        from diskprof.tui.run.screen import RunScreen

        here = self.current_mode
        self.switch_mode("run")
        if isinstance(self.screen, RunScreen):
            self.screen.start_series(planned, lambda: self.switch_mode(here))

    def compare_runs(self, run_ids: Sequence[str]) -> None:
        """Open the Compare screen on these runs; the first is what the others are measured against."""
        from diskprof.runner.comparing import each_alone

        self.compare_arms(each_alone(run_ids))

    def compare_arms(self, arms: Sequence[ArmRuns]) -> None:
        """As `compare_runs`, of arms."""
        from diskprof.tui.compare.screen import CompareScreen

        self.switch_mode("compare")
        if isinstance(self.screen, CompareScreen):
            self.screen.show_arms(arms)

    def action_help(self) -> None:
        screen = self.screen
        if isinstance(screen, ModeScreen):
            self.push_screen(HelpScreen(screen.TITLE_OF_HELP, with_keys(screen, screen.HELP), keys_of(screen)))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that can do nothing now are not shown."""
        if action == "copy":
            # Below a dialog the last line is still that of the screen.
            screens = (screen for screen in reversed(self.screen_stack) if isinstance(screen, ModeScreen))
            return any(screen.is_mounted and screen.can_copy for screen in islice(screens, 1))
        return super().check_action(action, parameters)

    async def action_quit(self) -> None:
        running = self.watcher.read().running
        if not (running or self.waiting) or isinstance(self.screen, Ask):
            self.exit()
            return
        waits = f"{self.waiting} is queued. It starts only while diskprof is open; quitting cancels it."
        if not running:
            answers = (
                Answer("g", "Cancel the queued run and quit", "leave", danger=True),
                Answer("esc", "Stay", "stay"),
            )
            self.push_screen(Ask("Quit diskprof?", waits, answers), self._quit_answered)
            return
        which = "A run is in progress" if len(running) == 1 else f"{len(running)} running"
        text = "\n".join(f"{clean(run.preset_title)} on {clean(run.target)}" for run in running)
        it = "it" if len(running) == 1 else "them"
        lost = f"\n\n{waits}" if self.waiting else ""
        give_up = ", cancel the queued run" if self.waiting else ""
        self.push_screen(
            Ask(
                f"{which}. Quit diskprof?",
                f"{text}\n\nThe run continues in the background; reopen diskprof to see it.{lost}",
                (
                    Answer("l", f"Leave {it} running{give_up} and quit", "leave"),
                    Answer("s", f"Stop {it}{give_up} and quit", "stop", danger=True),
                    Answer("esc", "Stay", "stay"),
                ),
            ),
            self._quit_answered,
        )

    def _quit_answered(self, answer: str | None) -> None:
        if answer == "stop":
            for run in self.watcher.state.running:
                try:
                    self.session.request_stop(self.store, run.id)
                except DiskprofError as error:
                    self.tell(error)
                    return
        if answer == "leave":
            self.left_running = tuple(run.id for run in self.watcher.state.running)
        if answer in ("leave", "stop"):
            self.exit()

    def action_help_quit(self) -> None:
        """Ctrl+C: Textual's own words name another key."""
        screen = next(screen for screen in reversed(self.screen_stack) if isinstance(screen, ModeScreen))
        self.notify(with_keys(screen, "Press {app.quit} to quit."), timeout=3, markup=False)

    def switch_mode(self, mode: str) -> AwaitMount:
        """Notices are about the screen that is left."""
        if mode != self.current_mode:
            self.clear_notifications()
        return super().switch_mode(mode)

    def action_command_palette(self) -> None:
        """All commands here, by name."""
        from diskprof.tui.dialogs.chooser import Chooser

        if isinstance(self.screen, Chooser):
            return
        commands = sorted(self.commands(self.screen), key=lambda command: command.choice.title)

        def chosen(number: int | None) -> None:
            if number is not None:
                self.call_later(commands[number].run)

        self.push_screen(Chooser("Commands", [command.choice for command in commands]), chosen)

    def action_change_theme(self) -> None:
        from diskprof.tui.dialogs.chooser import Choice, Chooser

        names = sorted(self.available_themes)

        def chosen(number: int | None) -> None:
            if number is not None:
                self.theme = names[number]

        self.push_screen(Chooser("Theme", [Choice(name) for name in names]), chosen)

    def commands(self, screen: Screen[Any]) -> Iterator[Command]:
        """What the palette offers on a screen."""
        from diskprof.tui.dialogs.chooser import Choice

        for tab in TABS:
            yield Command(Choice(f"Go to {tab.title}", tab.key), partial(self.switch_mode, tab.mode))
        seen = {"app.quit", "quit", "app.help", "help", "app.command_palette", "command_palette"}
        for node, binding, enabled, tooltip in screen.active_bindings.values():
            if enabled and binding.description and binding.action not in seen and not _is_move(binding):
                seen.add(binding.action)
                choice = Choice(binding.description, self.get_key_display(binding), tooltip)
                yield Command(choice, self._command(binding.action, node))
        if self.place.where() is not Whereabouts.SAME:
            about = "Write the runs of the store that is gone to a file"
            yield Command(Choice("Save runs", about=about), self.save_runs)
        yield Command(Choice("Help", "?", "Help for this screen"), self.action_help)
        yield Command(Choice("Theme", about="Change the colours"), self.action_change_theme)
        yield Command(Choice("Quit", "q", "Quit diskprof"), self.action_quit)

    def save_runs(self) -> None:
        from diskprof.tui.dialogs.run_actions import save_lost_runs

        save_lost_runs(self)

    def _command(self, action: str, node: object) -> Callable[[], None]:
        from textual.dom import DOMNode

        def run() -> None:
            if isinstance(node, DOMNode):
                self.call_later(self.run_action, action, node)

        return run


def _is_move(binding: Binding) -> bool:
    """Whether it goes to a mode, which has a command of its own, or moves about: nobody does that by name."""
    place, _, _ = (binding.id or "").partition(".")
    return not binding.id or place == "list" or binding.action.startswith("mode(")


def run_app(store_path: Path | None = None, settings: Settings | None = None, problems: Sequence[Problem] = ()) -> int:
    """Open the screen on the store at `store_path` (None: the person's own) and return the exit code.

    Raises DiskprofError if the store cannot be opened.
    """
    from diskprof.runner.session import Session

    settings = settings or Settings()
    depth = Depth.SIXTEEN if settings.theme == "16" else terminal_depth()
    if settings.ascii or settings.charts is not Charts.AUTO:
        # For the widgets that ask for themselves.
        os.environ["DISKPROF_CHARTS"] = "ascii" if settings.ascii else settings.charts
    app = DiskprofApp(Session(store_path), depth=depth, settings=settings, problems=problems, live_first=True)
    app.driver_class = LettingGoDriver
    app.run(mouse=settings.mouse)
    said = [
        f"Run {run_id} continues in the background. Reopen: diskprof attach {run_id}\n" for run_id in app.left_running
    ]
    if app.waiting:
        said.append(f"{app.waiting} was still waiting for its turn: it was not started.\n")
    # Whatever ended the screen; where the terminal is gone too, nobody reads it.
    with suppress(OSError):
        sys.stderr.writelines(said)
        sys.stderr.flush()
    # After a crash run() returns as if all were well (F45).
    return int(app.return_code or 0)
