"""The classes of disks as they are shipped: every figure has a document, and is what the document says."""

import pytest

from diskprof.model.disk_class import DiskClass
from diskprof.model.errors import UsageError
from diskprof.model.sample import Direction
from diskprof.presets.disk_classes import disk_class, disk_classes

K, MB, MIB = 1000, 1e6, 2.0**20
R, W = Direction.READ, Direction.WRITE

Said = dict[str, tuple[float | None, float | None, float | None]]
DOCUMENTS: dict[str, Said] = {
    "sd-a1": {"rand read": (1500, None, None), "rand write": (500, None, None), "seq read": (10 * MB, None, None)},
    "sd-a2": {"rand read": (4000, None, None), "rand write": (2000, None, None), "seq write": (10 * MB, None, None)},
    "hdd-7200": {"rand read": (75, None, 100), "seq read": (138 * MB, None, 210 * MB)},
    "sata-ssd": {"rand read": (98 * K, None, 98 * K), "seq read": (540 * MB, None, 560 * MB)},
    "nvme-pcie3": {"rand read": (170 * K, None, 600 * K), "seq write": (950 * MB, None, 3300 * MB)},
    "nvme-pcie4": {"rand read": (240 * K, None, 1400 * K), "seq read": (4000 * MB, None, 7450 * MB)},
    "nvme-pcie5": {"rand write": (1400 * K, None, 1500 * K), "seq read": (11_700 * MB, None, 14_500 * MB)},
    "aws-gp3": {"rand read": (3000, None, 80 * K), "seq read": (125 * MIB, None, 2000 * MIB)},
    "aws-gp2": {"rand read": (None, None, 16 * K), "seq read": (None, None, 250 * MIB)},
    "aws-io2": {"rand write": (100, None, 256 * K), "seq read": (None, None, 4000 * MIB)},
    "google-hyperdisk-balanced": {"rand read": (3000, None, 160 * K), "seq write": (140 * MIB, None, 2400 * MIB)},
    "google-hyperdisk-throughput": {"rand read": (None, None, 9600), "seq read": (20 * MIB, None, 2400 * MIB)},
    "google-pd-ssd": {"rand read": (0, 30, 100 * K), "seq read": (0, 0.48 * MIB, 1200 * MIB)},
    "google-pd-balanced": {"rand read": (0, 6, 80 * K), "seq read": (0, 0.28 * MIB, 1200 * MIB)},
    "google-pd-standard": {"rand read": (0, 0.75, 7500), "seq write": (0, 0.12 * MIB, 400 * MIB)},
    "azure-premium-v2": {"rand read": (3000, None, 80 * K), "seq read": (125 * MB, None, 2000 * MB)},
    "azure-premium": {"rand read": (120, None, 20 * K), "seq write": (25 * MB, None, 900 * MB)},
    "azure-standard-ssd": {"rand read": (None, None, 6000), "seq read": (None, None, 750 * MB)},
    "azure-ultra": {"rand read": (100, None, 400 * K), "seq read": (1 * MB, None, 10_000 * MB)},
    "oracle-balanced": {"rand read": (0, 60, 25 * K), "seq read": (0, 480 * K, 480 * MB)},
    "oracle-ultra": {"rand write": (0, 225, 300 * K), "seq read": (0, 1800 * K, 2680 * MB)},
    "digitalocean-volume": {"rand read": (5000, None, 10 * K), "seq write": (200 * MB, None, 350 * MB)},
}
"""What the documents say: the least, what each GiB adds, the most. Of random I/O at the deepest queue."""


def said(one: DiskClass) -> Said:
    return {
        f"{'rand' if each.random else 'seq'} {each.direction}": (
            each.least.base if each.least else None,
            each.least.per_gib or None if each.least else None,
            each.most,
        )
        for each in one.figures
    }


def test_every_class_is_held_against_its_documents() -> None:
    assert [one.name for one in disk_classes()] == list(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_class_says_what_its_documents_say(name: str) -> None:
    told = said(disk_class(name))
    for test, wanted in DOCUMENTS[name].items():
        assert told[test] == pytest.approx(wanted), test


@pytest.mark.parametrize("one", disk_classes(), ids=lambda one: one.name)
def test_every_figure_has_a_document_that_was_read(one: DiskClass) -> None:
    assert len(one.title) <= 32 and one.plural
    for figure in one.figures:
        assert figure.least or figure.most
        assert figure.sources and all(each.address.startswith("http") and each.title for each in figure.sources)
        assert figure.block[0] <= figure.block[1]
        if figure.least and figure.most:
            assert figure.least.value(1 << 30) <= figure.most
        # A figure is of tests of which none other is.
        like = [
            each
            for each in one.figures
            if each.is_of(figure.direction, figure.random, figure.block[0], figure.depth[0])
        ]
        assert like == [figure]


def test_a_class_that_there_is_not_is_refused_with_those_that_come_close() -> None:
    with pytest.raises(UsageError, match="no disk class 'gp3'") as caught:
        disk_class("gp3")
    assert "aws-gp3" in str(caught.value.hint)
