"""Every example of the documents is run as it is typed, in a home of its own, and ends as it says.

A fenced block of `sh` is run line by line in one shell; what follows a `|` or `\\` at the end of a line belongs to it. A block
that says ```` ```sh not-run: REASON ```` is run by a test of its own (ELSEWHERE), a line that begins with a word of NOT_RUN by
the tests of another file. `/mnt/data` stands for a directory.
"""

import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json, program_for_shells
from hosts import hosts
from loops import first_bytes, loops_in
from program import environment, write_program, write_quick_fio
from sshd import HOST, sshd
from terminal import terminal
from tracing import traces

pytestmark = pytest.mark.needs("fio", "ioping", "jq")

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
PATIENCE_S = 280
PLACE = "/mnt/data"
# A job file and a result of the reader's own.
GIVEN = {
    "job.fio": "[global]\nsize=8m\nruntime=1\n[reads]\nrw=randread\nbs=4k\n",
    "result.json": (REPOSITORY / "tests" / "data" / "results" / "fio-3.33-stonewall.json").read_text(),
}

# Blocks that are not run in one shell of a home of its own: where else they are.
ELSEWHERE = {
    ("README.md", "it opens the screen"): "test_the_screen_opens_as_it_is_typed",
    ("commands.md", "it needs two disks"): "test_two_disks_are_measured_as_it_is_typed",
    ("faq.md", "it opens the screen"): "test_the_screen_opens_as_it_is_typed",
    ("fleet.md", "it needs other hosts"): "test_other_hosts_are_planned_as_it_is_typed",
    ("limits.md", "it takes a minute and a half"): "test_searches_for_a_limit_are_planned_as_they_are_typed",
    ("limits.md", "it takes five minutes"): "test_maps_are_planned_as_they_are_typed",
    ("safety.md", "it overwrites a disk"): "test_a_disk_is_overwritten_as_it_is_typed",
    ("scripting.md", "it needs another machine"): "test_runs_come_from_another_machine_as_it_is_typed",
    ("scripting.md", "it needs sqlite3"): "test_results_are_read_with_sqlite3_as_it_is_typed",
    ("commands.md", "it needs another machine"): "test_another_host_is_reached_as_it_is_typed",
    ("commands.md", "it traces a disk"): "test_a_disk_is_traced_and_mimicked_as_it_is_typed",
    ("mimic.md", "it watches a disk in use"): "test_a_disk_is_traced_and_mimicked_as_it_is_typed",
    ("ssh.md", "it needs another machine"): "test_another_host_is_reached_as_it_is_typed",
}
NOT_RUN = {
    "git": "tests/setup makes a fresh checkout",
    "make": "tests/setup makes a fresh checkout",
    "pipx": "tests/setup installs the wheel",
}

# What may come of a line that depends on the machine: a disk slower than the example says, less room than it asks for,
# results that vary.
MAY_END_WITH = {"--expect": {0, 5}, "--against": {0, 6, 7}, "--nagios": {0, 1, 2}, "--dry-run": {0, 4}}


@dataclass(frozen=True)
class Example:
    """A command as a document has it."""

    document: str
    number: int
    text: str

    @property
    def codes(self) -> set[int]:
        codes = [allowed for option, allowed in MAY_END_WITH.items() if option in self.text]
        return codes[-1] if codes else {0}


