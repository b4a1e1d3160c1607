"""The system in the machine: commands, waiting, and diskprof there."""

import itertools
import json
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from vm.build import packed_diskprof
from vm.machine import Machine

PATIENCE_S = 400.0
"""An emulated guest is some 20 times slower than this machine (F84), which others may use too."""
_INSIDE = Path(__file__).parent / "inside"
MANY = "/opt/diskprof/bin/python /opt/lane/many.py"
_NUMBERS = itertools.count(1)
_T = TypeVar("_T")


@dataclass(frozen=True, repr=False)
class Done:
    """How a command ended: `rc` is its exit code, 255 where the guest was lost."""

    words: str
    rc: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"$ {self.words}\n{self.out}{self.err}[exit code {self.rc}]"

    __repr__ = __str__

    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Guest:
    """`log` holds what was done in the guest since a test began, for the report on one that failed."""

    machine: Machine
    log: list[str] = field(default_factory=list)

    def _ssh(self, script: str, user: str = "root") -> list[str]:
        return ["ssh", "-F", str(self.machine.ssh_config), "-l", user, "guest", script]

    def run(
        self, script: str, *, check: bool = True, user: str = "root", data: bytes = b"", patience_s: float = PATIENCE_S
    ) -> Done:
        """Runs shell commands to their end. `check`: they have to succeed. `data` is their input."""
        done = subprocess.run(self._ssh(script, user), input=data, capture_output=True, timeout=patience_s)
        ended = Done(
            script, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        )
        self.log.append(str(ended))
        assert not check or ended.rc == 0, str(ended)
        return ended

    def out(self, script: str) -> str:
        """What a command prints, without the end of its last line."""
        return self.run(script).out.rstrip("\n")

    @contextmanager
    def started(self, script: str, *, data: str = "") -> Iterator["Job"]:
        """Shell commands under way; `data` is their input. What is left of them at the end is the guest's own affair."""
        process = subprocess.Popen(self._ssh(script), stdin=-1, stdout=-1, stderr=-1, text=True)
        assert process.stdin
        process.stdin.write(data)
        process.stdin.close()
        job = Job(script, process)
        try:
            yield job
        finally:
            self.log.append(str(job.ended()))

    def until(self, condition: str, what: str = "") -> None:
        """Waits, in the guest, until a shell command succeeds."""
        script = f"for _ in $(seq {int(PATIENCE_S * 2)}); do if {condition}; then exit 0; fi; sleep 0.5; done; exit 1"
        assert self.run(script, check=False, patience_s=4 * PATIENCE_S).rc == 0, (
            f"still waiting for {what or condition}"
        )

    def until_value(self, look: Callable[[], _T], what: str) -> _T:
        """The first true value of `look()`."""
        deadline = time.monotonic() + PATIENCE_S
        while not (value := look()):
            assert time.monotonic() < deadline, f"still waiting for {what}"
            time.sleep(0.5)
        return value

    # --- diskprof -----------------------------------------------------------------------------------------------------

    def install(self) -> None:
        """diskprof as it is in the checkout, and the lane's own programs in /opt/lane."""
        clear = "cd /opt/diskprof && rm -rf lib/python3.*/site-packages/diskprof* && tar -x"
        self.run(clear, data=packed_diskprof(self.machine.run.parent))
        self.run("mkdir -p /opt/lane")
        for path in _INSIDE.iterdir():
            if path.is_file():
                self.run(f"cat > /opt/lane/{path.name} && chmod 755 /opt/lane/{path.name}", data=path.read_bytes())
        self.run("sync")

    def diskprof(self, words: str, *, rc: int | None = 0, user: str = "root") -> Done:
        """`words` as typed after `diskprof`; it has to end with `rc`."""
        done = self.run(f"diskprof {words}", check=False, user=user)
        assert rc is None or done.rc == rc, str(done)
        return done

    def measured(self, words: str, *, rc: int = 0) -> dict[str, Any]:
        """The JSON of `diskprof run` with these words."""
        run: dict[str, Any] = self.diskprof(f"run {words} --json", rc=rc).json()
        return run

    def write_job(self, path: str, **options: object) -> str:
        """A job file with one test, `steady`: 4 KiB at random, at a rate that leaves an emulated processor room for several."""
        settings: dict[str, object] = {
            "rw": "randread",
            "bs": "4k",
            "direct": 1,
            "size": "16m",
            "time_based": 1,
        } | options
        self.run(f"cat > {path}", data="".join(["[steady]\n", *(f"{k}={v}\n" for k, v in settings.items())]).encode())
        return path

    def devices(self) -> dict[str, Any]:
        """`diskprof devices --json`, by name."""
        return {device["name"]: device for device in self.diskprof("devices --json").json()}

    def many(self, commands: list[list[str]], *, at_once: int = 2) -> list[Done]:
        """How each of these commands of diskprof ended; they are started in /root (inside/many.py)."""
        script = f"cd /root && {MANY} {at_once}"
        done = self.run(script, data=json.dumps(commands).encode(), patience_s=6 * PATIENCE_S)
        return many_results(commands, done)

    @contextmanager
    def screen(self, command: str, *, columns: int = 120, rows: int = 40) -> Iterator["Screen"]:
        """A command in a terminal (tmux), which ends with it."""
        name = f"lane{next(_NUMBERS)}"
        self.run(
            f"tmux new-session -d -s {name} -x {columns} -y {rows} {shlex.quote(command + '; echo exit code $?; sleep infinity')}"
        )
        try:
            yield Screen(self, name)
        finally:
            self.run(f"tmux capture-pane -p -t {name}; tmux kill-session -t {name}", check=False)

    # --- Disks --------------------------------------------------------------------------------------------------------

    def nodes(self, serial: str) -> list[str]:
        """The nodes of the disks with this serial number, one for each path, by udev."""
        rows = self.out("udevadm settle; lsblk -dnpro NAME,SERIAL").splitlines()
        return [row.split()[0] for row in rows if row.split()[1:] == [serial]]

    def node(self, serial: str) -> str:
        """The node of the disk with this serial number, once udev knows it."""
        return self.until_value(lambda: self.nodes(serial), f"the disk {serial}")[0]


