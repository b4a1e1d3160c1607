"""Result files that were changed at random, taken into a store: each is imported whole or not at all, and then shown.

python benchmarks/results.py [--quick] [--files N] [--seed N] [--json FILE]
"""

import io
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measuring.figures import Report, parser, say
from measuring.processes import generators

generators()

from diskprof.model.errors import DiskprofError  # noqa: E402
from diskprof.reports.data.json_runs import run_json  # noqa: E402
from diskprof.reports.render.text import show  # noqa: E402
from diskprof.runner.result_files import import_files  # noqa: E402
from diskprof.store import Store  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402

_PARTS = (
    b"9" * 30,
    b"-1",
    b"1e999",
    b"nan",
    b"null",
    b"[]",
    b"{}",
    b'""',
    b"\xff",
    b"\n{\n",
    b"\n}\n",
    b"\x1b[2J",
    b"\x00",
)


def changed(data: bytes, chance: random.Random) -> bytes:
    """The file with one to eight changes: bits flipped, parts left out, doubled, replaced or cut off."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(found) + 1)
        end = min(len(found), at + int(chance.expovariate(1 / 40)))
        match chance.randrange(9):
            case 0 if at < len(found):
                found[at] ^= 1 << chance.randrange(8)
            case 1 | 2:
                del found[at:end]
            case 3:
                found[at:at] = found[at:end]
            case 4 if chance.randrange(4) == 0:
                del found[at:]
            case _:
                found[at : chance.choice((at, end))] = chance.choice(_PARTS)
    return bytes(found)


def tried(store: Store, data: bytes, before: Sequence[str]) -> int:
    """How many runs were imported and shown; -1 where the file was refused and nothing was kept. Raises AssertionError."""
    try:
        found = import_files(store, ["-"], io.BytesIO(data)).runs
    except DiskprofError:
        assert [summary.id for summary in store.summaries()] == list(before), "a refused file left something behind"
        return -1
    for new in found:
        run = store.run(new.run_id)
        show(run, store.samples(run.id).samples)
        run_json(run)
        if new.new:
            store.delete(run.id)
    assert [summary.id for summary in store.summaries()] == list(before), "more was imported than was said"
    return len(found)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--files", type=int, help="how many changed files (10000; quick: 200)")
    options.add_argument("--seed", type=int, default=1, help="which changes (1)")
    chosen = options.parse_args()
    files = chosen.files or (200 if chosen.quick else 10_000)
    seeds = list(TARGETS["results"].seeds())
    refused = imported = 0
    faults: list[str] = []
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as place, Store.open(Path(place) / "runs.db") as store:
        for number in range(files):
            chance = random.Random(f"{chosen.seed} {number}")
            if number % 1000 == 0:
                say(f"{number} of {files}")
            try:
                found = tried(store, changed(chance.choice(seeds), chance), ())
            except Exception as error:  # noqa: BLE001  any fault at all is what is looked for
                faults.append(f"file {number}: {type(error).__name__}: {error}"[:200])
                continue
            refused += found < 0
            imported += found >= 0
    took = time.perf_counter() - began
    report = Report("Changed result files", f"{files} files of {len(seeds)} recorded ones, each with 1 to 8 changes.")
    report.add("imported whole, and shown", [imported])
    report.add("refused, nothing kept", [refused])
    report.add("anything else", [len(faults)], most=0)
    report.add("time for each", [1000 * took / files], "ms")
    report.publish(chosen.json)
    for fault in faults[:20]:
        print(fault)


if __name__ == "__main__":
    main()