def blocks(document: Path, language: str) -> list[tuple[int, str, str]]:
    """(line number, what stands behind the language, text) of every fenced block."""
    text = document.read_text()
    return [
        (text.count("\n", 0, match.start()) + 2, match[1].strip(), match[2])
        for match in re.finditer(rf"^```{language}\b([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    ]


def examples(document: Path) -> list[Example]:
    found = []
    for number, about, text in blocks(document, "sh"):
        if about:
            assert re.fullmatch(r"not-run: \S.*", about), f"{document.name}: {about}"
            continue
        for match in re.finditer(r"(?:.*[|\\]\n)*.+", text):
            line = number + text.count("\n", 0, match.start())
            if match[0].strip() and match[0].split()[0] not in NOT_RUN:
                found.append(Example(document.name, line, match[0]))
    return found


def run(found: list[Example], home: Path, **more: str) -> None:
    """Runs the examples in one shell; each must end with one of its codes."""
    home.mkdir()
    data = home / "data"
    data.mkdir()
    for name, text in GIVEN.items():
        (home / name).write_text(text)
    ends = home / "ends"
    script = "".join(
        f"{example.text.replace(PLACE, str(data))}\necho {index} $? >>'{ends}'\n" for index, example in enumerate(found)
    )
    with program_for_shells(home / "bin") as programs:
        done = subprocess.run(
            ["sh", "-c", f"exec 2>&1\n{script}"],
            env=environment(home, PATH=write_quick_fio(programs), **more),
            cwd=home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )
    codes = [int(line.split()[1]) for line in ends.read_text().splitlines()]
    assert len(codes) == len(found), done.stdout
    wrong = [
        f"{example.document}:{example.number}: {example.text} ended with {code}"
        for example, code in zip(found, codes, strict=True)
        if code not in example.codes
    ]
    assert not wrong, "\n".join([*wrong, done.stdout])
    assert not list(home.rglob(".diskprof-*"))


@pytest.mark.parametrize("document", [path for path in DOCUMENTS if examples(path)], ids=lambda path: path.name)
def test_the_examples_work_as_they_are_typed(document: Path, tmp_path: Path) -> None:
    run(examples(document), tmp_path / "home")


def elsewhere(document: str, why: str) -> list[str]:
    """The lines of the block that is not run for this reason."""
    (path,) = (path for path in DOCUMENTS if path.name == document)
    (text,) = (text for _, about, text in blocks(path, "sh") if about == f"not-run: {why}")
    return text.splitlines()


def test_what_is_not_run_here_is_run_elsewhere() -> None:
    found = {
        (path.name, about.removeprefix("not-run: "))
        for path in DOCUMENTS
        for _, about, _ in blocks(path, "sh")
        if about
    }
    assert found == set(ELSEWHERE)
    assert set(ELSEWHERE.values()) <= set(globals())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


def test_two_disks_are_measured_as_it_is_typed(home: Path) -> None:
    """Its plan: the ten runs would take minutes. tests/real/test_series.py has shorter ones."""
    for name in ("old", "new"):
        (home / name).mkdir()
    for line in elsewhere("commands.md", "it needs two disks"):
        words = shlex.split(line.replace("/mnt", str(home)))
        assert words[0] == "diskprof"
        done = diskprof(*words[1:], "--dry-run", home=home)
        assert done.returncode == 0, done.stderr
        assert "5 repeats of 2 targets" in done.stdout


def test_searches_for_a_limit_are_planned_as_they_are_typed(home: Path) -> None:
    """Their plans, on a small directory: tests/real/test_limit.py has shorter ones."""
    (home / "data").mkdir()
    for line in elsewhere("limits.md", "it takes a minute and a half"):
        words = shlex.split(line.replace(PLACE, str(home / "data")).replace("/dev/sdb", str(home / "data")))
        assert words[0] == "diskprof"
        done = diskprof(*words[1:], *("--set", "size=64m", "--dry-run"), home=home)
        assert done.returncode == 0, done.stderr
        assert "highest" in done.stdout


def test_maps_are_planned_as_they_are_typed(home: Path) -> None:
    """Their plans, on a small directory."""
    (home / "data").mkdir()
    for line in elsewhere("limits.md", "it takes five minutes"):
        words = shlex.split(line.replace(PLACE, str(home / "data")).replace("/dev/sdb", str(home / "data")))
        assert words[:2] == ["diskprof", "map"]
        done = diskprof(*words[1:], *("--set", "size=64m", "--dry-run"), home=home)
        assert done.returncode == 0, done.stderr


@pytest.mark.needs("root", "loop")
def test_a_disk_is_overwritten_as_it_is_typed(home: Path, tmp_path: Path) -> None:
    by_hand, in_a_script = elsewhere("safety.md", "it overwrites a disk")
    with loops_in(tmp_path) as loops:
        node = loops.disk()
        codes = []
        for line in (by_hand, in_a_script):
            words = line.replace("/dev/sdx", node).replace("S4EWNX0R123456", Path(node).name).split()
            codes.append(diskprof(*words[1:], home=home).returncode)
            # Nobody is here to type a name: the first writes nothing.
            assert any(first_bytes(node)) == (line == in_a_script)
    assert codes == [4, 0]


@pytest.mark.needs("root", "loop", "tracefs")
def test_a_disk_is_traced_and_mimicked_as_it_is_typed(home: Path, tmp_path: Path) -> None:
    """For a second, with a load that lasts as long as it has to."""
    (*looks,), (mimic, again) = (
        elsewhere(*block) for block in (("commands.md", "it traces a disk"), ("mimic.md", "it watches a disk in use"))
    )
    with loops_in(tmp_path) as loops, traces(tmp_path):
        node = loops.disk()
        load = ("fio", "--name=load", f"--filename={node}", "--rw=randread", "--bs=4k", "--rate_iops=200", "--direct=1")
        with subprocess.Popen((*load, "--time_based", "--runtime=600"), stdout=subprocess.DEVNULL) as fio:
            try:
                for line in (*looks, mimic):
                    short = line.partition("#")[0].replace("sda", node).replace("30m", "1s").replace("5m", "1s")
                    words = shlex.split(short.replace("my-load.toml", str(home / "my-load.toml")))
                    words = words[words.index("diskprof") + 1 :]
                    done = diskprof(*words, home=home)
                    assert done.returncode == 0, done.stderr
                    assert "In flight" in done.stdout
            finally:
                fio.terminate()
    (home / "new").mkdir()
    words = shlex.split(
        again.replace("/mnt", str(home)).replace("my-load", str(home / "my-load")).replace("20g", "32m")
    )
    done = diskprof(*words[1:], "--dry-run", home=home)
    assert done.returncode == 0 and "4096" in done.stdout, done.stderr


@pytest.mark.needs("ssh", "sshd", "ssh-keygen")
@pytest.mark.parametrize("document", ["README.md", "faq.md"])
def test_the_screen_opens_as_it_is_typed(document: str, home: Path, tmp_path: Path) -> None:
    over_ssh, *here = elsewhere(document, "it opens the screen")
    programs = write_program(tmp_path / "bin")
    env = environment(home, PATH=f"{programs}:{os.environ['PATH']}")
    with sshd(tmp_path / "sshd", home) as server:
        before, after = over_ssh.split(" HOST ")
        _, *options = before.split()
        typed = [["sh", "-c", line] for line in here] + [server.ssh(after, options=options)]
        for argv in typed:
            with terminal(argv, env, cwd=home) as shown:
                shown.wait_for("Plan", "q Quit")
                shown.press("q")
                assert shown.wait_for_end() == 0, argv


@pytest.mark.needs("ssh", "sshd", "ssh-keygen")
def test_runs_come_from_another_machine_as_it_is_typed(home: Path, tmp_path: Path) -> None:
    (line,) = elsewhere("scripting.md", "it needs another machine")
    assert line.startswith("ssh server ")
    there = tmp_path / "there"
    there.mkdir()
    assert diskprof("run", "ioping-latency", there, "--set", "count=2", home=there).returncode == 0
    env = environment(home, PATH=f"{write_program(tmp_path / 'bin')}:{os.environ['PATH']}")
    with sshd(tmp_path / "sshd", there) as server:
        words = line.replace("ssh server", shlex.join(server.ssh(tty=False)))
        done = subprocess.run(
            ["sh", "-c", words], env=env, cwd=home, capture_output=True, text=True, timeout=PATIENCE_S
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [run["id"] for run in diskprof_json("runs", "--json", home=there)]


def test_other_hosts_are_planned_as_it_is_typed(home: Path, tmp_path: Path) -> None:
    """Their plans: tests/real/test_fleet.py has runs."""
    runs = [line for line in elsewhere("fleet.md", "it needs other hosts") if line.startswith("diskprof run ")]
    with hosts(tmp_path, ("web1", "web2", "db1")) as found:
        target = found.target(0).partition(":")[2]
        (found.home / "hosts.txt").write_text(f"web1:{target}\nweb2:{target}\n")
        for line in runs:
            words = shlex.split(line.replace("root@", "").replace("/srv", target).replace(" --detach", ""))[1:]
            plans = diskprof_json(*words, "--dry-run", "--json", home=found.home, PATH=found.path)["members"]
            assert [each["host"] for each in plans][:2] == ["web1", "web2"]
            assert all(each["plan"] and not each["error"] for each in plans)


def test_another_host_is_reached_as_it_is_typed(home: Path, tmp_path: Path) -> None:
    screen_of, runs_of = elsewhere("ssh.md", "it needs another machine")
    typed = elsewhere("commands.md", "it needs another machine")
    assert [line.partition("  ")[0] for line in typed] == [screen_of, runs_of]
    with sshd(tmp_path / "sshd", home) as server:
        path = f"{server.client(tmp_path / 'client')}:{write_program(tmp_path / 'bin')}:{os.environ['PATH']}"
        env = environment(tmp_path, PATH=path)
        words = runs_of.replace("HOST", HOST)
        done = subprocess.run(
            ["sh", "-c", words], env=env, cwd=home, capture_output=True, text=True, timeout=PATIENCE_S
        )
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        with terminal(["sh", "-c", screen_of.replace("HOST", HOST)], env, cwd=home) as screen:
            screen.wait_for("Quick check")
            screen.press("q")
            assert screen.wait_for_end() == 0


@pytest.mark.needs("sqlite3")
def test_results_are_read_with_sqlite3_as_it_is_typed(home: Path) -> None:
    done = diskprof("run", "ioping-latency", home, "--set", "count=2", "--tag", "nightly", home=home)
    assert done.returncode == 0, done.stderr
    script = "\n".join(elsewhere("scripting.md", "it needs sqlite3"))
    done = subprocess.run(
        ["sh", "-ec", script], env=environment(home), capture_output=True, text=True, timeout=PATIENCE_S
    )
    head, iops, p99 = done.stdout.splitlines()
    assert head == "started_at|value", done.stderr
    assert float(iops.split("|")[1]) > 0 and float(p99.removeprefix("latency|")) > 0


def test_what_is_not_run_is_typed_somewhere() -> None:
    lines = [line for path in DOCUMENTS for _, _, text in blocks(path, "sh") for line in text.splitlines()]
    for word in NOT_RUN:
        assert any(line.startswith(f"{word} ") for line in lines), word


def test_the_quick_check_takes_and_writes_what_the_readme_says(home: Path) -> None:
    plan = diskprof_json("run", "quick", home, "--dry-run", "--json", home=home)
    said = re.search(r"takes half a minute and writes ([\d.]+) GiB", (REPOSITORY / "README.md").read_text())
    assert said and said[1] == f"{plan['bytes_written'] / (1 << 30):.1f}"
    assert 20 < plan["seconds"] < 40


def test_the_commands_of_the_crontab_work(tmp_path: Path) -> None:
    document = REPOSITORY / "docs/scripting.md"
    entry = re.compile(r"^(?:[\d*,/-]+ +){5}(.+)$", re.MULTILINE)
    found = [
        Example(document.name, number, line)
        for number, _, text in blocks(document, "cron")
        for line in entry.findall(text)
    ]
    assert found
    # In a crontab, a percent sign is the end of the line.
    assert not any("%" in example.text for example in found)
    run(found, tmp_path / "home")


def test_the_steps_of_the_workflow_work(tmp_path: Path) -> None:
    document = REPOSITORY / "docs/scripting.md"
    found = [
        Example(document.name, number, line)
        for number, _, text in blocks(document, "yaml")
        for line in re.findall(r"^- run: (.+)$", text, re.MULTILINE)
    ]
    assert found
    summary = tmp_path / "summary.md"
    run(found, tmp_path / "home", GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().startswith("#")


def test_the_command_of_the_monitoring_works(tmp_path: Path) -> None:
    document = REPOSITORY / "docs/scripting.md"
    found = [
        Example(document.name, number, line.replace("$ARG1$", ".").replace("$ARG2$", "50ms"))
        for number, _, text in blocks(document, "nagios")
        for line in re.findall(r"^ *command_line +(.+)$", text, re.MULTILINE)
    ]
    assert found
    run(found, tmp_path / "home")
