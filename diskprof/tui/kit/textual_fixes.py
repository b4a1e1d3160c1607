"""What touches Textual's insides: each with its reason, and what it gained (Textual 8.2).

Gains are of the 440 ms of a processor that the first picture takes at 120x40, as the least of five interleaved starts.
`tests/tui/test_textual_fixes.py` fails for each as soon as Textual does without. The terminal's driver (`terminal/driver.py`,
`terminal/stalled.py`) has its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.screen import Screen
from textual.widgets import Input

from diskprof.tui.kit.containers import Bare

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import Binding
    from textual.dom import DOMNode
    from textual.message_pump import MessagePump
    from textual.theme import Theme
    from textual.timer import Timer

_MOVES_ON = ("app.focus_next", "app.focus_previous")


class KeptStylesheet(Stylesheet):
    """Parses each sheet once, until a variable of the theme changes: 60 ms. Textual does it for each screen that brings one."""

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parsed: dict[tuple[str, CSSLocation, str], list[RuleSet]] = {}

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            self._parsed.clear()
            super().set_variables(variables)

    def reparse(self) -> None:
        """As Textual's: of what cannot be parsed nothing is taken over. Raises what `parse` does."""
        self.parse()

    def _parse_rules(
        self,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        if not is_default_rules:
            return super()._parse_rules(css, read_from, is_default_rules, tie_breaker, scope)
        # The sheet of a class yields more to others once there is a class further below it: Textual parses it again for that.
        if (source := (css, read_from, scope)) not in self._parsed:
            self._parsed[source] = super()._parse_rules(css, read_from, is_default_rules, 1, scope)
        # A nested rule yields by a multiple.
        return [replace(rule, tie_breaker=rule.tie_breaker * tie_breaker) for rule in self._parsed[source]]


class FixedApp(App[None]):
    """Keeps style sheets and colours, draws nothing in a batch, and hears keys that come at once in their order."""

    _mixed: tuple[Theme, dict[str, str]] | None = None

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self.stylesheet = KeptStylesheet(variables=self.get_css_variables())

    def get_css_variables(self) -> dict[str, str]:
        # Textual mixes all colours of a theme each time that it asks, and it asks several times: 15 ms.
        theme = self.current_theme
        if self._mixed is None or self._mixed[0] is not theme:
            self._mixed = theme, super().get_css_variables()
        return self._mixed[1]

    def _end_batch(self) -> None:
        super()._end_batch()
        if not self._batch_count and self.is_running and isinstance(self.screen, FixedScreen):
            self.screen.call_later(self.screen.draw_held)

    async def on_event(self, event: events.Event) -> None:
        # Textual leads a key that moves on past the field first: what was typed behind it, and came with it, as over a
        # slow line, would be written in the field before.
        if (
            isinstance(event, events.Key)
            and not (event.is_printable or event.is_forwarded)
            and isinstance(self.focused, Input)
            and (action := self._moves_on(event.key))
        ):
            await self.run_action(action)
            return
        await super().on_event(event)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        # Textual asks twice, the second time once the key went to the widget with the focus and came up from there to here.
        # What was typed behind it, and came with it, would have gone to that widget by then, and not to the field that it
        # opened: words to look for would be taken for keys, d and y among them. No widget here wants a key before its
        # bindings but those to write in.
        if await super()._check_bindings(key, priority):
            return True
        return priority and not isinstance(self.focused, Input) and await super()._check_bindings(key)

    def _moves_on(self, key: str) -> str:
        """What `key` does if it leads from a field to another; empty for every other key."""
        for node, bindings in self.screen._modal_binding_chain:
            if node is not self.focused and (bound := bindings.key_to_bindings.get(key)):
                return bound[0].action if bound[0].action in _MOVES_ON else ""
        return ""


class FixedScreen(Bare, Screen[None]):
    """Lays itself out once before the first picture, and keeps pictures back that would be thrown away."""

    _held = False
    _was_seen = False

    @property
    def waits(self) -> bool:
        """Whether the next picture has to wait: it is then drawn as things are by then."""
        return False

    def set_breakpoints(self) -> None:
        """To be called by `compose`: Textual would lay the screen out without these classes, draw it, and do both again: 6 ms."""
        for dimension, breakpoints in zip(
            self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True
        ):
            for name in self._get_breakpoint_classes(dimension, breakpoints or []):
                self.update_classes({name: True}, update=False)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        if not self._was_seen:
            # Textual, whose own handler comes after this, would find the styles of every widget again: 40 ms.
            self._was_seen, event.refresh_styles = True, False

    def _on_timer_update(self) -> None:
        # The timer comes again.
        if not self.waits:
            super()._on_timer_update()

    def _compositor_refresh(self) -> None:
        # Textual draws in the midst of a batch too, and throws the picture away: 13 ms.
        self._held = self.app._batch_count > 0
        if not self._held:
            super()._compositor_refresh()

    def draw_held(self) -> None:
        """Draw what was to be drawn in a batch, unless it was drawn since."""
        if self._held:
            self._compositor_refresh()


def set_timer(pump: MessagePump, delay_s: float, call: Callable[[], object]) -> Timer:
    """Call once after a delay. Textual never calls if the process is held up for that delay while the timer begins."""
    timer = pump.set_timer(delay_s, call)
    timer._skip = False
    return timer


def changed_key(app: App[Any], name: str) -> str | None:
    """The keys that the binding with the id `name` has instead of its own: Textual can set them, and not tell them."""
    return app._keymap.get(name)


def bindings_of(node: DOMNode) -> list[Binding]:
    """All bindings of a node, also those that do nothing now: Textual tells only what is active."""
    return [binding for _, binding in node._bindings]


def key_name(sign: str) -> str:
    """Textual's name for the key of a sign: `slash` for `/`."""
    return App._normalize_keymap({"": sign})[""]


def begin_with(app: App[Any], mode: str) -> None:
    """Open another mode than the default one first. To be called before the app runs."""
    app._screen_stacks = {mode: []}
    app._current_mode = mode
