"""What is found about a run by all that the store has of it."""

import gc
from collections.abc import Sequence

from diskprof.analysis.findings.find import find
from diskprof.model.device import Parts
from diskprof.model.run import Finding, Lapse, Run
from diskprof.store import Store


def judged(
    store: Store,
    run: Run,
    passed: Sequence[Lapse] = (),
    looks: Sequence[tuple[Parts, ...]] = (),
    *,
    test: int | None = None,
) -> tuple[Finding, ...]:
    """As `find`; of one test if `test` is given. Raises StoreError."""
    # Of a day there are 260,000 values, none of them garbage: to look for it among them takes a fifth of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        samples = store.samples(run.id, test=test, histograms=False).samples
        return find(run, samples, store.system_samples(run.id, test=test).samples, passed, looks)
    finally:
        if collects:
            gc.enable()
