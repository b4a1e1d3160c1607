"""What a detached runner is told to do: a plan, where to write it down, under what tags and note, beside whom."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from diskprof.model.plan import Plan


@dataclass(frozen=True, slots=True)
class Order:
    plan: Plan
    store: str
    tags: tuple[str, ...]
    note: str
    concurrent: bool = False


def order_json(order: Order) -> str:
    return TypeAdapter(Order).dump_json(order).decode()


def read_order(data: bytes) -> Order:
    """The inverse of `order_json`. Raises pydantic's ValidationError."""
    return TypeAdapter(Order).validate_json(data)
