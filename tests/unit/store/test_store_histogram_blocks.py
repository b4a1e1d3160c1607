"""Blocks of samples hold all of their requests, whoever wrote them when; where one is lacking there are none."""

import pytest
from recorded import record_run
from recorded.long import recording_long

from diskprof.model.histogram import Histogram, merge
from diskprof.model.sample import Direction, Phase, Sample
from diskprof.store import Store, histogram_blocks
from diskprof.store.histogram_blocks import FOLDS

SECOND_NS = 10**9


def whole(samples: tuple[Sample, ...]) -> Histogram:
    return merge(sample.histogram for sample in samples if sample.histogram)


def a_run(store: Store) -> str:
    """A run in progress without samples."""
    return next(recording_long(store, 600, step=1))


def add(store: Store, run_id: str, count: int, at: int, phase: Phase = Phase.MEASURING) -> None:
    """So many intervals in each direction, from `at` seconds on."""
    for number in range(count):
        at_ns = (at + number + 1) * SECOND_NS
        store.append(
            run_id,
            samples=[
                Sample(0, phase, direction, at_ns, SECOND_NS, 3, 3 * 4096, 150.0, 100, 200 + number, histogram)
                for direction, histogram in (
                    (Direction.READ, Histogram.of({100 + number: 2, 200: 1})),
                    (Direction.WRITE, Histogram.of({300: 3})),
                )
            ],
        )


@pytest.mark.parametrize("step", [1, 7, 64, 600])
def test_blocks_have_all_requests_of_their_samples(store: Store, step: int) -> None:
    *_, run_id = recording_long(store, 600, step=step)
    samples, found = store.samples(run_id, test=0).samples, store.blocks.span(run_id, 0)
    assert found.fold == FOLDS[0] and found.count == 600 // FOLDS[0]
    blocks = store.blocks.at(run_id, found, found.places)
    assert whole(blocks) == whole(samples[: found.last])
    assert blocks[-1].at_ns == samples[found.last - 1].at_ns
    assert sum(block.duration_ns for block in blocks) == sum(sample.duration_ns for sample in samples[: found.last])
    assert max(block.max_ns or 0 for block in blocks) == max(sample.max_ns or 0 for sample in samples[: found.last])


def test_directions_and_phases_are_apart(store: Store) -> None:
    run_id = a_run(store)
    add(store, run_id, 40, 1, Phase.PREPARING)
    add(store, run_id, 80, 50)
    laid, measured = (store.blocks.span(run_id, 0, preparing=preparing) for preparing in (True, False))
    samples = store.samples(run_id, test=0).samples
    for direction in Direction:
        for found, preparing in ((laid, True), (measured, False)):
            mine = tuple(
                sample
                for sample in samples[: found.last]
                if sample.direction is direction and (sample.phase is Phase.PREPARING) is preparing
            )
            blocks = [block for block in store.blocks.at(run_id, found, found.places) if block.direction is direction]
            assert whole(tuple(blocks)) == whole(mine)


def test_a_long_test_is_read_in_larger_blocks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram_blocks, "MOST_BLOCKS", 10)
    *_, run_id = recording_long(store, 600, step=50)
    found = store.blocks.span(run_id, 0)
    assert (found.fold, found.count) == (FOLDS[1], 600 // FOLDS[1])
    assert whole(store.blocks.at(run_id, found, found.places)) == whole(
        store.samples(run_id, test=0).samples[: found.last]
    )


def test_what_another_process_began_has_no_blocks(store: Store) -> None:
    run_id = a_run(store)
    add(store, run_id, 24, 1)
    with Store.open(store.path) as other:
        add(other, run_id, 40, 30)
        assert not other.blocks.span(run_id, 0).places


def test_what_was_not_kept_is_in_no_block(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that failed after its samples were added takes them out of the block again."""
    run_id = a_run(store)
    add(store, run_id, 14, 1)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patched:
        patched.setattr("diskprof.store.courses.fold_system", fail)
        with pytest.raises(OSError, match="disk full"):
            add(store, run_id, 1, 20)
    add(store, run_id, 40, 30)
    assert not store.blocks.span(run_id, 0).places


def test_packed_histograms_and_none_make_no_blocks(store: Store) -> None:
    first = record_run(store, "mixed-70-30", runtime_s=60.0)
    assert store.blocks.span(first, 0).places
    run_id = a_run(store)
    store.append(run_id, samples=store.samples(first, test=0).samples)
    assert not store.blocks.span(run_id, 0).places
    assert not store.blocks.span(run_id, 7).places
