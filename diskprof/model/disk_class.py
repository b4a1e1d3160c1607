"""Classes of disks, and what documents say that the disks of each do."""

from datetime import date

from msgspec import Struct

from diskprof.model.expectation import Formula
from diskprof.model.load import Load
from diskprof.model.metric import Metric, Quantity, parse_metric
from diskprof.model.sample import Direction


class SourceDocument(Struct, frozen=True):
    """A document, and where and when it was read."""

    title: str
    address: str
    read: date


class ClassFigure(Struct, frozen=True):
    """From `least` to `most`, I/Os or bytes per second; one of them may be None. What grows with the capacity is a formula.

    It is of tests of this pattern whose block size in bytes and I/Os in flight lie in `block` and `depth`, both included;
    a `depth` without an end has None there.
    """

    direction: Direction
    random: bool
    quantity: Quantity
    block: tuple[int, int]
    depth: tuple[int, int | None]
    least: Formula | None
    most: float | None
    sources: tuple[SourceDocument, ...]

    @property
    def metric(self) -> Metric:
        return parse_metric(f"{self.direction}.{self.quantity}")

    def is_of(self, direction: Direction, random: bool, block: int, depth: int) -> bool:
        """Whether it is of such tests."""
        low, high = self.depth
        return (
            (direction, random) == (self.direction, self.random)
            and self.block[0] <= block <= self.block[1]
            and low <= depth
            and (high is None or depth <= high)
        )


class DiskClass(Struct, frozen=True):
    """A class by name. `title` is of one disk, `plural` of several; `cloud` whose volumes they are, empty for drives.

    `note` says how to read its figures.
    """

    name: str
    title: str
    plural: str
    figures: tuple[ClassFigure, ...]
    cloud: str = ""
    note: str = ""

    def figure_of(self, load: Load, direction: Direction) -> ClassFigure | None:
        """The figure that a test is measured by in one direction; None where it is none of the documents' tests.

        Those are of fio's direct I/O as fast as it can be, with one block size, reads or writes alone.
        """
        jobs = load.fio
        ways = {way for job in jobs for way in job.directions}
        if ways != {direction} or not load.direct or not load.alike(direction):
            return None
        if load.paced or load.syncs or load.idle or load.searches:
            return None
        sizes = {size for job in jobs for size in job.sizes(write=direction is Direction.WRITE)}
        if len(sizes) != 1:
            return None
        (block,) = sizes
        kind = (direction, load.random, block, load.depth)
        return next((figure for figure in self.figures if figure.is_of(*kind)), None)

    @property
    def sources(self) -> tuple[SourceDocument, ...]:
        """Every document, each once."""
        return tuple(dict.fromkeys(source for figure in self.figures for source in figure.sources))
