"""What fio's client is given, and whose the parts of its document are."""

import json

import pytest
from msgspec.structs import replace
from recorded import make_plan

from diskprof.fleet.served.client import Served, as_served, by_host, client_argv, job_file
from diskprof.fleet.served.talk import ServedResult, ServerReady
from diskprof.model.errors import UsageError
from diskprof.model.metric import parse_metric
from diskprof.model.plan import Plan
from diskprof.model.steady import RoundsRule, SteadyRule
from diskprof.runner.plan.planner import refuse_if_blocked

ONE, TWO = (Served(f"/tmp/{name}/fio", ServerReady(0, ("fio",), name)) for name in ("web1", "db1"))


def entry(served: Served, job: str, **more: object) -> dict[str, object]:
    return {"jobname": job, "error": 0, **more, "hostname": served.socket, "port": 0}


def test_a_document_is_taken_apart_by_host() -> None:
    document = {
        "fio version": "fio-3.33",
        "client_stats": [entry(TWO, "a"), entry(ONE, "a"), entry(TWO, "b", error=5), entry(ONE, "All clients")],
        "disk_util": [{"name": "vda", "hostname": ONE.socket}, {"name": "sda", "hostname": TWO.socket}],
    }
    words = "<web1> a: (g=0): rw=randread\n<db1> fio: pid=1, err=5\nclient </tmp/db1/fio>: exited with error 1\n"
    first, second = by_host(f"{words}{json.dumps(document, indent=2)}\n".encode(), (ONE, TWO))
    assert json.loads(first.document) == {
        "fio version": "fio-3.33",
        "jobs": [{"jobname": "a", "error": 0}],
        "disk_util": [{"name": "vda"}],
    }
    assert [job["jobname"] for job in json.loads(second.document)["jobs"]] == ["a", "b"]
    assert (first.said, first.code, second.said, second.code) == ((), 0, ("fio: pid=1, err=5",), 1)


def test_a_host_that_the_document_does_not_know_has_no_result() -> None:
    said = b"fio: connect; Connection refused\n"
    assert by_host(said, (ONE,)) == [ServedResult("", ("fio: connect; Connection refused",), 1)]


def test_a_command_becomes_a_file_of_jobs() -> None:
    argv = ("fio", "--output-format=json+", "--status-interval=9ms", "--readonly", "--name=a b", "--filename=/srv/x=y")
    assert job_file(argv) == "[global]\nunique_filename=0\n[a b]\nfilename=/srv/x=y\n"
    assert client_argv("fio", [(ONE, "1"), (TWO, "2")])[2:] == (
        *("--client=sock:/tmp/web1/fio", "1"),
        *("--client=sock:/tmp/db1/fio", "2"),
    )


def test_a_test_is_told_of_once() -> None:
    plan = make_plan()
    served = as_served(plan)
    refuse_if_blocked(served)
    for test, before in zip(served.tests, plan.tests, strict=True):
        assert test.interval_ms == before.seconds * 1000
        assert f"--status-interval={test.interval_ms}ms" in test.argv


def refused(plan: Plan) -> str:
    with pytest.raises(UsageError) as caught:
        as_served(plan)
    return caught.value.message


def test_what_it_cannot_measure_is_refused() -> None:
    plan = make_plan()
    first, *others = plan.tests

    def one(**changes: object) -> Plan:
        return replace(plan, tests=(*others, replace(first, **changes)))  # type: ignore[arg-type]

    assert "it runs ioping" in refused(make_plan("ioping-latency"))
    assert "once it is steady" in refused(one(steady=SteadyRule(parse_metric("read.iops"))))
    (job, *_) = first.load.fio
    assert "no runtime" in refused(one(jobs=(replace(job, runtime_s=None),)))
    assert "misreads" in refused(one(argv=(*first.argv, "--description=a;b")))
    assert "rounds" in refused(replace(plan, rounds=RoundsRule(first.name, parse_metric("read.iops"))))
