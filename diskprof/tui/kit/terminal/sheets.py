"""Textual's style sheets, each parsed once: Textual parses all of them anew for every screen that brings one more."""

from dataclasses import replace

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation


class KeptStylesheet(Stylesheet):
    """What was parsed holds until a variable of the theme changes."""

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
