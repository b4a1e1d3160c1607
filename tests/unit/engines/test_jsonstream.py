import json
import random

import pytest
from fio_streams import NAMES, recording
from hypothesis import given
from hypothesis import strategies as st

from diskprof.engines.jsonstream import ArrayStream, Broken, Document, DocumentStream, Noise, StreamPart, parse_object
from diskprof.model.errors import EngineError

IOPING = b"""[{
  "timestamp": 1795226395.472874,
  "io": {
    "request": 1,
    "time": 117294
  }
},{
  "timestamp": 1795226395.673194,
  "stat": {
    "count": 2
  }
}]
"""
TWO = b'x: (g=0): rw=read\n{\n  "a" : 1\n}\nfio: terminating on signal 2\n{\n  "b" : {\n    "c" : 2\n  }\n}\n'


def pieces_of(stream: DocumentStream | ArrayStream, chunks: list[bytes]) -> list[StreamPart]:
    return [piece for chunk in chunks for piece in stream.feed(chunk)] + stream.close()


def values_of(pieces: list[StreamPart]) -> list[object]:
    return [piece.value for piece in pieces if isinstance(piece, Document)]


def noise_of(pieces: list[StreamPart]) -> list[str]:
    return [piece.text for piece in pieces if isinstance(piece, Noise)]


