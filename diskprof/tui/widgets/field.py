"""A field to write in that lets nothing through to the terminal that is not text."""

from textual.widgets import Input

from diskprof.model.text import clean


class Field(Input):
    """An input whose value holds no control characters, however they came: typed, pasted or set (F39)."""

    def validate_value(self, value: str) -> str:
        return clean(value)
