"""Textual's style sheets, each parsed once: Textual parses all of them anew for every screen that brings one more."""

from textual.css.stylesheet import Stylesheet


class KeptStylesheet(Stylesheet):
    """What was parsed holds until a variable of the theme changes."""

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._variables:
            super().set_variables(variables)

    def reparse(self) -> None:
        """As Textual's: of what cannot be parsed nothing is taken over. Raises what `parse` does."""
        self.parse()