def broken_at_random(data: bytes, seed: int) -> list[bytes]:
    chance = random.Random(seed)
    cuts = sorted(chance.randrange(len(data)) for _ in range(chance.randrange(1, 60)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


@pytest.mark.parametrize("name", NAMES)
def test_recorded_streams_survive_random_splits(name: str) -> None:
    recorded = recording(name)
    whole = pieces_of(DocumentStream(), [recorded.out])
    assert values_of(whole) == recorded.documents
    assert not any(isinstance(piece, Broken) for piece in whole)
    for seed in range(5):
        assert pieces_of(DocumentStream(), broken_at_random(recorded.out, seed)) == whole


def test_each_split_point_of_a_real_stream_gives_the_same() -> None:
    data = recording("3.33-iodepth-note").out
    whole = pieces_of(DocumentStream(), [data])
    assert [type(piece) for piece in whole] == [Noise, Document]
    for cut in range(len(data) + 1):
        assert pieces_of(DocumentStream(), [data[:cut], data[cut:]]) == whole


@pytest.mark.parametrize("name", ["3.1-sigint", "3.33-sigint"])
def test_byte_by_byte_gives_the_same(name: str) -> None:
    data = recording(name).out
    stream = DocumentStream()
    pieces = pieces_of(stream, [data[at : at + 1] for at in range(len(data))])
    assert values_of(pieces) == recording(name).documents
    assert noise_of(pieces) == ["fio: terminating on signal 2"]
    assert json.loads(stream.last) == recording(name).final


def test_the_bytes_of_the_last_document_are_kept() -> None:
    stream = DocumentStream()
    pieces_of(stream, [TWO])
    assert stream.last == b'{\n  "b" : {\n    "c" : 2\n  }\n}'


@pytest.mark.parametrize("line_end", [b"\r\n", b"\r"])
def test_other_line_ends_are_line_ends_too(line_end: bytes) -> None:
    data = TWO.replace(b"\n", line_end)
    expected = ([{"a": 1}, {"b": {"c": 2}}], ["x: (g=0): rw=read", "fio: terminating on signal 2"])
    for cut in range(len(data) + 1):
        pieces = pieces_of(DocumentStream(), [data[:cut], data[cut:]])
        assert (values_of(pieces), noise_of(pieces)) == expected


def test_a_document_that_breaks_off_is_told_and_the_next_one_read() -> None:
    pieces = pieces_of(DocumentStream(), [b'{\n  "a" : 1,\n  "b" :', b'\n{\n  "c" : 3\n}\n'])
    assert [type(piece) for piece in pieces] == [Broken, Document]
    assert values_of(pieces) == [{"c": 3}]


def test_a_last_document_that_breaks_off_leaves_the_one_before() -> None:
    stream = DocumentStream()
    pieces = pieces_of(stream, [TWO, b'{\n  "half" : '])
    assert isinstance(pieces[-1], Broken)
    assert json.loads(stream.last) == {"b": {"c": 2}}


def test_a_last_document_without_a_line_end_counts() -> None:
    assert values_of(pieces_of(DocumentStream(), [TWO.rstrip()])) == [{"a": 1}, {"b": {"c": 2}}]


def test_something_that_only_looks_like_a_document_is_broken() -> None:
    pieces = pieces_of(DocumentStream(), [b"{\nfio: not JSON\n}\n{\n}\n"])
    assert pieces == [Broken(17), Document({}, b"{\n}")]


def test_foreign_bytes_control_characters_and_no_numbers_are_read() -> None:
    raw = b'{\n  "name" : "caf\xe9 \x1b[31m\ttab",\n  "a" : nan,\n  "b" : -nan,\n  "c" : inf,\n  "d" : [1, 2]\n}'
    (value,) = values_of(pieces_of(DocumentStream(), [raw + b"\n"]))
    assert value == {"name": "caf\udce9 \x1b[31m\ttab", "a": None, "b": None, "c": None, "d": [1, 2]}


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
)


@given(value=st.dictionaries(st.text(), _VALUES, max_size=5))
def test_an_object_is_read_to_the_last_digit(value: dict[str, object]) -> None:
    assert repr(parse_object(json.dumps(value).encode())) == repr(value)


@pytest.mark.parametrize("name", NAMES)
def test_every_recorded_document_is_what_pythons_own_reader_makes_of_it(name: str) -> None:
    recorded = recording(name)
    documents = [piece for piece in pieces_of(DocumentStream(), [recorded.out]) if isinstance(piece, Document)]
    assert len(documents) == len(recorded.documents)
    for document in documents:
        theirs = json.loads(document.raw.decode("utf-8", "surrogateescape"), strict=False)
        assert repr(document.value) == repr(theirs)


def test_noise_is_harmless_for_a_terminal() -> None:
    assert noise_of(pieces_of(DocumentStream(), [b"\x1b]52;c;x\x07 caf\xe9\n\n \n"])) == [
        "\ufffd]52;c;x\ufffd caf\ufffd"
    ]


@pytest.mark.parametrize("flood", [b"x" * 100, b"{\n" + b'"a": 1,' * 20])
@pytest.mark.parametrize("form", [DocumentStream, ArrayStream])
def test_a_line_or_document_without_end_is_refused(form: type[DocumentStream | ArrayStream], flood: bytes) -> None:
    stream = form(most_bytes=64)
    with pytest.raises(EngineError):
        for at in range(0, len(flood), 10):
            stream.feed(flood[at : at + 10])


def test_nesting_beyond_all_bounds_is_no_document() -> None:
    assert parse_object(b'{"a":' * 100_000) is None


def test_array_elements_come_at_each_split_point() -> None:
    whole = pieces_of(ArrayStream(), [IOPING])
    assert values_of(whole) == json.loads(IOPING)
    for cut in range(len(IOPING) + 1):
        stream = ArrayStream()
        assert pieces_of(stream, [IOPING[:cut], IOPING[cut:]]) == whole
        assert stream.closed


def test_an_array_element_is_there_before_the_next_one_begins() -> None:
    first = IOPING[: IOPING.index(b",{")]
    stream = ArrayStream()
    assert values_of(stream.feed(first)) == json.loads(IOPING)[:1]
    assert not stream.closed


def test_noise_beside_an_array_is_told_apart() -> None:
    stream = ArrayStream()
    pieces = pieces_of(stream, [b"ioping: warning\n" + IOPING + b"bye"])
    assert noise_of(pieces) == ["ioping: warning", "bye"]
    assert len(values_of(pieces)) == 2
    assert stream.closed


def test_an_array_that_breaks_off_is_not_closed() -> None:
    stream = ArrayStream()
    pieces = pieces_of(stream, [IOPING[:-30]])
    assert [type(piece) for piece in pieces] == [Document, Broken]
    assert not stream.closed


def test_what_follows_the_end_of_an_array_is_taken_apart_as_before() -> None:
    for cut in range(3):
        stream = ArrayStream()
        assert pieces_of(stream, [b"]["[:cut], b"]["[cut:], b" ,\n"]) == []
        assert stream.closed


chunks = st.lists(
    st.one_of(st.binary(max_size=40), st.sampled_from([b"{\n", b"\n}\n", b"}", b'"a": 1', b"[{", b"},{", b"]"]))
)


@given(chunks)
def test_any_bytes_into_a_document_stream_give_pieces(data: list[bytes]) -> None:
    whole = DocumentStream()
    assert pieces_of(DocumentStream(), data) == pieces_of(whole, [b"".join(data)])
    assert parse_object(whole.last) is not None or not whole.last


@given(chunks)
def test_any_bytes_into_an_array_stream_give_pieces(data: list[bytes]) -> None:
    whole = ArrayStream()
    assert pieces_of(ArrayStream(), data) == pieces_of(whole, [b"".join(data)])
    assert parse_object(whole.last) is not None or not whole.last
