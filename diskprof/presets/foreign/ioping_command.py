"""An ioping command line -> a preset."""

from collections.abc import Iterator, Mapping, Sequence

from diskprof.model.errors import PresetError
from diskprof.model.job import ioping_job
from diskprof.model.preset import Category, EngineName, Job, Parameter, ParameterKind, Preset, Test
from diskprof.model.text import clean
from diskprof.model.title import title_of
from diskprof.presets.foreign.imported import ImportedPreset, preset_name
from diskprof.presets.options.allowed import IOPING_OPTIONS, check_option
from diskprof.presets.options.values import OptionKind
from diskprof.presets.resolve import check_together

_LONG = {spec.flag.lstrip("-"): name for name, spec in IOPING_OPTIONS.items()}
_OTHERS: Mapping[str, str] = {
    "B": "batch", "J": "json", "q": "quiet", "I": "time", "p": "print-count", "P": "print-interval",
    "W": "write", "G": "read-write", "k": "keep", "H": "hipri", "t": "min-time", "T": "max-time", "h": "help", "v": "version",
}  # fmt: skip
_DROPPED = frozenset({"batch", "json", "quiet", "time", "print-count", "print-interval"})
_WITH_VALUE = frozenset({"print-count", "print-interval", "min-time", "max-time"})
_REFUSED: Mapping[str, str] = {
    "write": "it writes, and on a device over whatever is there",
    "read-write": "it writes, and on a device over whatever is there",
    "keep": "it leaves a file behind, and follows a link of its name",
    "hipri": "a preset cannot ask for high priority",
    "min-time": "requests would be missing in the result",
    "max-time": "requests would be missing in the result",
    "help": "it is no test",
    "version": "it is no test",
}
_PARAMETERS: Mapping[str, tuple[str, ParameterKind, str]] = {
    "count": ("count", ParameterKind.COUNT, "number of requests"),
    "interval": ("interval", ParameterKind.DURATION, "time from one request to the next"),
    "work-time": ("runtime", ParameterKind.DURATION, "time to measure"),
    "work-size": ("size", ParameterKind.SIZE, "part of the target that is read"),
}


def import_ioping(words: Sequence[str], *, name: str, source: str) -> ImportedPreset:
    """The preset that the words behind `ioping` make. Raises PresetError."""
    options: dict[str, str] = {}
    checked: dict[str, str] = {}
    notes: list[str] = []
    for option, value in _options(words, notes):
        shown = clean(f"-{option}" if value is None else f"-{option} {value[:60]}")
        if option in _DROPPED:
            notes.append(f"{shown} is left out: it is about what ioping prints; diskprof shows its own figures.")
        elif option in _REFUSED:
            raise PresetError(f"ioping {shown} is refused: {_REFUSED[option]}.")
        elif option not in IOPING_OPTIONS:
            raise PresetError(f"{clean(option[:40])!r} is not an ioping option.", "`ioping -h` lists them.")
        else:
            checked[option] = check_option(EngineName.IOPING, option, value or "1")
            options[option] = value or "1"
    if not {"count", "work-time", "rapid"} & options.keys():
        raise PresetError("This ioping command would never end.", "Give it -c COUNT or -w TIME.")
    job = ioping_job(checked.items())
    check_together(job)
    parameters = []
    for option, (parameter, kind, summary) in _PARAMETERS.items():
        if option in options:
            parameters.append(Parameter(parameter, kind, options[option], summary))
            options[option] = f"${parameter}"
    test = Test("ioping", "", EngineName.IOPING, (Job("ioping", tuple(options.items())),))
    preset = Preset(
        name=preset_name(name or "ioping"),
        title=title_of([job]),
        summary="An ioping command.",
        category=Category.OWN,
        source=source,
        parameters=tuple(parameters),
        tests=(test,),
        shipped=False,
    )
    return ImportedPreset(preset, tuple(dict.fromkeys(notes)))


def _options(words: Sequence[str], notes: list[str]) -> Iterator[tuple[str, str | None]]:
    """Long names and values, of `-RD -c 10`, `-c10`, `-count 10` and `--count=10` alike."""
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if not word.startswith("-") or word == "-":
            notes.append(f"{clean(word[:60])} is left out: the target is chosen at run time.")
            continue
        body, equals, given = word.lstrip("-").partition("=")
        if body in IOPING_OPTIONS or body in _OTHERS.values():
            value = given if equals else rest.pop() if _takes_value(body) and rest else None
            yield _valued(body, value)
            continue
        cluster = word.lstrip("-")
        while cluster:
            letter, cluster = cluster[0], cluster[1:]
            long = _LONG.get(letter) or _OTHERS.get(letter)
            if not long:
                raise PresetError(f"{clean(word[:40])!r} is not an ioping option.", "`ioping -h` lists them.")
            value = None
            if _takes_value(long):
                value, cluster = cluster or (rest.pop() if rest else None), ""
            yield _valued(long, value)


def _takes_value(option: str) -> bool:
    spec = IOPING_OPTIONS.get(option)
    return spec.kind is not OptionKind.BOOLEAN if spec else option in _WITH_VALUE


def _valued(option: str, value: str | None) -> tuple[str, str | None]:
    if _takes_value(option) and not value:
        raise PresetError(f"ioping's {option} needs a value.")
    if value and value != clean(value):
        raise PresetError(f"ioping's {option} contains a control character: {clean(value[:60])!r}.")
    return option, value
