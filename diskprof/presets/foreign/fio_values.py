"""Option values as fio itself reads them, which is not how a person would: 4KiB is 4000 bytes, 10min is 10 microseconds (F51)."""

import re
from collections.abc import Callable, Mapping

from diskprof.model.errors import PresetError
from diskprof.model.preset import EngineName
from diskprof.model.units import format_fio_size
from diskprof.presets.options.allowed import FIO_OPTIONS, check_option
from diskprof.presets.options.values import LONGEST_VALUE, OptionKind, write_duration

USUAL_BASE = 1024
"""fio's kb_base where nobody sets it: k and kb are 1024, kib is 1000 (F51)."""

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|\d{1,19})([A-Za-z]*)", re.ASCII)
_TIME = re.compile(r"(\d{1,15})(usec|us|msec|ms|s|m|h|d|)", re.ASCII | re.IGNORECASE)
_SECOND = 1_000_000
_MICROS = {"us": 1, "usec": 1, "ms": 1000, "msec": 1000, "s": _SECOND, "m": 60 * _SECOND, "h": 3600 * _SECOND}
_MICROS["d"] = 24 * _MICROS["h"]
_POWERS = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}

ZERO_IS_OFF = frozenset({"runtime", "size", "io_size", "loops", "rate", "rate_iops", "rate_min", "rate_iops_min"})
"""Options whose 0 is fio's way to say that there is none."""

DIRECTIONAL = frozenset({
    "bs", "bsrange", "bssplit", "rate", "rate_iops", "rate_min", "rate_iops_min", "percentage_random",
})  # fmt: skip
"""Options that may have a value for reads, one for writes and one for trims, with commas between them."""

_SPELLINGS: Mapping[str, Mapping[str, str]] = {
    "fallocate": {"0": "none", "1": "posix"},
    "random_distribution": {"zipf": "zipf:1.1", "pareto": "pareto:0.2"},
    "file_service_type": {"zipf": "zipf:1.1", "pareto": "pareto:0.2"},
}
"""Values that fio knows by other words, or completes."""


def read_value(name: str, text: str, rw: str, base: int = USUAL_BASE) -> str | None:
    """The value of an allowed option as a preset has it; None where it means that the option is off.

    `rw` is the pattern of the job, `base` fio's kb_base. Raises PresetError for what fio would not take, for what it
    would take for something else than it looks like, and for what a preset cannot say.
    """
    if len(text) > LONGEST_VALUE:
        raise PresetError(f"{name} has a value of {len(text)} characters", f"At most {LONGEST_VALUE} are allowed.")
    stripped = text.lstrip(" \t\v\f\r")
    if stripped != text and not stripped.isdecimal():
        # fio keeps the blank: it refuses ` randread`, and takes ` 8k` for 8.
        raise PresetError(f"{name}={text} has a blank behind the =", f"fio does not skip it: write {name}={stripped}.")
    if stripped.startswith("("):
        raise PresetError(f"{name}={text} is arithmetic", "Write the number that comes out.")
    if name not in DIRECTIONAL:
        return _read_one(name, stripped, base)
    if not stripped.strip(","):
        raise PresetError(f"{name}={text} has no value", f"fio needs one: {name}=...")
    parts = [_read_one(name, part, base) if part else "" for part in stripped.split(",")]
    return _by_direction(name, text, parts, rw)


def _by_direction(name: str, text: str, parts: list[str | None], rw: str) -> str | None:
    """The part that counts in a job of that pattern; both where it reads and writes."""
    if len(parts) > 3:
        raise PresetError(f"{name}={text} has {len(parts)} parts", "fio knows one each for reads, writes and trims.")
    reads, writes = (parts * 2)[:2] if len(parts) == 1 else parts[:2]
    if rw in ("rw", "randrw"):
        if reads == writes:
            return reads or None
        if not FIO_OPTIONS[name].each_way:
            raise PresetError(
                f"{name}={text} differs for reads and writes", "A preset cannot say that: give both the same."
            )
        return f"{reads or ''},{writes or ''}"
    return (writes if "write" in rw else reads) or None


def _read_one(name: str, text: str, base: int) -> str | None:
    spec = FIO_OPTIONS[name]
    value = _READERS[spec.kind](name, _SPELLINGS.get(name, {}).get(text, text), base)
    if name in ZERO_IS_OFF and value in ("0", "0s"):
        return None
    checked = check_option(EngineName.FIO, name, value)
    return checked if spec.kind is OptionKind.CHOICE else value


