"""What fio itself makes of options: read from its own account of how it parses them (`--debug=parse`)."""

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# fio pads the process id to five digits, so how many blanks follow depends on the machine.
_LINE = re.compile(r"parse\s+\d+\s+(.*)")
_OPTION = re.compile(r"handle_option=(\S+), ptr=(.*)")
_PART = re.compile(r"__handle_option=(\S+), type=(\S+), ptr=(.*)")
_RESULT = re.compile(r"\s*ret=(\d+), out=(-?\d+)")
_SECTION = re.compile(r"Parsing section \[(.*)\]")


@dataclass
class FioJob:
    """A job's options under fio's first names: the numbers it read, or the text where it reads none."""

    name: str
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class FioParsing:
    jobs: tuple[FioJob, ...]
    code: int
    output: str


def parse_job_file(path: Path) -> FioParsing:
    """fio's reading of a job file, without any I/O; jobs have what [global] gives them."""
    return _parse([str(path)], lambda text: (found := _SECTION.match(text)) and found[1])


def parse_options(words: Sequence[str]) -> FioParsing:
    """fio's reading of a command line's options, without any I/O."""
    return _parse(words, lambda text: (found := _OPTION.match(text)) and found[1] == "name" and found[2])


def _parse(words: Sequence[str], begins: Callable[[str], Any]) -> FioParsing:
    done = subprocess.run(
        ["fio", "--parse-only", "--debug=parse", *words],
        capture_output=True,
        text=True,
        errors="surrogateescape",
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    jobs: list[FioJob] = []
    common = current = FioJob("")
    for line in done.stdout.splitlines():
        match = _LINE.match(line)
        text = match[1] if match else ""
        name = begins(text)
        if not name:
            _read(text, current)
        elif name.startswith("global"):
            current = common
        else:
            current = FioJob(name, dict(common.values))
            jobs.append(current)
    return FioParsing(tuple(jobs), done.returncode, done.stdout + done.stderr)


def _read(text: str, job: FioJob) -> None:
    if option := _OPTION.match(text):
        # The last one counts, wherever it stands.
        job.values.pop(option[1], None)
        job.values[option[1]] = ()
    elif part := _PART.match(text):
        if part[2] in ("OPT_STR", "OPT_STR_STORE", "OPT_STR_ULL", "OPT_FLOAT_LIST"):
            job.values[part[1]] = (part[3],)
    elif (result := _RESULT.match(text)) and job.values:
        name = next(reversed(job.values))
        job.values[name] = (*job.values[name], result[2])


def can_be_a_command(path: Path) -> bool:
    """Whether a job file can be said on a command line, where a [global] counts only before the first job, a name begins
    a job, and kb_base counts from its place on."""
    lines = [line.strip() for line in path.read_text().splitlines()]
    sections = [line for line in lines if line.startswith("[")]
    odd = ("name=", "kb_base=") if "[global]" in lines else ("kb_base=",)
    return "[global]" not in sections[1:] and not any(line.startswith(odd) for line in lines)


def showcmd(path: Path) -> str:
    """The command line that fio says is the same as a job file."""
    done = subprocess.run(
        ["fio", "--parse-only", "--showcmd", path], capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def first_names(words: Sequence[str]) -> dict[str, str]:
    """fio's first name for each name of an option, as far as it knows one."""
    found = {}
    for word in words:
        done = subprocess.run(["fio", f"--cmdhelp={word}"], capture_output=True, text=True, timeout=60)
        head = re.match(r"\s*(\S+): ", done.stdout)
        if head:
            found[word] = head[1]
    return found
