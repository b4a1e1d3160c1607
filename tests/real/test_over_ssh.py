"""diskprof over a real sshd: on odd terminals, on slow and broken connections, the screen judged by its text."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from link import link
from program import descendants, environment, gone, own_preset, until
from sshd import Server, sshd
from terminal import Terminal, terminal

pytestmark = pytest.mark.needs("ssh", "sshd", "ssh-keygen", "fio")

RESTORED = b"\x1b[?1049l"
TESTS = """
[[test]]
name = "reads"
title = "Random reads"
options = { rw = "randread", bs = "4k" }

[[test]]
name = "writes"
title = "Writes in order"
options = { rw = "write", bs = "64k" }
"""


def preset(name: str, title: str, runtime: str) -> str:
    return f"""
name = "{name}"
title = "{title}"
category = "quick"

[parameters]
size = "8m"
runtime = "{runtime}"

[fio]
size = "$size"
runtime = "$runtime"
time_based = true
rate_iops = 20
thinktime = "1ms"
{TESTS}"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a quick check that takes no time, and a long one below it in the list."""
    home = tmp_path / "home"
    own_preset(home, "quick", preset("quick", "Quick check", "1s"))
    own_preset(home, "a-long-one", preset("a-long-one", "A long check", "10m"))
    return home


@pytest.fixture
def server(tmp_path: Path, home: Path) -> Iterator[Server]:
    with sshd(tmp_path / "sshd", home) as served:
        yield served


@pytest.fixture
def long_run(home: Path) -> Iterator[str]:
    """A run under way, without a screen."""
    done = diskprof("run", "a-long-one", home, "--detach", home=home)
    assert done.returncode == 0, done.stderr
    yield done.stdout.strip()
    diskprof("stop", home=home)


def running(home: Path) -> list[str]:
    return [run["id"] for run in diskprof_json("runs", "--json", home=home) if run["status"] == "running"]


def start_and_finish_the_quick_check(screen: Terminal) -> None:
    screen.wait_for("Plan", "Quick check", "8 MiB")
    screen.press("enter")
    screen.wait_for("Start Quick check?")
    screen.press("enter")
    screen.wait_for("complete  Quick check")


def choose_and_start_the_long_check(screen: Terminal) -> None:
    screen.press("1")
    screen.wait_for("Plan", "Quick check")
    screen.press("right")
    screen.press_until("down", "Plan", "A long check", "20 min")
    screen.press("enter")
    screen.wait_for("Start A long check?")
    screen.press("enter")
    screen.wait_for("4K rand read buffered QD1", "measuring")


def kill_the_client(screen: Terminal, server: Server) -> None:
    os.kill(screen.pid, signal.SIGKILL)


def kill_the_session(screen: Terminal, server: Server) -> None:
    server.cut()


def lose_the_connection(screen: Terminal, server: Server, how: Callable[[Terminal, Server], None]) -> None:
    """Returns when the view has ended too."""
    views = server.programs()
    assert views
    how(screen, server)
    until(lambda: all(map(gone, views)), "the end of the view")


def stop_the_run(screen: Terminal) -> None:
    screen.press("s")
    screen.wait_for("Stop")
    screen.press("enter")
    screen.wait_for("cancelled")


def quit_from(screen: Terminal, *, going: bool = False) -> None:
    screen.press("q")
    if going:
        screen.wait_for("Leave it running")
        screen.press("l")
    assert screen.wait_for_end() == 0
    assert RESTORED in screen.raw


@pytest.mark.parametrize("term", ["xterm-256color", "xterm", "screen-256color", "linux", "vt100"])
def test_from_log_in_to_an_exported_comparison_with_a_connection_lost(home: Path, server: Server, term: str) -> None:
    env = environment(home, TERM=term)
    with terminal(server.ssh("diskprof"), env, cwd=home.parent) as screen:
        start_and_finish_the_quick_check(screen)
        choose_and_start_the_long_check(screen)
        lose_the_connection(screen, server, kill_the_client)
    (run_id,) = running(home)

    with terminal(server.ssh("diskprof"), env, cwd=home.parent) as again:
        again.wait_for("4K rand read buffered QD1", run_id)
        stop_the_run(again)
        again.press("3")
        again.wait_for("2 runs", "cancelled")
        again.press("space", "down", "space", "c")
        again.wait_for("2 runs compared", "base: A")
        again.press_until("enter", "Random reads", "IOPS")
        again.press("r")
        again.wait_for("Write Markdown to")
        again.press("enter")
        report = until(lambda: next(iter(home.glob("*.md")), None), "the report")
        quit_from(again)
    if "256" not in term:
        # A colour beyond the 16 that such a terminal has (F46).
        assert not re.search(rb"\x1b\[[0-9;]*[34]8;[25];", screen.raw + again.raw)
    runs = [run["id"] for run in diskprof_json("runs", "--json", home=home)]
    assert len(runs) == 2
    text = until(report.read_text, "the text of the report")
    assert all(name in text for name in (*runs, "Random reads"))
    assert not list(home.glob(".diskprof-*"))


