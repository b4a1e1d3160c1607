"""What a file holds, told by its content, and the runs in it."""

import codecs
import json
import re
import shlex

from diskprof.engines.jsonstream import ArrayStream, Document, DocumentStream, StreamPart, parse_object
from diskprof.engines.results.fio_results import fio_runs, is_fio
from diskprof.engines.results.found import BadResults, FoundRun, NoResults
from diskprof.engines.results.ioping_results import ioping_run, is_ioping, raw_line, raw_run
from diskprof.model.advice import Advice
from diskprof.model.errors import EngineError
from diskprof.model.text import clean

LARGEST = 256 << 20
"""Bytes of a file of results."""

_SECTION = re.compile(rb"^[ \t]*\[[A-Za-z_][^\]\n\0\",:{}]*\][ \t\r]*(?:[;#].*)?$", re.MULTILINE)
_TABLES = re.compile(rb"^\S+: \(groupid=\d+, jobs=\d+\)", re.MULTILINE)
_TERSE = re.compile(rb"^[345];fio-\d", re.MULTILINE)
_PRETTY = re.compile(rb"^--- .+ ioping statistics ---", re.MULTILINE)
_JSON = Advice("Run fio with --output-format=json+ (or json).", "Let fio write json+ (or json).")


def results_of(data: bytes, name: str = "FILE") -> tuple[FoundRun, ...]:
    """The runs of a file; `name` is for hints. Raises NoResults for what holds none, BadResults where they cannot be read."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # As PowerShell writes what it redirects.
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    data = data.removeprefix(codecs.BOM_UTF8).strip()
    if not data:
        raise NoResults("it is empty")
    if data.startswith(b"["):
        # Also a job file begins so.
        elements = _array(data)
        if is_ioping(elements):
            return (ioping_run(elements, data),)
        if elements:
            return tuple(fio_runs(Document(each, json.dumps(each).encode()) for each in elements))
    if values := raw_line(data):
        return (raw_run(values, data),)
    try:
        parts = _parts(data)
        if any(isinstance(part, Document) and is_fio(part.value) for part in parts) or _begun(data):
            return tuple(fio_runs(parts))
    except EngineError as error:
        raise BadResults(error.message.rstrip(".")) from None
    raise _something_else(data, name)


def _array(data: bytes) -> list[dict[str, object]]:
    """The objects of a JSON array; those that are whole where it breaks off."""
    whole = parse_object(b'{"all":' + data + b"}")
    if whole is not None:
        found = whole["all"]
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    stream = ArrayStream()
    pieces = [*stream.feed(data), *stream.close()]
    return [dict(piece.value) for piece in pieces if isinstance(piece, Document)]


def _parts(data: bytes) -> list[StreamPart]:
    """One document however it is laid out, one a line, or as fio prints them among its other lines."""
    if data.startswith(b"{"):
        whole = parse_object(data)
        if whole is not None:
            return [Document(whole, data)]
        first, _, rest = data.partition(b"\n")
        if rest and parse_object(first) is not None:
            lines = [line for line in data.split(b"\n") if line.strip()]
            values = [parse_object(line) for line in lines]
            return [Document(value, line) for value, line in zip(values, lines, strict=True) if value is not None]
    stream = DocumentStream()
    return [*stream.feed(data), *stream.close()]


def _begun(data: bytes) -> bool:
    """Whether a document of fio's begins in it, though it may not be whole."""
    return re.search(rb'^\{\s*"fio version"', data, re.MULTILINE) is not None


def _something_else(data: bytes, name: str) -> NoResults:
    if data.startswith(b"{") and (value := parse_object(data)) is not None:
        return NoResults("it is JSON, but no result of fio's or ioping's" if value else "it is an empty JSON object")
    if _TABLES.search(data) or _TERSE.search(data):
        return NoResults("it is fio's output for people, which has no distribution", _JSON)
    if _PRETTY.search(data):
        return NoResults("it is ioping's output for people", "Run ioping with -J.")
    if _SECTION.search(data):
        advice = Advice(
            f"To make a preset of it: diskprof presets import {shlex.quote(clean(name))}",
            "Import it on the Run screen.",
        )
        return NoResults("it is a fio job file", advice)
    return NoResults("it is no run of diskprof's and no result of fio's or ioping's", _JSON)