@dataclass(frozen=True)
class Screen:
    """A terminal in the guest."""

    guest: Guest
    name: str

    def text(self) -> str:
        return self.guest.run(f"tmux capture-pane -p -t {self.name}", check=False).out

    def press(self, *keys: str) -> None:
        """Keys by the names of tmux; anything else is typed."""
        self.guest.run(f"tmux send-keys -t {self.name} {' '.join(map(shlex.quote, keys))}")

    def wait_for(self, *texts: str, gone: tuple[str, ...] = ()) -> str:
        """The screen once it shows all of `texts` and none of `gone`."""

        def shown() -> str:
            text = self.text()
            return text if all(one in text for one in texts) and not any(one in text for one in gone) else ""

        return self.guest.until_value(shown, f"{texts} without {gone} on the screen")


def many_results(commands: list[list[str]], done: Done) -> list[Done]:
    """What inside/many.py printed."""
    return [
        Done(" ".join(words), one["rc"], one["out"], one["err"])
        for words, one in zip(commands, done.json(), strict=True)
    ]


class Job:
    """Commands that run in the guest. What they print is read as it comes."""

    def __init__(self, script: str, process: subprocess.Popen[str]) -> None:
        self._script, self._process = script, process
        self._lines: dict[str, list[str]] = {"out": [], "err": []}
        self._open = set(self._lines)
        self._news = threading.Condition()
        streams = {"out": process.stdout, "err": process.stderr}
        self._readers = [threading.Thread(target=self._read, args=pair, daemon=True) for pair in streams.items()]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str, stream: Any) -> None:
        for line in stream:
            with self._news:
                self._lines[name].append(line)
                self._news.notify_all()
        with self._news:
            self._open.remove(name)
            self._news.notify_all()

    def wait_for(self, text: str, count: int = 1, *, unless: str = "") -> None:
        """Waits until so many lines with `text` were printed; fails where one with `unless` comes before, or the end."""

        def printed(wanted: str) -> int:
            return sum(wanted in line for lines in self._lines.values() for line in lines)

        def over() -> bool:
            return bool(unless and printed(unless)) or not self._open

        with self._news:
            self._news.wait_for(lambda: printed(text) >= count or over(), PATIENCE_S)
            enough = printed(text) >= count
        assert enough, f"no {text!r} of\n{self.ended()}"

    def wait(self, patience_s: float = PATIENCE_S) -> Done:
        """Waits for its end."""
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it does not end:\n{self.ended()}") from None
        return self.ended()

    def ended(self) -> Done:
        """What it is now; the connection is closed if it has not ended."""
        if self._process.poll() is None:
            self._process.terminate()
            self._process.wait()
        for reader in self._readers:
            reader.join()
        return Done(self._script, self._process.returncode, "".join(self._lines["out"]), "".join(self._lines["err"]))


def words_of(run: dict[str, Any]) -> str:
    """All that a run says of itself: reasons, findings and messages, in lower case."""
    said = [
        run["reason"],
        *(test["reason"] for test in run["tests"]),
        *(message["text"] for message in run["messages"]),
    ]
    said += [" ".join((finding["name"], finding["message"], finding["evidence"])) for finding in run["findings"]]
    return "\n".join(said).lower()


def findings(run: dict[str, Any]) -> set[str]:
    return {finding["name"] for finding in run["findings"]}
