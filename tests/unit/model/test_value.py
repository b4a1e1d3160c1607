"""The values of the model against the standard library's frozen dataclasses: the same to whoever uses them."""

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

import diskprof
from diskprof.model import value


def _make(decorator: Callable[..., Any], *, slots: bool = True) -> Any:
    @decorator(frozen=True, slots=slots)
    class Point:
        """A point."""

        x: int
        y: float = 2.0
        marks: list[str] = dataclasses.field(default_factory=list)
        note: str | None = dataclasses.field(default=None, compare=False, repr=False)

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("below zero")

        @property
        def total(self) -> float:
            return self.x + self.y

    return Point


def _empty(decorator: Callable[..., Any]) -> Any:
    @decorator(frozen=True, slots=True)
    class Nothing:
        """No field."""

    return Nothing


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    x: int
    y: tuple[int, ...] = ()


# What type checkers take for the standard library's decorator is not, here.
@value.dataclass(frozen=True, slots=True)
class Ours:
    x: int
    y: tuple[int, ...] = ()


@value.dataclass(frozen=True, slots=True)
class Hashed:
    x: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hashed)

    def __hash__(self) -> int:
        return 7


@pytest.fixture(params=[dataclasses.dataclass, value.dataclass], ids=["dataclasses", "ours"])
def made(request: pytest.FixtureRequest) -> Any:
    """Each of the two: what holds for the one must hold for the other."""
    return _make(request.param)


def test_they_are_two() -> None:
    assert value.dataclass is not dataclasses.dataclass  # type: ignore[comparison-overlap]


def test_made_by_place_or_by_name_with_defaults(made: Any) -> None:
    point = made(1, y=3.5)
    assert (point.x, point.y, point.marks, point.note) == (1, 3.5, [], None)
    assert made(1).marks is not made(1).marks
    assert made(1, 2.0, ["a"], "n").marks == ["a"]
    assert point.total == 4.5
    for wrong in (lambda: made(), lambda: made(1, z=2), lambda: made(1, 2, [], None, 5)):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError, match="below zero"):
        made(-1)


def test_nothing_can_be_set_or_deleted(made: Any) -> None:
    point = made(1)
    for change in (lambda: setattr(point, "x", 2), lambda: setattr(point, "other", 2), lambda: delattr(point, "x")):
        # The standard library's slots let no other name be set either, by another exception.
        with pytest.raises((dataclasses.FrozenInstanceError, TypeError)):
            change()
    assert point.x == 1


def test_equal_by_value_and_kind(made: Any) -> None:
    assert made(1) == made(1, 2.0, [], "not compared")
    assert made(1) != made(2)
    assert made(1) != (1, 2.0, [])
    assert repr(made(1, note="not shown")).endswith("Point(x=1, y=2.0, marks=[])")


def test_the_standard_librarys_functions_know_them(made: Any) -> None:
    assert [field.name for field in dataclasses.fields(made)] == ["x", "y", "marks", "note"]
    assert dataclasses.replace(made(1), y=9.0) == made(1, 9.0)
    assert dataclasses.asdict(made(1)) == {"x": 1, "y": 2.0, "marks": [], "note": None}
    assert made.__match_args__ == ("x", "y", "marks", "note")
    assert made.__slots__ == ("x", "y", "marks", "note")
    assert made.__dataclass_params__.frozen
    assert list(inspect.signature(made).parameters) == ["x", "y", "marks", "note"]
    assert made.__doc__ == "A point."
    match made(1):
        case made(x, y):
            assert (x, y) == (1, 2.0)
        case _:
            pytest.fail("it matched nothing")


@pytest.mark.parametrize("kind", [Theirs, Ours])
def test_they_can_be_keys_and_travel(kind: Any) -> None:
    one, same = kind(1, (2, 3)), kind(1, (2, 3))
    assert hash(one) == hash(same)
    assert {one: "found"}[same] == "found"
    assert pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one) == one
    assert copy.copy(one) == one
    if sys.version_info >= (3, 13):
        assert copy.replace(one, x=4) == kind(4, (2, 3))


