"""What an agent tells of a run, written down elsewhere: all of it, in whatever pieces, and whole at the end."""

import base64
import json
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from recorded import record_run, recording

from diskprof.fleet.follow import agent
from diskprof.fleet.follow.agent import Agent
from diskprof.fleet.follow.messages import (
    AskClock,
    ExportPiece,
    ExportRun,
    Follow,
    Hello,
    MakePlan,
    error_of,
    read,
    read_news,
    request_line,
)
from diskprof.fleet.follow.replica import Replica
from diskprof.model.errors import DiskprofError, StoreError, UsageError
from diskprof.model.fleet import FleetMember, NewFleet
from diskprof.model.run import FleetPlace, Status
from diskprof.presets.library import load_library
from diskprof.store import Store, this_process
from diskprof.store.exchange import transfer
from diskprof.store.exchange.runfile import COLUMNS
from diskprof.store.exchange.runfile_values import BadFile


class Host:
    """A host with a store of its own and an agent."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, list[bytes]()
        self.store = Store.open(path)
        self.restart()

    def restart(self) -> None:
        self.lines.clear()
        self.agent = Agent(self.lines.append)
        self.agent.hear(request_line(1, Hello(str(self.path))))
        self.lines.clear()

    def look(self, replica: Replica) -> None:
        """What there is to tell, told."""
        self.agent.look()
        for line in self.lines:
            if line.startswith(b'{"news"'):
                replica.add(read_news(json.loads(line)))
        self.lines.clear()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path / "there.db")


def test_a_run_is_written_down_as_it_grows_also_over_a_new_connection(host: Host, store: Store) -> None:
    fleet_id = store.fleets.create(NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),)))
    place = FleetPlace(fleet_id, 0)
    grows = recording(host.store, runtime_s=0.6, tags=("web1",), end=Status.COMPLETE)
    run_id = next(grows)
    replica = Replica(store, run_id, place)
    assert replica.status is None
    host.agent.hear(request_line(2, replica.follow()))
    for step, _ in enumerate(grows):
        if step % 5 == 0:
            # The connection was lost: another agent is asked for what is not here.
            host.restart()
            host.agent.hear(request_line(2, replica.follow()))
        host.look(replica)
        there, here = host.store.run(run_id), store.run(run_id)
        if not there.status.over:
            assert (here.status, here.plan, here.tests, here.messages) == (
                there.status,
                there.plan,
                there.tests,
                there.messages,
            )
            assert here.fleet == place
            assert store.samples(run_id) == host.store.samples(run_id)
            assert store.system_samples(run_id) == host.store.system_samples(run_id)
    there = host.store.run(run_id)
    assert there.status is Status.COMPLETE
    host.agent.hear(request_line(3, ExportRun(run_id)))
    piece = read(ExportPiece, json.loads(host.lines[-1])["answer"])
    assert piece.last
    store.set_tags(run_id, ("web1", "mine"))
    replica.take(BytesIO(base64.b64decode(piece.data)), "web1")
    here = store.run(run_id)
    assert (here.status, here.tests, here.findings, here.environment) == (
        *(there.status, there.tests, there.findings),
        there.environment,
    )
    assert (here.fleet, here.tags) == (place, ("web1", "mine"))
    assert store.samples(run_id) == host.store.samples(run_id)
    assert store.document(run_id, 0) == host.store.document(run_id, 0)
    assert [run.id for run in store.summaries()] == [run_id]


def test_news_that_the_run_cannot_have_are_refused(host: Host, store: Store) -> None:
    fleet_id = store.fleets.create(NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),)))
    run_id = record_run(host.store, runtime_s=0.5, end=Status.RUNNING, runner=this_process())
    replica = Replica(store, run_id, FleetPlace(fleet_id, 0))
    host.agent.hear(request_line(2, replica.follow()))
    host.agent.look()
    (line,) = (line for line in host.lines if line.startswith(b'{"news"'))
    good = json.loads(line)
    for wrong in (
        {"run_id": "abcdefgh"},
        {"running": [99, 0]},
        {"running": [0, -1]},
        {"progress": {**good["news"]["progress"], "test": 99}},
        {"progress": {**good["news"]["progress"], "remaining_s": -1}},
        {"began": {**good["news"]["began"], "started_at_us": 1 << 62}},
        {"began": None},
    ):
        news = read_news({**json.loads(line), "news": {**good["news"], **wrong}})
        with pytest.raises(BadFile):
            replica.add(news)
        assert store.summaries() == []
    sample = next(value for key, value in good["records"] if key == "samples")[0]
    at = COLUMNS["samples"].index("test")
    news = read_news({**json.loads(line), "records": [["samples", [[*sample[:at], 99, *sample[at + 1 :]]]]]})
    with pytest.raises(BadFile):
        replica.add(news)
    replica.add(read_news(good))
    assert store.run(run_id).tests == host.store.run(run_id).tests


def test_a_run_in_this_very_store_is_not_written_down_twice(host: Host) -> None:
    fleet_id = host.store.fleets.create(NewFleet("quick", "Quick", (FleetMember("localhost", "/srv"),)))
    place = FleetPlace(fleet_id, 0)
    run_id = record_run(host.store, runtime_s=0.5, end=Status.RUNNING, runner=this_process())
    before = host.store.samples(run_id)
    replica = Replica(host.store, run_id, place)
    host.agent.hear(request_line(2, Follow(run_id, True, 0, 0, 0, 0)))
    host.look(replica)
    assert not replica.is_copy
    assert host.store.samples(run_id) == before
    assert host.store.run(run_id).fleet == place


def test_a_run_comes_in_pieces_and_lies_in_no_memory(host: Host, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "_PIECE_BYTES", 3000)
    monkeypatch.setattr(transfer, "_IN_MEMORY", 1000)
    fleet_id = store.fleets.create(NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),)))
    run_id = record_run(host.store, runtime_s=0.5)
    with transfer.on_its_way(store) as file:
        last = False
        while not last:
            host.agent.hear(request_line(2, ExportRun(run_id, file.tell())))
            piece = read(ExportPiece, json.loads(host.lines.pop())["answer"])
            file.write(base64.b64decode(piece.data))
            last = piece.last
        assert file.tell() > 2 * 3000 and isinstance(file.fileno(), int)
        file.seek(0)
        Replica(store, run_id, FleetPlace(fleet_id, 0)).take(file, "web1")
    host.agent.close()
    assert store.samples(run_id) == host.store.samples(run_id)


def test_a_run_that_finds_no_room_is_an_error_in_words(
    host: Host, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = record_run(host.store, runtime_s=0.5)
    monkeypatch.setattr(transfer, "_IN_MEMORY", 1000)
    with full_disk(), pytest.raises(StoreError, match="cannot be written beside"), transfer.on_its_way(store) as file:
        transfer.export_runs(host.store, [run_id], file)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file may grow beyond a few hundred bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_another_run_is_not_taken_in_its_place(host: Host, store: Store) -> None:
    fleet_id = store.fleets.create(NewFleet("quick", "Quick", (FleetMember("web1", "/srv"),)))
    other = record_run(host.store, runtime_s=0.5)
    host.agent.hear(request_line(2, ExportRun(other)))
    data = base64.b64decode(json.loads(host.lines[-1])["answer"]["data"])
    with pytest.raises(DiskprofError, match="another run"):
        Replica(store, "abcdefgh", FleetPlace(fleet_id, 0)).take(BytesIO(data), "web1")
    assert store.summaries() == []


def test_it_answers_errors_in_their_own_words(host: Host) -> None:
    agent = Agent(host.lines.append)
    agent.hear(request_line(7, ExportRun("x")))
    error = error_of(json.loads(host.lines[-1]))
    assert (type(error), error.message) == (UsageError, "Nobody said hello.")
    preset = load_library().get("quick")
    host.agent.hear(request_line(8, MakePlan(preset, "/no/such/place")))
    error = error_of(json.loads(host.lines[-1]))
    assert type(error) is UsageError and "does not exist" in error.message
    # Where its runs are is the same by whatever name it is called.
    homes = list[str]()
    for path in (host.path, host.path, host.path.with_name("other.db")):
        host.agent.hear(request_line(1, Hello(str(path))))
        homes.append(json.loads(host.lines[-1])["answer"]["home"])
    assert homes[0] == homes[1] != homes[2]
    host.agent.hear(request_line(9, AskClock()))
    assert json.loads(host.lines[-1])["answer"] > 10**18
