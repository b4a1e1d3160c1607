"""Everything that reads foreign bytes gives a value or a DiskprofError for any bytes at all (fuzz/targets.py)."""

import random
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.targets import TARGETS, Target, check

EACH = [pytest.param(target, id=target.name) for target in TARGETS.values()]
# What has a meaning to one reader or another, to be put anywhere.
PARTS = (
    *(
        b"\x00",
        b"\xff\xfe",
        b"\x1b]52;c;aGk=\x07",
        b"\x9b31m",
        "\u202e".encode(),
        b"\xed\xa0\x80",
        b"\r",
        b"\n{\n",
        b"\n}\n",
    ),
    *("ſ".encode(), "\u212a".encode(), "٣".encode(), "²".encode(), b"\t ", b"k", b":", b"$", b"${x}", b"%", b"="),
    *(
        b"nan",
        b"-inf",
        b"1e999",
        b"-1",
        b"9" * 30,
        b"9" * 5000,
        b"0x",
        b"true",
        b"null",
        b"[]",
        b"{}",
        b'""',
        b"\\u0000",
    ),
    *(b"[" * 3000, b'{"a":' * 3000, b"a." * 300, b"global", b"include", b"--name="),
)
few = settings(max_examples=40, suppress_health_check=list(HealthCheck))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The input with one to eight changes: bytes flipped, parts left out, doubled, moved or put in."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(changed) + 1)
        end = min(len(changed), at + int(chance.expovariate(1 / 40)))
        match chance.randrange(6):
            case 0 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = changed[at:end]
            case 3:
                changed[at:end] = chance.choice(PARTS)
            case 4:
                changed[at:at] = chance.choice(PARTS)
            case _:
                del changed[chance.randrange(len(changed) + 1) :]
    return bytes(changed)


@pytest.mark.parametrize("target", EACH)
def test_well_formed_input_is_none_of_the_faults(target: Target) -> None:
    seeds = list(target.seeds())
    assert seeds
    for seed in seeds:
        check(target, seed)


@pytest.mark.parametrize("target", EACH)
@few
@given(data=st.binary(max_size=600) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(target: Target, data: bytes) -> None:
    check(target, data)


@pytest.mark.parametrize("target", EACH)
@settings(few, max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_nearly_well_formed_bytes(target: Target, seed: int) -> None:
    chance = random.Random(seed)
    check(target, mutated(chance.choice(list(target.seeds()))[:8_000], chance))


@pytest.mark.parametrize("target", EACH)
@pytest.mark.parametrize(
    "part", [b"[", b"{", b'"', b"\n{\n", b"a.", b"=", b"9", b"\\", b" ", b"--a=b ", b"\x1b", b"{\n}\n"]
)
def test_a_flood_takes_no_memory_out_of_proportion(target: Target, part: bytes) -> None:
    data = b"\x01" + part * (40_000 // len(part))
    tracemalloc.start()
    try:
        check(target, data)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