@pytest.mark.parametrize("decorator", [dataclasses.dataclass, value.dataclass])
def test_without_fields(decorator: Callable[..., Any]) -> None:
    nothing = _empty(decorator)
    assert nothing() == nothing()
    assert hash(nothing()) == hash(nothing())
    assert repr(nothing()).endswith("Nothing()")


@pytest.mark.parametrize("decorator", [dataclasses.dataclass, value.dataclass])
def test_without_slots_more_can_be_cached(decorator: Callable[..., Any]) -> None:
    point = _make(decorator, slots=False)(1)
    point.__dict__["cached"] = 5
    assert point.cached == 5
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2


def test_what_a_class_defines_itself_stays() -> None:
    assert Hashed(1) == Hashed(2)
    assert hash(Hashed(1)) == 7


def test_what_it_does_not_do_it_refuses() -> None:
    with pytest.raises(TypeError, match="frozen"):
        value.dataclass(frozen=False)

    class Derived(Ours):
        z: int = 0

    with pytest.raises(TypeError, match="inherits fields"):
        value.dataclass(frozen=True)(Derived)


def _classes() -> list[type]:
    """Every class of values that diskprof has."""
    for module in pkgutil.walk_packages(diskprof.__path__, "diskprof."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    return [
        one
        for name, module in sorted(sys.modules.items())
        if name.startswith("diskprof.")
        for one in vars(module).values()
        if isinstance(one, type) and one.__module__ == name and "__dataclass_fields__" in vars(one)
    ]


def test_a_class_is_finished_when_it_is_first_used_and_as_the_standard_library_would() -> None:
    found = _classes()
    assert len(found) > 100
    for one in found:
        names = [field.name for field in dataclasses.fields(one)]
        assert list(inspect.signature(one).parameters) == names, one
        assert set(getattr(one, "__slots__", names)) == set(names), one
        assert not any(isinstance(kept, value._Later) for kept in vars(one).values()), one


def test_until_then_nothing_is_compiled_for_it() -> None:
    later: Any = _make(value.dataclass)
    names = {name for name, kept in vars(later).items() if isinstance(kept, value._Later)}
    assert {"__init__", "__eq__", "__hash__", "__repr__", "__dataclass_fields__"} <= names
    assert later(1) == later(1)
    assert not any(isinstance(kept, value._Later) for kept in vars(later).values())


@pytest.mark.parametrize("name", ["__dataclass_fields__", "__init__", "__hash__", "__dataclass_params__"])
def test_whatever_is_asked_for_first_is_there(name: str) -> None:
    later: Any = _make(value.dataclass)
    assert getattr(later, name) is not None
    assert later(3).x == 3


def test_threads_may_finish_it_at_the_same_time() -> None:
    later: Any = _make(value.dataclass)
    held = vars(later)["__init__"]
    whole = later(1)
    # As in a thread that found it unfinished, and had to wait.
    assert held.__get__(None, later) is vars(later)["__init__"]
    held.__get__(whole, later)(5)
    assert whole.x == 5


def test_a_value_may_come_into_being_without_its_constructor() -> None:
    later: Any = _make(value.dataclass)
    raw = later.__new__(later)
    raw.__setstate__((1, 2.0, [], None))
    assert raw == later(1)


def test_what_is_no_plain_field_is_refused_with_the_first_value() -> None:
    @value.dataclass(frozen=True)
    class Shared:
        x: int
        kinds: ClassVar[int] = 3

    @value.dataclass(frozen=True)
    class Reckoned:
        x: int = dataclasses.field(init=False, default=1)

    for wrong, values in ((Shared, (1,)), (Reckoned, ())):
        with pytest.raises(TypeError, match="plain fields"):
            wrong(*values)