@pytest.mark.parametrize("how", [kill_the_client, kill_the_session])
def test_a_lost_connection_ends_the_view_and_never_the_run(
    home: Path, server: Server, long_run: str, how: Callable[[Terminal, Server], None]
) -> None:
    with terminal(server.ssh("diskprof"), environment(home), cwd=home.parent) as screen:
        screen.press("2")
        screen.wait_for("4K rand read buffered QD1", long_run)
        lose_the_connection(screen, server, how)
    with terminal(server.ssh("diskprof", "attach"), environment(home), cwd=home.parent) as line:
        line.wait_for("4K rand read", "measuring", "left")
        lose_the_connection(line, server, how)
    assert running(home) == [long_run]


def test_a_link_that_goes_dead_holds_nobody_up(home: Path, server: Server, long_run: str) -> None:
    env = environment(home)
    with link(server.port) as wire, terminal(server.ssh("diskprof", port=wire.port), env, cwd=home.parent) as screen:
        screen.press("2")
        screen.wait_for("4K rand read buffered QD1", long_run)
        wire.die()
        with terminal(server.ssh("diskprof"), env, cwd=home.parent) as again:
            again.press("2")
            again.wait_for("4K rand read buffered QD1", long_run)
            stop_the_run(again)
            quit_from(again)
    assert diskprof_json("show", long_run, "--json", home=home)["status"] == "cancelled"
    assert not list(home.glob(".diskprof-*"))


def test_a_run_at_the_command_line_ends_in_order_with_its_connection(home: Path, server: Server) -> None:
    words = server.ssh("diskprof", "run", "a-long-one", ".", "--yes")
    with terminal(words, environment(home), cwd=home.parent) as screen:
        screen.wait_for("4K rand read", "measuring", "left")
        (run_id,) = running(home)
        lose_the_connection(screen, server, kill_the_client)
    shown = diskprof_json("show", run_id, "--json", home=home)
    assert shown["status"] == "cancelled"
    assert shown["tests"][0]["read"]["ios"] > 0
    assert not list(home.glob(".diskprof-*"))


