"""A machine that sleeps (S3) while a test measures."""

import pytest
from vm.guest import Guest, words_of

RATE = 100


def test_a_sleep_in_mid_run_is_said_and_is_in_no_figure(guest: Guest) -> None:
    job = guest.write_job("/root/steady.fio", ioengine="libaio", iodepth=4, rate_iops=RATE, runtime=20)
    with guest.started(f"diskprof run {job} {guest.node('VMNVME0001')} --json") as running:
        running.wait_for("measuring")
        with guest.started("echo mem > /sys/power/state") as sleeping:
            guest.machine.sleep(12)
            assert sleeping.wait().rc == 0
        done = running.wait()
    assert done.rc == 0, done
    run = done.json()
    assert run["status"] == "complete"
    assert "the machine was suspended" in words_of(run), done
    assert run["tests"][0]["read"]["iops"] == pytest.approx(RATE, rel=0.1)
    # fio's own time has no sleep in it.
    assert run["tests"][0]["read"]["runtime_ms"] < 31_000
