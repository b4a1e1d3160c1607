"""The sections of a job file, or the jobs of a command line, with what [global] gives them by fio's rules."""

from collections.abc import Mapping
from difflib import get_close_matches

from msgspec import Struct

from diskprof.model.errors import PresetError
from diskprof.model.text import clean
from diskprof.presets.foreign.fio_rules import CLIENT_RULES, FIO_RULES, SYNONYMS
from diskprof.presets.foreign.fio_values import USUAL_BASE
from diskprof.presets.options.allowed import FIO_OPTIONS

STRUCTURE = frozenset({"stonewall", "wait_for", "name", "description", "filesize", "kb_base"})
"""Options that are neither handed to fio nor left out: they say how the others are to be read."""

_SAME_FIELD = {"buffered": "direct", "rwmixread": "rwmix", "rwmixwrite": "rwmix"}
"""Options that set the same thing: the last one counts."""

_MOST_REFUSALS = 8
_MOST_UNKNOWN = 100
_MOST_SECTIONS = 1000
_SHOWN = 60


class Setting(Struct, frozen=True):
    """One option. `name` is fio's first name for it, `written` the one that stands there; `line` is 0 on a command line."""

    name: str
    written: str
    value: str | None
    line: int
    base: int = USUAL_BASE

    def __str__(self) -> str:
        text = self.written if self.value is None else f"{self.written}={self.value.strip()}"
        return clean(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


class JobSection(Struct, frozen=True):
    """A job with all its options, those of [global] among them."""

    name: str
    line: int
    settings: Mapping[str, Setting]

    def value(self, name: str) -> str | None:
        """The value of an option, None where it has none or is not there."""
        found = self.settings.get(name)
        return found.value if found else None


class Refusals:
    """What stands in the way of an import, collected: a person wants to see all of it at once."""

    def __init__(self, label: str) -> None:
        """`label` is the file's path, or stands for a command line, which has no lines."""
        self.label = label
        self._lines: dict[tuple[int, str], None] = {}
        self._engines: dict[tuple[int, str], None] = {}
        self._unknown: dict[tuple[int, str], None] = {}

    def __bool__(self) -> bool:
        return bool(self._lines or self._engines or self._unknown)

    def where(self, line: int) -> str:
        return f"{self.label}:{line}" if line else "the command"

    def add(self, line: int, message: str, hint: str = "", *, engine: bool = False) -> None:
        """`engine`: it is the engine that cannot be used."""
        (self._engines if engine else self._lines)[line, _sentence(message, hint)] = None

    def unknown(self, line: int, message: str, hint: str = "") -> None:
        """An option that nobody knows. Raises PresetError when there are too many: this is something else."""
        self._unknown[line, _sentence(message, hint)] = None
        if len(self._unknown) > _MOST_UNKNOWN:
            self.stop_if_any()

    def stop_if_any(self) -> None:
        """Raises PresetError with all of them, or the first few."""
        # Options that diskprof does not know are those of an engine that it does not run.
        found = [*self._engines, *({} if self._engines else self._unknown), *self._lines]
        if not found:
            return
        if len(found) == 1:
            line, text = found[0]
            raise PresetError(f"{self.where(line)}: {text}", "docs/importing.md says what becomes of an option.")
        # The worst are chosen first, and told in the order in which they stand in the file.
        told = sorted(found[:_MOST_REFUSALS], key=lambda refusal: refusal[0])
        shown = [f"  line {line}: {text}" if line else f"  {text}" for line, text in told]
        shown += [f"  and {len(found) - _MOST_REFUSALS} more"] if len(found) > _MOST_REFUSALS else []
        raise PresetError("\n".join([f"{self.label} cannot be imported:", *shown]))


def _sentence(message: str, hint: str) -> str:
    return f"{message}. {hint}" if hint else message


class SectionReader:
    """Takes options in the order in which they stand, and gives each job those of the [global] sections before it.

    `sorted_first`: kb_base counts for the whole section, as in a job file, and not from its place on, as on a command line.
    """

    def __init__(self, refusals: Refusals, *, sorted_first: bool) -> None:
        self.sections: list[JobSection] = []
        self._refusals = refusals
        self.sorted_first = sorted_first
        self._globals: dict[str, Setting] = {}
        self._global_base = USUAL_BASE
        self._open: list[Setting] = []
        self._name: str | None = None
        self._line = 0

    def begin(self, name: str, line: int) -> None:
        """A section begins. fio takes every name that begins with `global` for a [global] section."""
        self.end()
        if len(self.sections) >= _MOST_SECTIONS:
            raise PresetError(f"{self._refusals.where(line)}: more than {_MOST_SECTIONS} jobs")
        self._name = None if name.startswith("global") else name
        self._line = line

    def option(self, written: str, value: str | None, line: int) -> None:
        name = SYNONYMS.get(written, written)
        if name in FIO_OPTIONS or name in FIO_RULES or name in STRUCTURE:
            self._open.append(Setting(name, written, value, line))
            return
        self._refusals.unknown(line, *_unknown(written))

    def end(self) -> None:
        """The section that is open ends, and with it what kb_base was in it."""
        base = self._global_base
        settings = {} if self._name is None else dict(self._globals)
        bases = [self._read_base(setting) for setting in self._open if setting.name == "kb_base"]
        if bases and self.sorted_first:
            base = bases[-1]
        for setting in self._open:
            if setting.name == "kb_base":
                base = base if self.sorted_first else bases.pop(0)
                continue
            key = _SAME_FIELD.get(setting.name, setting.name)
            before = settings.pop(key, None)
            value = setting.value
            if key == "filename" and before and before.value and value:
                value = f"{before.value}:{value}"  # F75
            settings[key] = Setting(setting.name, setting.written, value, setting.line, base)
        self._open = []
        if self._name is None:
            self._globals |= settings
            self._global_base = base
            return
        self.sections.append(JobSection(self._name, self._line, settings))
        self._name = None

    def _read_base(self, setting: Setting) -> int:
        if setting.value in ("1000", "1024"):
            return int(setting.value)
        self._refusals.add(setting.line, f"{setting} is neither 1000 nor 1024")
        return USUAL_BASE


def _unknown(written: str) -> tuple[str, str]:
    shown = clean(written[:_SHOWN])
    if written.startswith("-"):
        return f"{shown!r} has dashes in front", "In a job file options have none."
    if written in CLIENT_RULES:
        return f"{shown!r} is an option of a command line, not of a job", ""
    known = [*FIO_OPTIONS, *FIO_RULES, *SYNONYMS]
    close = get_close_matches(written[:_SHOWN], known, n=2)
    return (
        f"{shown!r} is not a known fio option",
        f"Did you mean {' or '.join(close)}?" if close else "",
    )
