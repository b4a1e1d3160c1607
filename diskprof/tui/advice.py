"""Advice that names a command or an option, as it is said on the screen, where the same is done with keys, lists and fields."""

import re

from diskprof.model.errors import DiskprofError, RunNotFound

_SAID = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r" \(--[^)]*\)", ""),
        (r"--set (\w+)=(?=\s|$)", r"\1"),
        (r"--set (\w+=\S+)", r"\1"),
        (
            r"`diskprof devices` lists the disks; `diskprof devices --all` also what is empty\.",
            "Choose one of the list.",
        ),
        (r"`diskprof (devices|presets|runs)` (lists|shows)", r"the list of \1 shows"),
        (r"`diskprof delete` removes the run", "The list of runs deletes it"),
        (r"`diskprof clean` tries again", "The Run screen removes it"),
        (r": diskprof (?:stop|attach) \w+", "."),
        (r"type out what is to be overwritten: --overwrite-signature (\w+)", r"type \1 at the start"),
    )
)
_NO_RUN = re.compile(r"There is no run '(\w+)'\.")


def on_screen(text: str) -> str:
    """`text` without words that only a command line takes."""
    for pattern, words in _SAID:
        text = pattern.sub(words, text)
    # What a list does may begin a sentence now.
    return re.sub(r"(^|[.] )the list", lambda found: f"{found[1]}The list", text)


def for_screen(error: DiskprofError) -> DiskprofError:
    """The error as the screen says it."""
    if isinstance(error, RunNotFound) and (found := _NO_RUN.fullmatch(error.message)):
        return DiskprofError(f"There is no run {found[1]} any more.", "It was deleted.")
    return DiskprofError(error.message, on_screen(error.hint))
