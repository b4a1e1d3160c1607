"""Frozen values that are quickly made: what `dataclasses.dataclass(frozen=True, slots=True)` makes, once it is needed.

The standard library compiles six functions for every frozen class, which takes the better part of a millisecond. Before its
first picture the screen imports some sixty such classes and makes values of ten. So a class gets its fields and methods when the
first of them is asked for; one function is compiled, `__init__`, and the others are closures. All else is the standard
library's: fields, defaults, slots, `replace`, `asdict`, `match`. Type checkers are shown its decorator.
"""

import dataclasses
from collections.abc import Callable, Sequence
from inspect import get_annotations
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool = False) -> Callable[[type], type]:
        """The decorator of a class of values, whose fields are those of its constructor.

        Raises TypeError for a class that is not frozen, or inherits fields; with its first value, for ClassVar, InitVar and
        fields that the constructor does not take.
        """
        if not frozen:
            raise TypeError("values are frozen: use dataclasses.dataclass for what is not")
        return _sliced if slots else _whole

    def _sliced(cls: type) -> type:
        _refuse_derived(cls)
        names, own = _written(cls)
        left_out = {*names, "__dict__", "__weakref__"}
        kept = {name: value for name, value in cls.__dict__.items() if name not in left_out}
        # Slots are given to a class when it is made, so it is made again.
        made = {**_later(_SLICED, names, own), **kept, "__slots__": names, "__qualname__": cls.__qualname__}
        return type(cls)(cls.__name__, cls.__bases__, made)

    def _whole(cls: type) -> type:
        _refuse_derived(cls)
        for name, value in _later(_WHOLE, *_written(cls)).items():
            if name not in cls.__dict__:
                setattr(cls, name, value)
        return cls


_FIELDS = "__dataclass_fields__"


class _Later:
    """Stands in a class for what it gets with its first value, and puts it there when somebody asks for it."""

    __slots__ = ("_name", "_own")

    def __init__(self, name: str, own: dict[str, Any]) -> None:
        self._name, self._own = name, own

    def __get__(self, value: object, cls: type) -> Any:
        owner = next((base for base in cls.__mro__ if base.__dict__.get(self._name) is self), None)
        # Otherwise another thread has finished it meanwhile.
        if owner is not None:
            _finish(owner, self._own)
        return getattr(cls if value is None else value, self._name)


def _refuse_derived(cls: type) -> None:
    if any(_FIELDS in base.__dict__ for base in cls.__mro__[1:]):
        raise TypeError(f"{cls.__name__} inherits fields: use dataclasses.dataclass")


def _written(cls: type) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The names of the fields, and what the standard library looks at to make them."""
    annotations = get_annotations(cls)
    defaults = {name: cls.__dict__[name] for name in annotations if name in cls.__dict__}
    return tuple(annotations), {"__annotations__": annotations, **defaults}


def _later(made: Sequence[str], names: tuple[str, ...], own: dict[str, Any]) -> dict[str, Any]:
    return {name: _Later(name, own) for name in made} | {
        "__match_args__": names,
        "__setattr__": _no_setting,
        "__delattr__": _no_deleting,
    }


def _finish(cls: type, own: dict[str, Any]) -> None:
    # By the standard library's rules, on a class that has nothing but what they look at, and a text, or they would write one.
    plain = type(cls.__name__, (), {"__module__": cls.__module__, "__doc__": cls.__name__, **own})
    known: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(plain)
    params, fields = known.__dataclass_params__, dataclasses.fields(known)
    params.init = params.repr = params.eq = params.frozen = True
    if [field.name for field in fields if field.init] != list(own["__annotations__"]):
        raise TypeError(f"{cls.__name__} has more than plain fields: use dataclasses.dataclass")
    made = {
        _FIELDS: known.__dataclass_fields__,
        "__dataclass_params__": params,
        "__init__": _init(cls, fields),
        **_shown(fields),
        **_compared(fields),
        **_stored(fields),
    }
    for name, value in made.items():
        if isinstance(cls.__dict__.get(name), _Later):
            setattr(cls, name, value)


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


_WHOLE = (_FIELDS, "__dataclass_params__", "__init__", "__repr__", "__eq__", "__hash__")
_SLICED = (*_WHOLE, "__getstate__", "__setstate__")
