"""What the launcher and the detached runner say to each other: an order, and the answer to it."""

import json
from typing import TypeVar

from msgspec import Struct

from diskprof.model import errors
from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError
from diskprof.model.fleet import MemberOrder
from diskprof.model.plan import Plan
from diskprof.model.run_series import Repetition
from diskprof.store.codec import checked, to_json

T = TypeVar("T")


class RunOrder(Struct, frozen=True):
    """What to run, where to write it down, under what tags and note, and whether beside others.

    Several plans, or one that is `wanted` several times, are a series. `member` is of a run of a fleet run.
    """

    plans: tuple[Plan, ...]
    store: str
    tags: tuple[str, ...]
    note: str
    concurrent: bool = False
    wanted: Repetition | None = None
    member: MemberOrder | None = None


class RunAnswer(Struct, frozen=True):
    """The id of the run or series that has begun, or what kept it from that: the error's class in model/errors.py and its words."""

    run: str = ""
    error: str = ""
    message: str = ""
    hint: str | Advice = ""


def order_json(order: RunOrder) -> bytes:
    return to_json(order).encode()


def read_order(data: bytes) -> RunOrder:
    """The inverse of `order_json`. Raises ValueError."""
    return _read(RunOrder, data)


def answer_json(answer: RunAnswer) -> bytes:
    """One line."""
    return to_json(answer).encode()


def read_answer(data: bytes) -> RunAnswer:
    """The inverse of `answer_json`. Raises ValueError."""
    return _read(RunAnswer, data)


def _read(kind: type[T], data: bytes) -> T:
    # Not msgspec's own JSON: that takes no name of a file that is no UTF-8.
    return checked(kind, json.loads(data))


def refusal(error: DiskprofError) -> RunAnswer:
    """The answer that says `error`; of a class that is not in model/errors.py it says the nearest that is."""
    known = next(kind for kind in type(error).__mro__ if kind.__module__ == errors.__name__)
    return RunAnswer(error=known.__name__, message=error.message, hint=error.hint)


def refused(answer: RunAnswer) -> DiskprofError:
    """The error that an answer says. Raises ValueError where it says none."""
    kind = getattr(errors, answer.error, None)
    if not isinstance(kind, type) or not issubclass(kind, DiskprofError):
        raise ValueError(f"no error is called {answer.error!r}")
    return kind(answer.message, answer.hint)
