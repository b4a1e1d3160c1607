"""A member whose host is away: it is asked again until it is back, or its time is over."""

import time
from collections.abc import Sequence

import pytest
from recorded import make_plan

from diskprof.fleet import member as module
from diskprof.fleet.connection import HostUnreachable
from diskprof.fleet.link import Link
from diskprof.fleet.member import Member
from diskprof.fleet.order import FleetOrder, MemberPlan
from diskprof.model.fleet import FleetMember, MemberState, MemberStatus, NewFleet
from diskprof.store import Store


async def test_a_host_that_refuses_is_asked_again_until_its_time_is_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),))
    order = FleetOrder(new, (MemberPlan(make_plan(), ("diskprof",)),), str(store.path))
    fleet_id = store.fleets.create(new)
    lost = Member(store, order, fleet_id, 0)
    lost.status = MemberStatus(MemberState.RUNNING, run_id="abcdefgh")
    lost.until(time.monotonic() + 60)
    asked = list[str | None]()

    async def refuse(host: str | None, argv: Sequence[str], path: str | None) -> Link:
        asked.append(host)
        if len(asked) == 3:
            lost.until(0.0)
        raise HostUnreachable("Connection refused.")

    monkeypatch.setattr(Link, "open", refuse)
    monkeypatch.setattr(module, "_AGAIN_S", 0.0)
    await lost.follow()
    assert asked == ["web1"] * 3
    assert lost.outcome is None
    status = store.fleet_run(fleet_id).statuses[0]
    assert (status.state, status.reason) == (MemberState.LOST, "Connection refused.")
