"""The first and the last line of every screen: where one is, and which keys work here and now."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from textual import events
from textual.binding import Binding
from textual.screen import Screen

from diskprof.tui.kit.painted import Line, OneLine, Piece, spread, width_of


class Tab(NamedTuple):
    mode: str
    key: str
    title: str


TABS = (Tab("run", "1", "Run"), Tab("live", "2", "Live"), Tab("runs", "3", "Runs"), Tab("compare", "4", "Compare"))


_GAP, _NARROW = "  ", " "
"""Between two keys."""


class TopBar(OneLine):
    """`diskprof  1 Run  2 Live ...    host  state`, the present mode marked; a click on a tab opens it.

    What is opened in the mode stands behind its name, `3 Runs > k3f7p2qa`, where it has room.
    """

    DEFAULT_CSS = """
    TopBar { dock: top; background: $panel; }
    """

    def __init__(self, mode: str) -> None:
        super().__init__()
        self._mode = mode
        self._state: Line = ()
        self._host = ""
        self._opened = ""
        self._spots: list[tuple[int, int, str]] = []

    def enter(self, opened: str) -> None:
        """What of the mode is opened; empty for its first page."""
        if opened != self._opened:
            self._opened = opened
            if self.is_attached:
                self._draw()

    def show(self, host: str, state: Line) -> None:
        """`state`: what is running, in a few words; if they do not fit, only the first and the last are shown."""
        if (host, state) != (self._host, self._state):
            self._host, self._state = host, state
            self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width = self.size.width
        brief: Line = [*self._state[:1], *self._state[1:][-1:]]
        left = self._tabs(self._opened)
        if width_of(left) + 3 + width_of(brief) > width:
            left = self._tabs("")
        room = width - width_of(left) - 3
        hosted: Line = [(self._host, "quiet"), ("  ", ""), *self._state] if self._host else self._state
        fitting = (right for right in (hosted, self._state, brief) if width_of(right) <= room)
        self.put_line(spread(left, [("  ", ""), *next(fitting, ()), (" ", "")], width))

    def _tabs(self, opened: str) -> list[Piece]:
        left: list[Piece] = [(" diskprof ", "title")] if self.size.width >= 60 else [(" ", "")]
        self._spots = []
        for tab in TABS:
            start = width_of(left)
            key = self._key_of(tab)
            if tab.mode == self._mode:
                left.append((f" {key} {tab.title} > {opened} " if opened else f" {key} {tab.title} ", "tab"))
            else:
                left += [(f" {key} ", "key"), (f"{tab.title} ", "")]
            self._spots.append((start, width_of(left), tab.mode))
        return left

    def _key_of(self, tab: Tab) -> str:
        """As the person may have changed it."""
        changed: Mapping[str, str] = getattr(self.app, "changed_keys", {})
        first = changed.get(f"app.{tab.mode}", tab.key).partition(",")[0]
        return self.app.get_key_display(Binding(first, f"mode('{tab.mode}')"))

    async def on_click(self, event: events.Click) -> None:
        for start, end, mode in self._spots:
            if start <= event.x < end:
                await self.app.run_action(f"mode('{mode}')")


class KeyBar(OneLine):
    """The keys of what has the focus, then of the screen, then of the app.

    Where there is no room for all they are closer to each other, and then the last ones give way.

    A click on one does what the key does.
    """

    DEFAULT_CSS = """
    KeyBar { dock: bottom; background: $panel; }
    """
    ALWAYS = ("help", "quit")

    def __init__(self) -> None:
        super().__init__()
        self._spots: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._changed)
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _changed(self, screen: Screen[Any]) -> None:
        self._draw()

    def _draw(self) -> None:
        if not self.is_attached:
            return
        shown: dict[str, tuple[str, str]] = {}
        self._spots = []
        for _, binding, enabled, _tooltip in self.screen.active_bindings.values():
            if binding.show and enabled and binding.action not in shown and binding.description:
                shown[binding.action] = (self.app.get_key_display(binding), binding.description)
        last = {action: shown.pop(action) for action in self.ALWAYS if action in shown}
        tail = self._pieces([*last.values()])
        room = self.size.width - width_of(tail) - 1
        gap = _GAP if 1 + width_of(self._pieces([*shown.values()])) <= room else _NARROW
        line: list[Piece] = [(" ", "")]
        for action, entry in shown.items():
            pieces = self._pieces([entry], gap)
            if width_of(line) + width_of(pieces) - len(gap) > room - 1:
                break
            self._spots.append((width_of(line), width_of(line) + width_of(pieces), action))
            line += pieces
        at = self.size.width - width_of(tail)
        for action, entry in last.items():
            end = at + width_of(self._pieces([entry]))
            self._spots.append((at, end, action))
            at = end
        self.put_line(spread(line, tail, self.size.width))

    async def on_click(self, event: events.Click) -> None:
        action = next((action for start, end, action in self._spots if start <= event.x < end), None)
        for node, binding, enabled, _tooltip in self.screen.active_bindings.values():
            if enabled and binding.action == action:
                # Not the key itself: a field that has the focus would take it for text.
                await self.app.run_action(binding.action, node)
                return

    @staticmethod
    def _pieces(entries: list[tuple[str, str]], gap: str = _GAP) -> list[Piece]:
        return [piece for key, text in entries for piece in ((key, "key"), (f" {text}{gap}", ""))]
