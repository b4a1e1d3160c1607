"""`diskprof watch` on real devices: what a known writer does, a device that goes away, and no right to the device."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from forked import diskprof
from loops import MIB, Loops
from program import PATIENCE_S, started
from users import NOBODY, diskprof_as, home_of

pytestmark = pytest.mark.needs("root", "loop")

WRITER = """
import mmap, os, sys
data = mmap.mmap(-1, 1 << 20)
file = os.open(sys.argv[1], os.O_WRONLY | os.O_DIRECT)
for _ in range(8):
    os.write(file, data)
print("written", flush=True)
sys.stdin.read()
"""


def test_a_known_writer_is_counted_and_named(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk(16 * MIB)
    with started("watch", node, "--json", "--interval", "100ms", home=tmp_path) as watch:
        assert watch.stdout
        # With the first line the watch is there.
        first = json.loads(watch.stdout.readline())
        words = [sys.executable, "-c", WRITER, node]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout and writer.stdout.readline() == "written\n"
            watch.send_signal(signal.SIGINT)
            out, err = watch.communicate(timeout=PATIENCE_S)
            writer.communicate()
    assert watch.returncode == 0, err
    last = json.loads(out.splitlines()[-1])
    assert (first["type"], last["type"], last["device"]) == ("interval", "summary", Path(node).name)
    assert round(last["mean"]["write_bytes_per_s"] * last["mean"]["seconds"]) == 8 * MIB
    ours = {each["pid"]: each["write_bytes"] for each in last["processes"]}
    assert ours[writer.pid] == 8 * MIB


def test_a_device_that_goes_away_ends_the_watch_with_what_was_seen(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk()
    with started("watch", node, "--interval", "100ms", "--for", "1h", home=tmp_path) as watch:
        assert watch.stdout
        assert watch.stdout.readline().startswith("Time")
        watch.stdout.readline()
        loops.detach(node)
        out, err = watch.communicate(timeout=PATIENCE_S)
    assert watch.returncode == 1
    assert f"{node} is gone" in err and "watched for" in out


def test_no_right_to_the_device_is_needed(loops: Loops) -> None:
    node = loops.disk()
    Path(node).chmod(0o600)
    with home_of(NOBODY) as home:
        done = diskprof_as(NOBODY, "watch", node, "--for", "100ms", home=home)
    assert done.returncode == 0, done.stderr
    assert "watched for" in done.stdout and "without root" in done.stdout
    assert "To see the processes of other users: sudo /opt/bin/diskprof" in done.stderr


def test_bad_input(loops: Loops, tmp_path: Path) -> None:
    node = loops.disk()
    for words, said in (
        ((node, "--for", "0"), "--for must be more than 0"),
        ((node, "--for", "soon"), "is not a duration"),
        ((node, "--interval", "1ms"), "too short"),
        (("/dev/no-such",), "does not exist"),
        (("/proc",), "not on a block device"),
    ):
        done = diskprof("watch", *words, home=tmp_path)
        assert done.returncode == 2 and said in done.stderr, words
