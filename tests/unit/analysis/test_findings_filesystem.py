"""What the file system makes of the data before the disk sees it."""

import pytest
from handmade import Given, direction, environment, fio, ioping, run

from diskprof.analysis.findings.find import find
from diskprof.model.device import Mount
from diskprof.model.run import Finding, Run, Weight

BUFFERED = {"direct": False, "rw": "write", "write": direction(900, block=1 << 20)}
ZEROS = fio(options=("--zero_buffers=1",), **BUFFERED)  # type: ignore[arg-type]
RANDOM = fio(**BUFFERED)  # type: ignore[arg-type]


def on(fs_type: str, *options: str, test: Given = ZEROS) -> Run:
    return run(test, environment=environment(mount=Mount("/mnt/data", fs_type, ("rw", *options))))


def named(name: str, tested: Run) -> Finding | None:
    return next((finding for finding in find(tested, (), ()) if finding.name == name), None)


@pytest.mark.parametrize(
    ("fs_type", "option", "evidence"),
    [
        ("btrfs", "compress=zstd:3", "zero_buffers on btrfs with compress=zstd:3"),
        ("btrfs", "compress-force=lzo", "zero_buffers on btrfs with compress-force=lzo"),
        ("f2fs", "compress_algorithm=lz4", "zero_buffers on f2fs with compress_algorithm=lz4"),
        ("bcachefs", "compression=lz4", "zero_buffers on bcachefs with compression=lz4"),
        ("zfs", "xattr", "zero_buffers on zfs, which compresses by default"),
    ],
)
def test_zeros_on_a_file_system_that_compresses(fs_type: str, option: str, evidence: str) -> None:
    found = named("compressible-data", on(fs_type, option))
    assert found is not None
    assert found.weight is Weight.DOUBT
    assert found.evidence == evidence


@pytest.mark.parametrize(
    "tested",
    [
        on("ext4", "compress=zstd"),
        on("btrfs"),
        on("btrfs", "compress=no"),
        on("bcachefs", "compression=none"),
        on("btrfs", "compress=zstd", test=RANDOM),
        on("zfs", test=RANDOM),
        on("btrfs", "compress=zstd", test=fio(options=("--zero_buffers=1",), rw="write", write=direction(900))),
        on("btrfs", "compress=zstd", test=fio(options=("--zero_buffers=1",), direct=False, read=direction(900))),
        on("btrfs", "compress=zstd", test=fio(options=("--zero_buffers=0",), direct=False, write=direction(900))),
        run(ZEROS, environment=environment(mount=None)),
    ],
)
def test_what_is_not_compressed_is_not_doubted(tested: Run) -> None:
    assert named("compressible-data", tested) is None


def test_a_share_that_can_be_compressed_is_told() -> None:
    half = fio(options=("--buffer_compress_percentage=50", "--dedupe_percentage=0"), **BUFFERED)  # type: ignore[arg-type]
    found = named("compressible-data", on("btrfs", "compress=zstd", test=half))
    assert found is not None
    assert found.evidence.startswith("buffer_compress_percentage=50 on btrfs")


OVERWRITES = fio(rw="randwrite", write=direction(9_000))


@pytest.mark.parametrize(
    ("fs_type", "evidence"),
    [
        ("btrfs", "random writes of 4k on btrfs without nodatacow"),
        ("bcachefs", "random writes of 4k on bcachefs without nocow"),
        ("zfs", "random writes of 4k on zfs"),
    ],
)
def test_random_writes_where_every_change_goes_to_a_new_place(fs_type: str, evidence: str) -> None:
    found = named("copy-on-write", on(fs_type, test=OVERWRITES))
    assert found is not None
    assert found.weight is Weight.NOTE
    assert found.evidence == evidence


@pytest.mark.parametrize(
    "tested",
    [
        on("btrfs", "nodatacow", test=OVERWRITES),
        on("ext4", test=OVERWRITES),
        on("btrfs", test=fio(rw="randread", read=direction(9_000))),
        on("btrfs", test=fio(rw="write", write=direction(900))),
        on("btrfs", test=ioping("latency", read=direction(1))),
        run(OVERWRITES, environment=environment(mount=None)),
    ],
)
def test_where_nothing_is_copied_nothing_is_said(tested: Run) -> None:
    assert named("copy-on-write", tested) is None
