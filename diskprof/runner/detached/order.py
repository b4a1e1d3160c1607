"""What the launcher and the detached runner say to each other: an order, and the answer to it."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from diskprof.model import errors
from diskprof.model.advice import Advice
from diskprof.model.errors import DiskprofError
from diskprof.model.plan import Plan


@dataclass(frozen=True, slots=True)
class RunOrder:
    """What to run, where to write it down, under what tags and note, and whether beside others."""

    plan: Plan
    store: str
    tags: tuple[str, ...]
    note: str
    concurrent: bool = False


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The id of the run that has begun, or the error that kept it from beginning: its class in model/errors.py and its words."""

    run: str = ""
    error: str = ""
    message: str = ""
    hint: str | Advice = ""


def order_json(order: RunOrder) -> bytes:
    return TypeAdapter(RunOrder).dump_json(order)


def read_order(data: bytes) -> RunOrder:
    """The inverse of `order_json`. Raises pydantic's ValidationError."""
    return TypeAdapter(RunOrder).validate_json(data)


def answer_json(answer: RunAnswer) -> bytes:
    """One line."""
    return TypeAdapter(RunAnswer).dump_json(answer)


def read_answer(data: bytes) -> RunAnswer:
    """The inverse of `answer_json`. Raises ValueError."""
    return TypeAdapter(RunAnswer).validate_json(data)


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