def test_a_detached_run_needs_no_connection(home: Path, server: Server) -> None:
    words = server.ssh("diskprof", "run", "a-long-one", ".", "--detach", tty=False)
    done = subprocess.run(words, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    run_id = done.stdout.strip()
    until(lambda: not server.sessions(), "the end of the session")
    assert running(home) == [run_id]
    assert diskprof("stop", run_id, home=home).returncode == 0


def test_a_terminal_that_cannot_show_the_screen_is_refused_at_once(home: Path, server: Server) -> None:
    with terminal(server.ssh("diskprof"), environment(home, TERM="dumb"), cwd=home.parent) as screen:
        assert screen.wait_for_end() == 2
    assert "TERM=xterm-256color diskprof" in " ".join(screen.text.split())
    assert b"\x1b" not in screen.raw


def test_without_a_terminal_it_tells_the_command_that_works(home: Path, server: Server) -> None:
    words = server.ssh("diskprof", tty=False)
    done = subprocess.run(words, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    told = re.search(r"ssh (-\S+) HOST (diskprof)\.", done.stderr)
    assert told, done.stderr
    words = server.ssh(told[2], tty=False, options=[told[1]])
    with terminal(words, environment(home), cwd=home.parent) as screen:
        screen.wait_for("Plan", "Quick check")
        quit_from(screen)


@pytest.mark.parametrize("locale", ["C", "en_US.ISO-8859-1"])
def test_a_log_in_without_utf8_can_be_worked_with(home: Path, server: Server, long_run: str, locale: str) -> None:
    env = environment(home, LANG=locale, LC_ALL=locale)
    with terminal(server.ssh("diskprof"), env, cwd=home.parent) as screen:
        screen.wait_for("4K rand read buffered QD1", long_run, "IOPS")
        screen.press("1")
        screen.wait_for("Plan", "Quick check", "running")
        screen.press("2")
        screen.wait_for("4K rand read buffered QD1", long_run, "IOPS")
        screen.press("?")
        screen.wait_for("Help: Live")
        screen.press("escape")
        screen.wait_for("4K rand read buffered QD1", gone="Help: Live")
        stop_the_run(screen)
        quit_from(screen)


def test_servers_of_several_tests_do_not_take_from_each_other_what_they_need(tmp_path: Path, home: Path) -> None:
    """sshd resets every connection when its directory for separated privileges is gone; tests run side by side."""
    with ExitStack() as first:
        first.enter_context(sshd(tmp_path / "one", home))
        with sshd(tmp_path / "other", home) as other:
            first.close()
            words = other.ssh("echo", "there", tty=False)
            done = subprocess.run(
                words, env=environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True
            )
            assert (done.returncode, done.stdout) == (0, "there\n"), done.stderr


def processor_s(pid: int) -> float:
    """Seconds of processor time that a process and those of its children that ended have used; 0 if it ended itself."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        # Such as a tool that was asked for its version: its time is its parent's now.
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def see_for(screen: Terminal, seconds: float) -> float:
    """Takes in what comes for that long; how long it was."""
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds:
        screen.read(0.1)
    return passed


# Bytes a second and the share of a processor that benchmarks/observer.py has for its goals; of the latter twice as much,
# since a machine that runs tests is none to measure it on.
GOALS = {(80, 24): (20_000, 0.08), (120, 40): (40_000, 0.08)}


@pytest.mark.parametrize(
    ("size", "options"), [((80, 24), ()), ((120, 40), ()), ((120, 40), ("-C",))], ids=["80x24", "120x40", "compressed"]
)
def test_what_it_costs_to_watch_a_run(
    home: Path,
    server: Server,
    long_run: str,
    size: tuple[int, int],
    options: tuple[str, ...],
    record_property: Callable[[str, object], None],
) -> None:
    with link(server.port) as wire:
        words = server.ssh("diskprof", options=options, port=wire.port)
        with terminal(words, environment(home), cwd=home.parent, columns=size[0], rows=size[1]) as screen:
            screen.press("2")
            screen.wait_for("4K rand read buffered QD1", long_run, "p99")
            # Half a second after the first picture what the other screens need is loaded: that is what starting costs.
            see_for(screen, 2.0)
            # Of the shell, if there is one, and of diskprof.
            programs = server.programs()
            programs += [child for pid in programs for child in descendants(pid)]
            before, sent = sum(map(processor_s, programs)), wire.bytes_to_client
            seconds = see_for(screen, 3.0)
            rate = (wire.bytes_to_client - sent) / seconds
            share = (sum(map(processor_s, programs)) - before) / seconds
            record_property("bytes a second", round(rate))
            record_property("share of a processor", round(share, 3))
            print(f"{size} {options}: {rate:.0f} bytes/s, {share:.1%} of a processor")  # noqa: T201
            quit_from(screen, going=True)
    most, busy = GOALS[size]
    assert 0 < rate < most
    assert 0 < share < busy


SLOW = 10_000
"""Bytes a second."""


@pytest.mark.parametrize(
    ("words", "options"), [((), ()), ((), ("-C",)), (("--slow-link",), ())], ids=["by itself", "compressed", "option"]
)
def test_a_slow_link_answers_every_key(
    home: Path,
    server: Server,
    long_run: str,
    words: tuple[str, ...],
    options: tuple[str, ...],
    record_property: Callable[[str, object], None],
) -> None:
    """On 10 kB/s. What an answer takes is judged by the bytes that come before its end: that much a link takes 0.3 s for.

    The time itself is told, not judged: it depends on what else the machine does.
    """
    with link(server.port, rate=SLOW) as wire:
        ssh = server.ssh("diskprof", *words, options=options, port=wire.port)
        with terminal(ssh, environment(home), cwd=home.parent) as screen:
            sizes: list[int] = []

            def answer(key: str, *texts: str, gone: str = "") -> None:
                began, before = time.monotonic(), wire.bytes_to_client
                screen.press(key)
                screen.wait_for(*texts, gone=gone)
                took, size = time.monotonic() - began, wire.bytes_to_client - before
                sizes.append(size)
                record_property(f"{key} {texts[0]}", f"{took:.2f} s, {size} bytes")
                print(f"{key:7} {texts[0]:20} {took:5.2f} s {size:6} bytes")  # noqa: T201

            screen.wait_for("4K rand read buffered QD1", long_run, "p99")
            answer("1", "Plan", "Quick check")
            answer("2", "4K rand read buffered QD1", long_run)
            screen.wait_for("p99")
            # By then it has seen how slow the line is, or was told.
            see_for(screen, 2.0)
            sizes.clear()
            answer("?", "Help: Live")
            answer("escape", "4K rand read buffered QD1", gone="Help: Live")
            answer("3", "1 run")
            answer("t", "Tags and note")
            answer("escape", "1 run", gone="Tags and note")
            answer("2", "4K rand read buffered QD1", long_run)
            answer("q", "Leave it running")
            screen.press("l")
            assert screen.wait_for_end() == 0
    assert running(home) == [long_run]
    middle = sorted(sizes)[len(sizes) // 2]
    assert middle <= 0.3 * SLOW, sizes
