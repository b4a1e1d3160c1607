"""The title of a part of the screen, at the beginning of a rule."""

from diskprof.tui.kit.painted import Line, OneLine, titled, width_of

_RULE = 3
"""Cells of a rule between a title and a note, with the blanks beside it."""


class PaneHeading(OneLine):
    """Stands above a pane, and is bright while that one has the keys; without a pane it always is.

    The pieces of `title` in the ink "title" are what is bright.
    """

    DEFAULT_CSS = """
    PaneHeading { padding: 0 1; }
    """

    def __init__(self, pane: str = "", *, id: str | None = None) -> None:
        """`pane` is the id of a widget that can have the focus."""
        super().__init__(id=id)
        self._pane = pane
        self._title: Line = ()
        self._note: Line = ()

    def on_mount(self) -> None:
        if self._pane:
            self.watch(self.screen, "focused", self._draw, init=False)

    def on_resize(self) -> None:
        self._draw()

    def tell(self, title: Line, note: Line = ()) -> None:
        """Show `title`, with `note` at the right end where it has room."""
        self._title, self._note = title, note
        self._draw()

    def _draw(self) -> None:
        focused = self.screen.focused
        lit = not self._pane or (focused is not None and focused.id == self._pane)
        title = [(text, "quiet" if ink == "title" and not lit else ink) for text, ink in self._title]
        width = self.size.width
        fits = width_of(title) + width_of(self._note) + _RULE <= width
        self.put_line(titled(title, self._note if fits else (), width))
