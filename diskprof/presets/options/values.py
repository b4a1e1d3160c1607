"""What an option's value may be, and its one normal form."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum

from msgspec import Struct, field

from diskprof.model.errors import PresetError
from diskprof.model.units import format_duration, format_size, parse_duration, parse_size

LONGEST_VALUE = 200
"""Characters. Nothing sensible is longer, and Python refuses to read numbers of thousands of digits."""


class OptionKind(StrEnum):
    """How an option's value is read. MICROSECONDS: a duration that the engine takes in us when it has no unit."""

    SIZE = "size"
    SIZE_RANGE = "size range"
    SIZE_SPLIT = "size mix"
    DURATION = "duration"
    MICROSECONDS = "microseconds"
    COUNT = "number"
    REAL = "decimal"
    BOOLEAN = "0 or 1"
    CHOICE = "choice"
    DISTRIBUTION = "distribution"
    FILE_ORDER = "order of files"


class OptionSpec(Struct, frozen=True):
    """`minimum` and `maximum` are in bytes, seconds, microseconds or plain numbers, by kind. `aliases` are other spellings of the
    choices; `each_way`: reads and writes may have a value each, as 700,300, or one of them alone, as ,300; `percent`: a size
    may be a part of the target, as 80%; `flag` is ioping's short option."""

    kind: OptionKind
    summary: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    aliases: Mapping[str, str] = field(default_factory=dict)
    each_way: bool = False
    percent: bool = False
    flag: str = ""


_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_PERCENT = re.compile(r"0*([1-9]\d?|100)%", re.ASCII)
_DECIMAL = re.compile(r"\d+(\.\d+)?", re.ASCII)
_NUMBER_AND_UNIT = re.compile(r"\d+(\.\d+)?", re.ASCII)
_SPLIT_PART = re.compile(r"([^/:]+)/(\d{1,3})", re.ASCII)
_DISTRIBUTION = re.compile(r"(zipf|pareto|normal):(\d+(?:\.\d+)?)(?::(\d+(?:\.\d+)?))?", re.ASCII)
_FILE_ORDER = re.compile(r"(?:random|roundrobin|sequential)(?::[1-9]\d{0,8})?", re.ASCII)
_ZONE = re.compile(r"(\d{1,3})/(\d{0,3})", re.ASCII)
_DISTRIBUTION_RANGE = {"zipf": (0.01, 10.0), "pareto": (0.01, 0.99), "normal": (0.01, 100.0)}


def read_value(spec: OptionSpec, name: str, value: str) -> str:
    """The normal form of `value`. Raises PresetError, or UnitError for what is no size or duration."""
    if len(value) > LONGEST_VALUE:
        raise PresetError(f"{name} has a value of {len(value)} characters", f"At most {LONGEST_VALUE} are allowed.")
    read = _READERS[spec.kind]
    if spec.each_way and value.count(",") == 1:
        parts = [part.strip() for part in value.split(",")]
        return ",".join(part and read(spec, name, part) for part in parts) if any(parts) else ""
    return read(spec, name, value.strip())