def number(name: str, text: str, base: int = USUAL_BASE) -> int:
    """A number with fio's suffixes. Raises PresetError."""
    match = _NUMBER.fullmatch(text)
    if not match:
        if text.endswith("%"):
            raise PresetError(f"{name}={text} depends on the target", "Write a size, such as 1g.")
        raise PresetError(
            f"{name}={text} is not a number that fio reads", "Write digits, and k, m, g or t behind them."
        )
    digits, suffix = match[1], match[2].lower()
    if digits[:2] in ("0x", "0X"):
        if suffix:
            raise PresetError(f"{name}={text} has a unit behind a hexadecimal number", "fio ignores it: leave it out.")
        return int(digits, 16)
    if suffix in _POWERS:
        return _times(digits, base, _POWERS[suffix])
    unit, rest = suffix[0], suffix[1:]
    if unit in "kmgtp" and rest in ("b", "i", "ib"):
        # The other way round than one would think (F51): with a base of 1024 it is kib that means 1000.
        return _times(digits, 2024 - base if rest == "ib" else base, _POWERS[unit])
    raise PresetError(f"{name}={text} has a unit that fio does not know", "fio knows k, m, g, t and p.")


def _times(digits: str, base: int, power: int) -> int:
    return int(digits) * int(base**power)


def microseconds(name: str, text: str, *, unit: str) -> int:
    """A time in microseconds; `unit` is what fio takes a bare number for. Raises PresetError."""
    match = _TIME.fullmatch(text)
    if not match:
        raise PresetError(
            f"{name}={text} is not a time that a preset takes",
            "Write whole numbers with us, ms, s, m, h or d, such as 30s.",
        )
    return int(match[1]) * _MICROS[match[2].lower() or unit]


def _size(name: str, text: str, base: int) -> str:
    if FIO_OPTIONS[name].percent and text.endswith("%"):
        return text
    return format_fio_size(number(name, text, base))


def _count(name: str, text: str, base: int) -> str:
    if text.endswith("%"):
        # fio makes -71 of 70%.
        raise PresetError(f"{name}={text} has a unit that fio does not know", "Leave the percent sign out.")
    return str(number(name, text, base))


def _duration(name: str, text: str, base: int) -> str:
    return _with_unit(microseconds(name, text, unit="s"))


def _short_duration(name: str, text: str, base: int) -> str:
    return _with_unit(microseconds(name, text, unit="us"))


def _with_unit(micros: int) -> str:
    written = write_duration(micros / 1e6)
    return written if written.endswith("s") else f"{written}s"


def _boolean(name: str, text: str, base: int) -> str:
    if text not in ("0", "1"):
        raise PresetError(f"{name}={text} is neither 0 nor 1", "fio knows no other words for on and off.")
    return text


def _range(name: str, text: str, base: int) -> str:
    ends = re.split("[-:]", text)
    if len(ends) != 2:
        raise PresetError(f"{name}={text} is not a range of sizes", "Write it as 4k-64k.")
    # fio swaps the ends where they stand the wrong way round.
    low, high = sorted(number(name, end, base) for end in ends)
    return f"{format_fio_size(low)}-{format_fio_size(high)}"


def _split(name: str, text: str, base: int) -> str:
    sizes = [part.partition("/") for part in text.split(":")]
    shares = [share.strip() for _, _, share in sizes]
    if any(share and not re.fullmatch(r"\d{1,3}", share, re.ASCII) for share in shares):
        raise PresetError(f"{name}={text} is not a mix of sizes", "Write it as 4k/60:64k/40, in percent.")
    rest, open_shares = 100 - sum(int(share) for share in shares if share), shares.count("")
    # Sizes without a share get equal parts of what is left.
    if open_shares and (rest < 0 or rest % open_shares):
        raise PresetError(f"{name}={text} has shares that are not whole percents", "Write the share of every size.")
    return ":".join(
        f"{format_fio_size(number(name, size, base))}/{share or rest // open_shares}"
        for (size, _, _), share in zip(sizes, shares, strict=True)
    )


def _as_written(name: str, text: str, base: int) -> str:
    return text


_READERS: Mapping[OptionKind, Callable[[str, str, int], str]] = {
    OptionKind.SIZE: _size,
    OptionKind.SIZE_RANGE: _range,
    OptionKind.SIZE_SPLIT: _split,
    OptionKind.DURATION: _duration,
    OptionKind.MICROSECONDS: _short_duration,
    OptionKind.COUNT: _count,
    OptionKind.REAL: _as_written,
    OptionKind.BOOLEAN: _boolean,
    OptionKind.CHOICE: _as_written,
    OptionKind.DISTRIBUTION: _as_written,
    OptionKind.FILE_ORDER: _as_written,
}
