"""What speaks against members before anything starts, beyond each host's own plan."""

from diskprof.fleet.planning import Prospect, _each_once
from diskprof.model.errors import UsageError
from diskprof.model.fleet import FleetMember


def test_a_host_with_two_names_is_told() -> None:
    hosts = [FleetMember(host, "/srv") for host in ("db1", "db2", None, "db1.example")]
    homes = dict(zip(hosts, ("machine 8:1", "machine 8:2", "machine 8:1", "machine 8:1"), strict=True))
    errors = [each.error for each in _each_once([Prospect(member, ()) for member in hosts], homes)]
    assert errors[:3] == [None] * 3
    assert isinstance(errors[3], UsageError) and "same host as db1:/srv" in errors[3].message