def write_duration(seconds: float) -> str:
    """A duration as fio and ioping both read it: whole seconds, else `ms`, else `us`."""
    micros = round(seconds * 1e6)
    if micros % 1_000_000 == 0:
        return str(micros // 1_000_000)
    return f"{micros // 1000}ms" if micros % 1000 == 0 else f"{micros}us"


def describe_range(spec: OptionSpec) -> str:
    """The range or the choices of an option in words; empty where anything of the kind goes."""
    if spec.choices:
        return ", ".join(spec.choices)
    if spec.minimum is None or spec.maximum is None:
        return ""
    low, high = (_show(spec, bound) for bound in (spec.minimum, spec.maximum))
    return f"{low} to {high}"


def _show(spec: OptionSpec, bound: float) -> str:
    if spec.kind in (OptionKind.SIZE, OptionKind.SIZE_RANGE, OptionKind.SIZE_SPLIT):
        return format_size(bound + 1 if bound == 2**63 - 1 else bound)
    if spec.kind is OptionKind.DURATION:
        return format_duration(bound)
    if spec.kind is OptionKind.MICROSECONDS:
        return format_duration(bound / 1e6)
    return f"{bound:g}" if bound != int(bound) else str(int(bound))


def _within(spec: OptionSpec, name: str, value: str, number: float) -> None:
    too_small = spec.minimum is not None and number < spec.minimum
    if too_small or (spec.maximum is not None and number > spec.maximum):
        raise PresetError(
            f"{name}={value} is out of range", f"{name} lies between {describe_range(spec).replace(' to ', ' and ')}."
        )


def _size(spec: OptionSpec, name: str, value: str) -> str:
    if spec.percent and (part := _PERCENT.fullmatch(value)):
        return f"{int(part[1])}%"
    number = parse_size(value)
    _within(spec, name, value, number)
    return str(number)


def _size_range(spec: OptionSpec, name: str, value: str) -> str:
    low, dash, high = value.partition("-")
    if not dash:
        raise PresetError(f"{name}={value} is not a range of sizes", "Write it as 4k-64k.")
    sizes = [int(_size(spec, name, part)) for part in (low, high)]
    if sizes[0] > sizes[1]:
        raise PresetError(f"{name}={value} begins above its end", "Write the smaller size first.")
    return f"{sizes[0]}-{sizes[1]}"


def _size_split(spec: OptionSpec, name: str, value: str) -> str:
    parts, total = [], 0
    for part in value.split(":"):
        match = _SPLIT_PART.fullmatch(part)
        if not match:
            raise PresetError(f"{name}={value} is not a mix of sizes", "Write it as 4k/60:64k/40, in percent.")
        parts.append(f"{_size(spec, name, match[1])}/{int(match[2])}")
        total += int(match[2])
    if total != 100:
        raise PresetError(f"{name}={value} adds up to {total} percent", "The shares must add up to 100.")
    return ":".join(parts)


def _duration(spec: OptionSpec, name: str, value: str) -> str:
    seconds = parse_duration(value)
    _within(spec, name, value, seconds)
    return write_duration(seconds)


def _microseconds(spec: OptionSpec, name: str, value: str) -> str:
    micros = float(value) if _NUMBER_AND_UNIT.fullmatch(value) else parse_duration(value) * 1e6
    _within(spec, name, value, micros)
    return str(round(micros))


def _count(spec: OptionSpec, name: str, value: str) -> str:
    if not _WHOLE.fullmatch(value):
        raise PresetError(
            f"{name}={value} is not a whole number",
            f"{name} lies between {describe_range(spec)}.".replace(" to ", " and "),
        )
    _within(spec, name, value, int(value))
    return str(int(value))


def _real(spec: OptionSpec, name: str, value: str) -> str:
    if not _DECIMAL.fullmatch(value):
        raise PresetError(f"{name}={value} is not a number")
    _within(spec, name, value, float(value))
    return value


def _boolean(spec: OptionSpec, name: str, value: str) -> str:
    if value.lower() in _TRUE:
        return "1"
    if value.lower() in _FALSE:
        return "0"
    raise PresetError(f"{name}={value} is neither on nor off", "Write true or false.")


def _choice(spec: OptionSpec, name: str, value: str) -> str:
    chosen = spec.aliases.get(value, value)
    if chosen not in spec.choices:
        raise PresetError(f"{name}={value} is not an allowed value", f"Choose from {', '.join(spec.choices)}.")
    return chosen


def _distribution(spec: OptionSpec, name: str, value: str) -> str:
    if value == "random":
        return value
    kind, _, zones = value.partition(":")
    if kind == "zoned":
        return f"{kind}:{_zones(name, zones)}"
    match = _DISTRIBUTION.fullmatch(value)
    if not match:
        raise PresetError(
            f"{name}={value} is not an allowed value",
            "Write random, zipf:1.2, pareto:0.2, normal:50 or zoned:80/20:20/80.",
        )
    low, high = _DISTRIBUTION_RANGE[match[1]]
    not_one = match[1] == "zipf"
    if not low <= float(match[2]) <= high or (match[3] and float(match[3]) > 1) or (not_one and float(match[2]) == 1):
        takes = f"{match[1]} takes a number between {low} and {high}{', but not 1' if not_one else ''}."
        raise PresetError(
            f"{name}={value} is out of range", f"{takes} A center behind it is at most 1." if match[3] else takes
        )
    return value


def _file_order(spec: OptionSpec, name: str, value: str) -> str:
    if _FILE_ORDER.fullmatch(value):
        return value
    if value.partition(":")[0] not in _DISTRIBUTION_RANGE:
        raise PresetError(
            f"{name}={value} is not an allowed value",
            "Write random, roundrobin or sequential, with the I/Os on a file as random:8, or zipf:1.2, pareto:0.2 or normal:50.",
        )
    return _distribution(spec, name, value)


def _zones(name: str, value: str) -> str:
    """Zones, each the percentage of the I/Os that it gets and its percentage of the size; one without a size has what is left."""
    parts = [_ZONE.fullmatch(part) for part in value.split(":")]
    found = [(int(part[1]), int(part[2] or 0)) for part in parts if part]
    if len(found) < len(parts):
        raise PresetError(f"{name}=zoned:{value} is not a list of zones", "Write I/Os and size as zoned:80/20:20/80.")
    sizes = [size for _, size in found]
    if sizes.count(0) == 1:
        sizes[sizes.index(0)] = 100 - sum(sizes)
    if sum(share for share, _ in found) != 100 or sum(sizes) != 100 or min(sizes) <= 0:
        raise PresetError(
            f"{name}=zoned:{value} does not add up", "The shares of the I/Os must add up to 100, those of the size too."
        )
    return ":".join(f"{share}/{size}" for (share, _), size in zip(found, sizes, strict=True))


_READERS: Mapping[OptionKind, Callable[[OptionSpec, str, str], str]] = {
    OptionKind.SIZE: _size,
    OptionKind.SIZE_RANGE: _size_range,
    OptionKind.SIZE_SPLIT: _size_split,
    OptionKind.DURATION: _duration,
    OptionKind.MICROSECONDS: _microseconds,
    OptionKind.COUNT: _count,
    OptionKind.REAL: _real,
    OptionKind.BOOLEAN: _boolean,
    OptionKind.CHOICE: _choice,
    OptionKind.DISTRIBUTION: _distribution,
    OptionKind.FILE_ORDER: _file_order,
}
