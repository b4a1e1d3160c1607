"""Frozen values that are quickly made: what `dataclasses.dataclass(frozen=True, slots=True)` makes, in a fifth of the time.

The standard library compiles six functions for every frozen class, which takes the better part of a millisecond, and the first
picture of the screen needs some fifty such classes. Here one function is compiled, `__init__`; the others are closures.
All else is the standard library's: fields, defaults, slots, `replace`, `asdict`, `match`. Type checkers are shown its decorator.
"""

import dataclasses
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool = False) -> Callable[[type], type]:
        """The decorator of a class of values. Raises TypeError for one that is not frozen, or inherits fields."""
        if not frozen:
            raise TypeError("values are frozen: use dataclasses.dataclass for what is not")
        return _sliced if slots else _whole

    def _sliced(cls: type) -> type:
        return _finished(cls, slots=True)

    def _whole(cls: type) -> type:
        return _finished(cls, slots=False)


@dataclasses.dataclass(frozen=True)
class _Frozen:
    """For what a frozen class tells of itself."""


_PARAMS = _Frozen.__dataclass_params__  # type: ignore[attr-defined]


def _finished(cls: type, *, slots: bool) -> type:
    if any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:]):
        raise TypeError(f"{cls.__name__} inherits fields: use dataclasses.dataclass")
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    made.__dataclass_params__ = _PARAMS
    fields = dataclasses.fields(made)
    methods = {"__init__": _init(made, fields), **_shown(fields), **_compared(fields), **_stored(fields), **_GUARDS}
    for name, method in methods.items():
        if name not in made.__dict__:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _init(cls: type, fields: Sequence[dataclasses.Field[Any]]) -> Callable[..., None]:
    known: dict[str, Any] = {"_set": object.__setattr__, "_unset": dataclasses.MISSING}
    heads, body = ["self"], [""]
    for field in fields:
        name = value = field.name
        if field.default is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default
            heads.append(f"{name}=_of_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default_factory
            heads.append(f"{name}=_unset")
            value = f"_of_{name}() if {name} is _unset else {name}"
        else:
            heads.append(name)
        body.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    exec(f"def __init__({', '.join(heads)}):" + ("\n ".join(body) or " pass"), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _shown(fields: Sequence[dataclasses.Field[Any]]) -> dict[str, Callable[..., Any]]:
    names = [field.name for field in fields if field.repr]

    def text(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return {"__repr__": text}


def _compared(fields: Sequence[dataclasses.Field[Any]]) -> dict[str, Callable[..., Any]]:
    values = _getter([field.name for field in fields if field.compare])

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed}


def _stored(fields: Sequence[dataclasses.Field[Any]]) -> dict[str, Callable[..., Any]]:
    """What pickle and copy need where nothing can be set."""
    names = [field.name for field in fields]
    values = _getter(names)

    def state(self: Any) -> tuple[Any, ...]:
        return values(self)

    def restore(self: Any, state: tuple[Any, ...]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": state, "__setstate__": restore}


def _getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    # attrgetter makes a tuple of two and more only.
    return attrgetter(*names) if len(names) > 1 else lambda self: tuple(getattr(self, name) for name in names)


def _no_setting(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _no_deleting(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


_GUARDS = {"__setattr__": _no_setting, "__delattr__": _no_deleting}
