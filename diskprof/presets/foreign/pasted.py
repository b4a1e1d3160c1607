"""Text as it is pasted from a page or a terminal -> the commands of fio, DiskSpd and ioping in it.

Nothing is run by a shell: what leads to a command, and what is done with its output, is left out with a line.
"""

import re
import shlex
from collections.abc import Iterator, Sequence

from msgspec import Struct

from diskprof.model.errors import UsageError
from diskprof.model.text import clean

LONGEST_TEXT = 64 * 1024
"""Characters."""

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_LEADING_DASHES = re.compile(rf"(?<![^\s\"'])[{_DASHES}]*[{_DASHES[1:]}][{_DASHES}]*")
_QUOTES = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "\xa0": " ", "\u202f": " "})
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[\w-]*[ \t]*$|</?(?:code|pre)[^<>\n]{0,80}>", re.MULTILINE)
_LIST_MARK = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[-*+\u2022](?=[ \t]+[`\w./]))[ \t]+")
_INNER_CODE = re.compile(r"`([^`\n]*\b(?:fio|ioping|diskspd)(?:\.exe)?[ \t][^`\n]*)`", re.IGNORECASE)
_INNER_COMMENT = re.compile(r"`#[^`\n]{0,400}`")
_REDIRECTION = re.compile(r"(?<!\S)[0-2&]?(?=>)")
_PLACE = r"(?:\([\w.-]{1,40}\)[ \t]*)?(?:\[[^\]\n]{1,80}\]|[\w.-]{1,40}@[\w.-]{1,60}(?::[^\s$#%>]{0,80})?|(?:~|/)[^\s$#%>]{0,80})?"
_PROMPT = re.compile(rf"[ \t]*(?:{_PLACE}[ \t]*[$#>%][ \t]+)*")
_OTHER_PROMPT = re.compile(
    r"[^`'\"|;&]{0,120}?(?:[$#>%\u276f\u279c\u03bb\u00bb]|\u279c[ \t]+\S+)[ \t]+"
    r"(?=(?:\S*[\\/])?(?:sudo|fio|ioping|diskspd)(?:\.exe)?\s)",
    re.IGNORECASE,
)
"""A prompt of some other form, before a command that is known."""
_BARE_PROMPT = re.compile(r"[ \t]*[$#>](?=(?:sudo|fio|ioping|diskspd)\s)", re.IGNORECASE)
"""`$fio`, as pages print it."""
_SECOND_PROMPT = re.compile(r"^[ \t]*>[ \t]+")
_SUBSTITUTED = re.compile(r"[A-Za-z_]\w*=\"?\$\((.*)\)\"?;?", re.DOTALL)
_OUTPUT = re.compile(
    r"fio-\d|Starting \d+ |Jobs: \d+ |Run status group|Disk stats|\S+: \(g(?:roupid)?=\d+|\.\.\.$"
    r"|(?:read|write|clat|slat|lat|bw|iops|cpu|IO depths|submit|complete|issued rwts|latency|READ|WRITE)\b[^=]{0,40}[:(]"
    r"|\S+: (?:Laying out |ios=\d)|\|\s*[\d.]"
    r"|-{3}|\d[\d.]* (?:[KMGkmg]?i?B|bytes) from |.{0,80} requests (?:completed )?in |min/avg/max/mdev",
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_MADE_BY_SHELL = frozenset({"for", "while", "until", "if", "case", "function", "do", "done", "then", "{", "("})
_ENDS = frozenset({";", ";;", "&&", "||", "&"})
_IMAGE = re.compile(r"(?:[\w.:-]+/)*[\w.-]*fio[\w.-]*(?::[\w.-]+)?(?:@sha256:[0-9a-f]+)?")

PROGRAMS = frozenset({"fio", "diskspd", "ioping"})
_WITH_VALUE = {
    "sudo": "CDghpRrTtUu",
    "doas": "Cu",
    "nice": "n",
    "ionice": "cn",
    "taskset": "",
    "numactl": "NmCi",
    "chrt": "TPD",
    "time": "fo",
    "timeout": "ks",
    "env": "uC",
    "stdbuf": "ioe",
    "setsid": "",
    "nohup": "",
    "exec": "a",
    "unbuffer": "",
}
"""What starts a program, each with its one-letter options that take a word."""
_ARGUMENTS = {"taskset": 1, "chrt": 1, "timeout": 1}
"""How many words stand before the program, behind the options."""
_ELSEWHERE = frozenset({
    "docker", "podman", "nerdctl", "crictl", "kubectl", "oc", "k3s", "ssh", "lxc", "pct", "ip", "nsenter", "chroot",
    "systemd-run", "singularity", "apptainer", "vagrant", "watch", "strace", "ltrace", "perf", "operf", "cgexec",
    "prlimit",
})  # fmt: skip
"""Programs that start another one somewhere else, whose words before it are not looked at."""
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ash"})
_MOST_DEPTH = 4


class PastedCommand(Struct, frozen=True):
    """`words` are those behind the program's name. `notes`: a line for each thing that was left out."""

    program: str
    words: tuple[str, ...]
    notes: tuple[str, ...] = ()


def commands_of(text: str) -> tuple[PastedCommand, ...]:
    """Every command of fio, DiskSpd and ioping in `text`, in its order.

    Understood are continued lines, prompts, comments, numbered lines, typographic dashes and quotes, code fences; sudo, nice,
    docker run and the like in front, pipes and redirections behind. Raises UsageError where there is none, for a command that
    only a shell could make, and for any other program.
    """
    if len(text) > LONGEST_TEXT:
        raise UsageError(f"A text of {len(text)} characters is too long.", f"At most {LONGEST_TEXT} are read.")
    text = without_fences(text).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "`'\"" and text[0] not in text[1:-1]:
        text = text[1:-1]
    lines, notes = _lines(_INNER_CODE.sub(r"\n\1\n", _INNER_COMMENT.sub(" ", text)))
    found: list[PastedCommand] = []
    others: list[str] = []
    for line in lines:
        for words in _segments(line, notes):
            command = _command(words)
            if command:
                found.append(command)
            else:
                others.append(" ".join(words))
    if not found:
        raise _no_command(others)
    notes += [f"{shown(other)} is left out: it is no command of fio, diskspd or ioping." for other in others]
    first, *more = found
    return (PastedCommand(first.program, first.words, (*notes, *first.notes)), *more)


def without_fences(text: str) -> str:
    """`text` without the fences and tags of code, with plain quotes and blanks. Its lines stay where they are."""
    return _FENCE.sub("", text.translate(_QUOTES))


def shown(text: str) -> str:
    """Foreign text in a message: one line of at most 60 characters."""
    text = " ".join(clean(text[:240]).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _no_command(others: Sequence[str]) -> UsageError:
    words = [word for word in " ".join(others[:1]).split() if word[0] != "-" and _program(word) not in _WITH_VALUE]
    if not words:
        return UsageError("There is no command.", "Give a command line of fio, diskspd or ioping.")
    first = words[0]
    hint = (
        "aerospike-prewarm fills a device as this dd does."
        if first == "dd"
        else "Only their command lines are understood."
    )
    return UsageError(f"{clean(first[:40])!r} is not fio, diskspd or ioping.", hint)


# --- Lines -----------------------------------------------------------------------------------------------------------


def _lines(text: str) -> tuple[list[str], list[str]]:
    """The commands, each on a line of its own, without comments and what fio printed; and notes."""
    lines: list[str] = []
    printed, continued = 0, False
    for raw in re.split(r"\r?\n|\r", text):
        line = _LIST_MARK.sub("", raw, count=1)
        line = _SECOND_PROMPT.sub("", line, count=1) if continued else _without_prompt(line)
        line = _without_comment(line).rstrip()
        more = line.endswith(("\\", "^", "`")) and line.count("`") % 2 == line.endswith("`")
        words = (line[:-1] if more else line).strip()
        if not words.strip("*+,.:;\u2022"):
            continued = continued and (more or not raw.strip() or raw.lstrip().startswith("#"))
            continue
        begins = not continued and not _is_option(words)
        if begins and not _begins(words):
            if raw.lstrip().startswith("#"):
                continue
            if lines and _OUTPUT.match(words):
                printed += 1
                continue
        if lines and not begins:
            lines[-1] += f" {words}"
        else:
            lines.append(words)
        continued = more
    notes = (
        [f"{printed} line{'s' if printed > 1 else ''} of output {'are' if printed > 1 else 'is'} left out."]
        if printed
        else []
    )
    return [_LEADING_DASHES.sub("--", line) for line in lines], notes


def _without_prompt(line: str) -> str:
    line = _BARE_PROMPT.sub("", _PROMPT.sub("", line, count=1), count=1)
    other = None if not line.strip() or _begins(line) else _OTHER_PROMPT.match(line)
    return line[other.end() :] if other else line


def _is_option(line: str) -> bool:
    return line[0] in _DASHES


def _begins(line: str) -> bool:
    """Whether a line begins a command, rather than going on with the one before."""
    first = line.split(maxsplit=1)[0]
    name = _program(first)
    known = name in PROGRAMS or name in _WITH_VALUE or name in _ELSEWHERE or name in _SHELLS or first in _MADE_BY_SHELL
    return known or (bool(_ASSIGNMENT.fullmatch(first)) and " " in line)


def _without_comment(line: str) -> str:
    """Without what a shell takes for a comment: from a # that begins a word, outside quotes."""
    quote = ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (at == 0 or line[at - 1] in " \t;") and not line[at + 1 : at + 2].isdigit():
            # `#1` is a disk of DiskSpd's.
            return line[:at]
    return line


# --- What leads to a command, and away from it ------------------------------------------------------------------------


def _segments(line: str, notes: list[str]) -> Iterator[list[str]]:
    """The commands of a line that a shell would run one after the other, without pipes and redirections."""
    words = _split(line)
    segment: list[str] = []
    piped: list[str] | None = None
    rest = iter(words)
    for word in rest:
        if word in _ENDS:
            yield from [segment] if segment else []
            segment, piped = [], _told_pipe(piped, notes)
        elif word in ("|", "|&"):
            piped = _told_pipe(piped, notes) or []
            if segment and not _runs(segment):
                # What is piped into it only leads to the command.
                notes.append(f"{shown(shlex.join(segment))} | is left out: it is no command of fio, diskspd or ioping.")
                segment, piped = [], None
        elif piped is not None:
            piped.append(word)
        elif set(word) <= set("<>&|") and ("<" in word or ">" in word):
            notes.append(f"{shown(f'{word} {next(rest, str())}')} is left out: diskprof keeps the output itself.")
        else:
            segment.append(word)
    _told_pipe(piped, notes)
    yield from [segment] if segment else []


def _runs(words: Sequence[str]) -> bool:
    """Whether one of the three is what the words start, here or elsewhere."""
    return any(_program(word) in PROGRAMS or _IMAGE.fullmatch(word) for word in (words[0], *words[1:]))


def _told_pipe(piped: list[str] | None, notes: list[str]) -> list[str] | None:
    if piped:
        notes.append(f"| {shown(shlex.join(piped))} is left out: diskprof keeps the output itself.")
    return None


def _split(text: str) -> list[str]:
    inner = _SUBSTITUTED.fullmatch(text.strip())
    text = inner[1] if inner else text
    windows = re.match(r"\S*diskspd", text, re.IGNORECASE)
    lexer = shlex.shlex(_REDIRECTION.sub("", text), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    if windows:
        # Its targets are paths of Windows.
        lexer.escape = ""
    try:
        return list(lexer)
    except ValueError:
        raise UsageError("The command has a quote that does not end.", "Close it, or leave it out.") from None


def _command(words: Sequence[str], depth: int = 0) -> PastedCommand | None:
    """The command behind what leads to it; None where there is none of the three."""
    if words[0].startswith("-"):
        words = ["fio", *words]
    lead: list[str] = []
    rest = list(words)
    while rest and (name := _program(rest[0])) not in PROGRAMS:
        if rest[0] in _MADE_BY_SHELL and not _is_prose(rest):
            raise UsageError(
                f"{clean(rest[0][:40])!r} has a shell make the commands.",
                "Give one of its commands, with the values in it.",
            )
        skip = _leading(name, rest)
        if not skip:
            return None
        if name in _SHELLS:
            return _inner(rest[skip - 1 :], (*lead, *rest[: skip - 1]), depth) if depth < _MOST_DEPTH else None
        lead += rest[:skip]
        rest = rest[skip:]
        if name in _ELSEWHERE and lead and _IMAGE.fullmatch(lead[-1]) and _program(lead[-1]) not in PROGRAMS:
            # The image starts fio itself.
            rest.insert(0, "fio")
    if not rest:
        return None
    told = "" if all(_program(word) in ("sudo", "time", "doas") for word in lead) else shown(shlex.join(lead))
    notes = (f"{told} is left out: diskprof starts the program itself, here.",) if told else ()
    return PastedCommand(_program(rest[0]), tuple(rest[1:]), notes)


def _is_prose(words: Sequence[str]) -> bool:
    """Whether words that begin as a loop or condition of a shell are a sentence: `for that.`"""
    loop = len(words) == 1 or words[2:3] == ["in"] or words[1].startswith("(")
    return not loop and not any(_program(word) in PROGRAMS for word in words)


def _inner(words: Sequence[str], lead: Sequence[str], depth: int) -> PastedCommand | None:
    """The command of `sh -c '...'`."""
    notes: list[str] = []
    found = [each for segment in _segments(words[0], notes) if (each := _command(segment, depth + 1))]
    if not found:
        return None
    told = f"{shown(shlex.join(lead))} is left out: diskprof starts the program itself, here."
    return PastedCommand(found[0].program, found[0].words, (told, *notes, *found[0].notes))


def _program(word: str) -> str:
    return re.split(r"[/\\]", word)[-1].lower().removesuffix(".exe")


def _leading(name: str, words: Sequence[str]) -> int:
    """How many words at the beginning only lead to the program; 0 where they do not."""
    if _ASSIGNMENT.fullmatch(words[0]):
        return 1
    if name in _SHELLS:
        at = next((at for at, word in enumerate(words) if re.fullmatch(r"-[a-z]*c", word)), 0)
        return at + 2 if at and at + 1 < len(words) else 0
    if name in _ELSEWHERE:
        return _elsewhere(words)
    if name not in _WITH_VALUE:
        return 0
    at, arguments = 1, _ARGUMENTS.get(name, 0)
    while at < len(words) and words[at].startswith("-"):
        option = words[at]
        if option == "--":
            at += 1
            break
        if name == "taskset" and re.fullmatch(r"-c.+|--cpu-list=.+", option):
            arguments = 0
        takes = re.fullmatch(r"-[A-Za-z]", option) and option[1] in _WITH_VALUE[name]
        at += 2 if takes else 1
    return min(at + arguments, len(words))


def _elsewhere(words: Sequence[str]) -> int:
    """Up to the program, or with the image that starts it: `docker run --rm someone/fio --name=...`."""
    if "--" in words[:-1] and _program(words[0]) in ("kubectl", "oc", "k3s"):
        return words.index("--") + 1
    for at, word in enumerate(words[1:], 1):
        if _program(word) in PROGRAMS and words[at - 1] not in ("--name", "-n", "--entrypoint", "exec"):
            behind = next((other for other in words[at + 1 :] if _program(other) in PROGRAMS), None)
            return words.index(behind, at + 1) if behind else at
        if (
            at + 1 < len(words)
            and _IMAGE.fullmatch(word)
            and words[at + 1].startswith("--")
            and words[at - 1] != "--name"
        ):
            return at + 1
        if _program(word) in _SHELLS:
            return at
    return 0
