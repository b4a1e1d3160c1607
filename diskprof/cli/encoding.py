"""What can be printed: UTF-8, or ASCII where the locale, the stream or the person (`--ascii`) says so."""

import codecs
import os
import sys
from collections.abc import Mapping

from diskprof.model.text import in_ascii, says_utf8, started_with

_CODEC = "diskprof-plain"
_made: dict[str, str] = {}


def stdout_is_utf8() -> bool:
    """Whether box drawing and braille can be printed."""
    return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"


def encoding_of_stdout() -> str | None:
    """As the locale made it, whatever is printed."""
    return _made.get("stdout", sys.stdout.encoding)


def print_plainly() -> None:
    """From now on what is printed is ASCII: a like sign stands for each that is not."""
    _made.setdefault("stdout", sys.stdout.encoding)
    codecs.register(_found)
    for stream in (sys.stdout, sys.stderr):
        # Not by the name of ascii: click takes that for a mistake, and prints UTF-8.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=_CODEC, errors="strict")


def heed_locale(environment: Mapping[str, str] = os.environ) -> None:
    """Print ASCII where UTF-8 would not be shown."""
    # What completes a word is that word.
    if "_DISKPROF_COMPLETE" not in environment:
        told = started_with(environment)
        if not all(says_utf8(told, getattr(stream, "encoding", None)) for stream in (sys.stdout, sys.stderr)):
            print_plainly()


def echo_data(text: str) -> None:
    """Prints what a program reads, or a file that says itself that it is UTF-8: as it is, whatever a terminal could show."""
    import click

    click.echo(text.encode("utf-8", "surrogateescape"), nl=False)


def _encode(text: str, errors: str = "strict") -> tuple[bytes, int]:
    return in_ascii(text).encode("ascii", "replace"), len(text)


def _decode(data: bytes, errors: str = "strict") -> tuple[str, int]:
    return bytes(data).decode("ascii", "replace"), len(data)


class _Encoder(codecs.IncrementalEncoder):
    def encode(self, text: str, final: bool = False) -> bytes:
        return _encode(text)[0]


class _Decoder(codecs.IncrementalDecoder):
    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]
        return _decode(data)[0]


def _found(name: str) -> codecs.CodecInfo | None:
    if name.replace("_", "-") != _CODEC:
        return None
    return codecs.CodecInfo(_encode, _decode, incrementalencoder=_Encoder, incrementaldecoder=_Decoder, name=_CODEC)  # type: ignore[arg-type]
