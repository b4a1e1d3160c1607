"""What a coordinator is told to do, and what it answers."""

import json

from msgspec import Struct

from diskprof.fleet.follow.messages import read
from diskprof.model.fleet import FleetEngine, NewFleet
from diskprof.model.plan import Plan
from diskprof.model.run import FleetStage
from diskprof.store.codec import to_json


class MemberPlan(Struct, frozen=True):
    """What a member does, and the words that start diskprof on its host. Without a plan it is left out, for a `reason`."""

    plan: Plan | None
    program: tuple[str, ...] = ()
    reason: str = ""


class FleetOrder(Struct, frozen=True):
    """A fleet run: its members with a plan each, in the order of `new.members`; `store` is where all is written down.

    `skip_unready`: what cannot start is left out; without it nothing starts. Each of `stages` is a run of every member, in each
    repeat.
    """

    new: NewFleet
    plans: tuple[MemberPlan, ...]
    store: str
    tags: tuple[str, ...] = ()
    note: str = ""
    concurrent: bool = False
    skip_unready: bool = False
    stages: tuple[FleetStage, ...] = (FleetStage.TOGETHER,)

    @property
    def served(self) -> bool:
        """Whether fio's client here measures, with fio's servers there."""
        return self.new.engine is FleetEngine.FIO_SERVER


def order_json(order: FleetOrder) -> bytes:
    return to_json(order).encode()


def read_order(data: bytes) -> FleetOrder:
    """The inverse of `order_json`. Raises ValueError."""
    return read(FleetOrder, json.loads(data))
