"""What drives count themselves: new errors, heat, and what they write beyond what they are sent."""

from handmade import direction, fio, run, system
from msgspec.structs import replace

from diskprof.analysis.findings.find import find
from diskprof.model.drive import DriveCount, DriveCounters, DriveRecord, Silence
from diskprof.model.run import Finding, Weight

GIB = 1 << 30
UNIT = 512_000
BEFORE = DriveCounters(
    host_bytes=100 * GIB,
    host_step=UNIT,
    nand_bytes=200 * GIB,
    nand_step=GIB,
    temperature_c=41,
    errors=(DriveCount("media errors", 3),),
    heat=(DriveCount("times throttled lightly", 7),),
)
AFTER = replace(BEFORE, host_bytes=120 * GIB, nand_bytes=230 * GIB, temperature_c=52)


def found(drive: DriveRecord, *more: DriveRecord) -> dict[str, Finding]:
    tested = replace(run(fio(write=direction(2_000))), drives=(drive, *more))
    rules = ("drive-errors", "drive-throttled", "write-amplification")
    return {each.name: each for each in find(tested, (), system(40)) if each.name in rules}


def test_a_healthy_drive_has_no_finding() -> None:
    drive = DriveRecord("nvme0n1", BEFORE, AFTER, test_bytes=20 * GIB)
    assert (drive.host_bytes, drive.nand_bytes, drive.amplification) == (20 * GIB, 30 * GIB, 1.5)
    assert (drive.new_errors, drive.new_heat) == ((), ())
    assert found(drive) == {}
    assert found(DriveRecord("sda", silence=Silence.MISSING)) == {}


def test_errors_that_came_in_the_run_are_a_doubt() -> None:
    after = replace(AFTER, errors=(DriveCount("media errors", 5), DriveCount("unheard of", 9)))
    finding = found(DriveRecord("sda", BEFORE, AFTER), DriveRecord("nvme0n1", BEFORE, after))["drive-errors"]
    assert (finding.weight, finding.evidence) == (Weight.DOUBT, "nvme0n1: 2 media errors")


def test_heat_that_came_in_the_run_is_a_limit() -> None:
    after = replace(AFTER, heat=(DriveCount("times throttled lightly", 1010),))
    finding = found(DriveRecord("nvme0n1", BEFORE, after))["drive-throttled"]
    assert (finding.weight, finding.evidence) == (Weight.LIMIT, "nvme0n1: 1,003 times throttled lightly")


def test_more_on_the_flash_than_was_sent() -> None:
    twice = DriveRecord("sda", BEFORE, replace(AFTER, nand_bytes=241 * GIB))
    assert found(twice)["write-amplification"].evidence == "sda wrote 2.0 times as much for 20 GiB from the host"
    few = DriveRecord("sda", BEFORE, replace(AFTER, host_bytes=101 * GIB, nand_bytes=215 * GIB))
    assert few.amplification is None, "15 steps of 1 GiB say too little"
    pages = replace(BEFORE, host_pages=1000, own_pages=500), replace(AFTER, host_pages=1100, own_pages=900)
    assert DriveRecord("sda", *pages).amplification == 5.0


def test_a_counter_that_went_back_or_is_not_there_says_nothing() -> None:
    reset = DriveRecord("sda", AFTER, replace(BEFORE, errors=(), heat=()))
    assert (reset.host_bytes, reset.amplification, reset.new_errors, reset.new_heat) == (None, None, None, None)
    assert DriveRecord("sda", BEFORE).new_errors is None
