"""What disks say of their wear, by a smartctl that answers as it does for drives of each kind, or does not answer as it should."""

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from forked import diskprof, diskprof_json
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from recorded import make_plan

from diskprof.engines import smartctl
from diskprof.engines.process import Brief
from diskprof.engines.smartctl import can_wear, find_smartctl, health_of, parse_health, parse_wear, wear_of
from diskprof.model.device import Device, DeviceKind, DeviceTree, Health, Transport, Wear, share_of, share_words
from diskprof.model.plan import RawDevice
from diskprof.model.preset import Preset
from diskprof.model.target import Target, TargetKind
from diskprof.presets.library import load_library
from diskprof.reports.data.json_runs import plan_json
from diskprof.reports.render.text import plan_text
from diskprof.runner.plan.planner import make_plan as planned
from diskprof.runner.plan.write_permission import write_budget
from diskprof.tui.kit.painted import Line
from diskprof.tui.run.plan_lines import confirm_lines, plan_lines

DATA = Path(__file__).parents[2] / "data/smartctl"
GIB, TIB = 1 << 30, 1 << 40
SSD = Device("sda", "/dev/sda", DeviceKind.DISK, 8, 0, TIB, transport=Transport.SATA, rotational=False)
SDB = RawDevice("sdb", "/dev/sdb", 8, 16, 100 * GIB, 25 * GIB)
WORN = Wear("sda", 37, 220 * TIB)


NAMES = sorted(path.stem for path in DATA.glob("*.json"))


@cache
def said(name: str) -> str:
    return (DATA / f"{name}.json").read_text()


# --- What it says ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "used", "written"),
    [
        ("nvme", 37, 473_485_410 * 512_000),
        ("sata-ssd", 6, 85_899_345_920 * 512),
        ("sata-ssd-attributes", 12, 10_240 * GIB),
        ("sas-ssd", 11, 385_000_250_000_000),
    ],
)
def test_each_kind_of_drive_tells_its_wear(name: str, used: int, written: int) -> None:
    assert parse_wear("x", said(name)) == Wear("x", used, written)


@pytest.mark.parametrize("name", ["hdd", "usb-bridge", "permission"])
def test_where_nothing_is_told_nothing_is_said(name: str) -> None:
    """A hard disk, a bridge and a person that smartctl cannot do anything for."""
    assert parse_wear("x", said(name)) is None


def test_a_new_drive_says_that_nothing_is_used() -> None:
    wear = parse_wear("nvme1n1", said("nvme-new"))
    assert wear == Wear("nvme1n1", 0, 1_771_349 * 512_000)
    assert wear.words == "nvme1n1 reports 0% of its rated endurance used, by 845 GiB written"
    assert share_words(TIB, [wear]) == "", "what it is rated for does not follow from that"
    (listed,) = plan_json(replace(make_plan(), wear=(wear,)))["wear"]
    assert listed == {
        "device": "nvme1n1",
        "used_percent": 0,
        "written_bytes": 1_771_349 * 512_000,
        "rated_bytes": None,
    }


def test_what_is_rated_follows_from_what_is_used() -> None:
    assert Wear("x", 37, 37 * TIB).rated_bytes == 100 * TIB
    assert Wear("x", 120, 120 * TIB).rated_bytes == 100 * TIB
    assert Wear("x", 37).rated_bytes is None
    # An imported run may hold anything.
    assert Wear("x", 0, TIB).rated_bytes is Wear("x", -3, TIB).rated_bytes is None
    assert Wear("x", 5, 0).rated_bytes is Wear("x", 5, -1 << 40).rated_bytes is None


def test_a_statistic_that_is_not_marked_as_valid_is_none() -> None:
    data = json.loads(said("sata-ssd"))
    for page in data["ata_device_statistics"]["pages"]:
        for entry in page["table"]:
            entry["flags"]["valid"] = False
    # Its attributes say the same in another way.
    assert parse_wear("sda", json.dumps(data)) == Wear("sda", 7, 81_474_836_480 * 512)


def test_words_before_the_json_are_passed_over() -> None:
    assert parse_wear("x", "smartctl: a warning\n" + said("nvme")) == parse_wear("x", said("nvme"))


def _anything() -> st.SearchStrategy[object]:
    numbers = st.one_of(st.integers(), st.floats(), st.booleans(), st.none(), st.text(max_size=12))
    return st.recursive(
        numbers, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner))
    )


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    """What a drive says, with something else in one place or several."""
    data = json.loads(said(draw(st.sampled_from(NAMES))))
    for _ in range(draw(st.integers(1, 4))):
        place = data
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and draw(st.booleans()):
                place = place[key]
                continue
            place[key] = draw(_anything())
            break
    return json.dumps(data)


@given(st.one_of(st.text(), st.binary().map(lambda data: data.decode("utf-8", "replace")), _damaged()))
def test_any_text_gives_a_wear_that_can_be_or_none(text: str) -> None:
    wear = parse_wear("x", text)
    if wear is not None:
        assert 0 <= wear.used_percent <= 255
        assert wear.written_bytes is None or 0 < wear.written_bytes < 1 << 63
        assert wear.words and (wear.rated_bytes is None or share_words(GIB, [wear]))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "[" * 100_000, '{"a":' * 100_000, '{"logical_block_size": ' + "9" * 10_000 + "}", "{}{}"],
)
def test_junk_is_nothing(text: str) -> None:
    assert parse_wear("x", text) is None


def test_a_figure_that_cannot_be_is_none() -> None:
    for used in ("-1", "256", "1e3", "37.0", "true", '"37"', "null", "[37]"):
        assert parse_wear("x", f'{{"nvme_smart_health_information_log": {{"percentage_used": {used}}}}}') is None
    for written in ("-1", "1e3", str(1 << 63), "9" * 40, "true"):
        log = f'{{"percentage_used": 5, "data_units_written": {written}}}'
        assert parse_wear("x", f'{{"nvme_smart_health_information_log": {log}}}') == Wear("x", 5)


# --- Asking ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Path]]:
    """Puts a program in the place of smartctl; each of its starts adds a line to the file that is returned."""
    monkeypatch.setattr(smartctl, "_known", {})
    monkeypatch.setattr(smartctl, "_healths", {})
    log = tmp_path / "asked"

    def write(body: str) -> Path:
        program = tmp_path / "smartctl"
        program.write_text(
            f"#!{sys.executable} -IS\nimport sys\nopen({str(log)!r}, 'a').write(repr(sys.argv[1:]) + '\\n')\n{body}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("DISKPROF_SMARTCTL", str(program))
        return log

    yield write


def says(name: str, code: int = 0) -> str:
    return f"sys.stdout.write(open({str(DATA / f'{name}.json')!r}).read())\nsys.exit({code})"


def test_each_disk_is_asked_once_and_by_its_node_alone(answers: Callable[[str], Path]) -> None:
    log = answers(says("sata-ssd"))
    other = replace(SSD, name="sdb", node="/dev/sdb")
    for _ in range(3):
        assert [wear.device for wear in wear_of([SSD, other])] == ["sda", "sdb"]
    first, second = map(eval, log.read_text().splitlines())
    assert (first[-1], second[-1]) == ("/dev/sda", "/dev/sdb")
    # Nothing that starts a test or changes a setting: --info, --attributes and logs.
    assert {word.partition("=")[0] for word in first[:-1]} == {"--json", "--info", "--attributes", "--log"}


def test_health_is_the_verdict_the_temperature_and_the_wear() -> None:
    wear = Wear("x", 37, 473_485_410 * 512_000)
    assert parse_health("x", said("nvme")) == Health("x", None, 41, wear)
    failing = json.dumps({**json.loads(said("nvme")), "smart_status": {"passed": False}})
    assert parse_health("x", failing) == Health("x", False, 41, wear)
    for odd in ("", '{"smart_status": {"passed": 1}, "temperature": {"current": 0}}', said("permission")):
        assert parse_health("x", odd) is None


def test_a_disk_that_sleeps_is_let_sleep(answers: Callable[[str], Path]) -> None:
    """smartctl says then that it is in standby; so it is asked with --nocheck, and again only after a while."""
    log = answers("print('{}'); sys.exit(2)")
    assert [health_of(replace(SSD, rotational=True)) for _ in range(3)] == [None] * 3
    (asked,) = map(eval, log.read_text().splitlines())
    assert "--nocheck=standby" in asked and asked[-1] == "/dev/sda"


@pytest.mark.parametrize(
    "more",
    [
        {"transport": Transport.USB, "rotational": True},
        {"transport": Transport.VIRTIO},
        {"kind": DeviceKind.PARTITION},
    ],
)
def test_what_may_be_woken_or_cannot_tell_is_not_asked(answers: Callable[[str], Path], more: dict[str, object]) -> None:
    log = answers(says("nvme"))
    assert health_of(replace(SSD, **more)) is None  # type: ignore[arg-type]
    assert not log.exists()
    assert health_of(SSD)


def test_a_disk_that_was_swapped_is_asked_anew(answers: Callable[[str], Path]) -> None:
    log = answers(says("sata-ssd"))
    wear_of([replace(SSD, diskseq=7)])
    wear_of([replace(SSD, diskseq=8)])
    assert len(log.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    "device",
    [
        replace(SSD, rotational=True),
        replace(SSD, kind=DeviceKind.LOOP, transport=Transport.LOOP),
        replace(SSD, kind=DeviceKind.RAID),
        replace(SSD, transport=Transport.VIRTIO),
        replace(SSD, transport=Transport.ISCSI),
    ],
    ids=["hard-disk", "loop", "array", "virtual", "far-away"],
)
def test_what_cannot_wear_is_not_asked(device: Device, answers: Callable[[str], Path]) -> None:
    log = answers(says("sata-ssd"))
    assert not can_wear(device) and wear_of([device]) == ()
    assert not log.exists()


@pytest.mark.parametrize(
    "body",
    [
        says("permission", 2),
        says("usb-bridge", 1),
        "sys.stdout.buffer.write(bytes(range(256)) * 10)",
        "while True: sys.stdout.write('x' * 65536)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "",
    ],
    ids=["permission", "bridge", "junk", "flood", "killed", "silent"],
)
def test_a_smartctl_that_cannot_or_does_not_tell_gives_nothing(body: str, answers: Callable[[str], Path]) -> None:
    log = answers(body)
    assert wear_of([SSD]) == ()
    assert log.exists()


def test_a_smartctl_that_hangs_is_not_waited_for(
    answers: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smartctl, "_PATIENCE_S", 0.5)
    log = answers("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.pause()")
    began = time.monotonic()
    assert wear_of([SSD]) == ()
    assert wear_of([SSD]) == ()
    assert time.monotonic() - began < 5
    # It may have been ended before it could note anything.
    assert not log.exists() or len(log.read_text().splitlines()) <= 1


def test_a_disk_that_was_too_busy_to_answer_is_asked_again_sooner(
    answers: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(smartctl, "time", SimpleNamespace(monotonic=lambda: now[0]))
    late = [True]
    asked: list[float] = []

    def answer(_argv: Sequence[str], _timeout_s: float) -> Brief:
        asked.append(now[0])
        return Brief(None, "", late=True) if late[0] else Brief(0, "")

    answers("")
    monkeypatch.setattr(smartctl, "run_briefly", answer)
    for now[0] in (1_000.0, 1_059.0, 1_061.0):
        wear_of([SSD])
    assert asked == [1_000.0, 1_061.0]
    late[0] = False
    for now[0] in (1_200.0, 1_700.0, 1_801.0):
        wear_of([SSD])
    assert asked[2:] == [1_200.0, 1_801.0]


def test_without_smartctl_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smartctl, "_known", {})
    for given_name in ("", "/no/such/smartctl"):
        monkeypatch.setenv("DISKPROF_SMARTCTL", given_name)
        assert find_smartctl() == "" and wear_of([SSD]) == ()


# --- What a plan says of it ------------------------------------------------------------------------------------------


def test_the_write_budget_is_told_as_a_share_of_the_endurance() -> None:
    rated_100_tib = Wear("sdb", 37, 37 * TIB)
    hazard = write_budget(SDB, [rated_100_tib])
    assert "25% of its 100 GiB, about 0.024% of the endurance the disk is rated for." in hazard.message
    assert hazard.advice.endswith("sdb reports 37% of its rated endurance used, by 37 TiB written.")
    assert write_budget(SDB, [Wear("sdb", 37)]).advice.endswith("sdb reports 37% of its rated endurance used.")
    assert "rated" not in write_budget(SDB, [Wear("sdb", 37)]).message
    assert "endurance" not in write_budget(SDB).message + write_budget(SDB).advice


def test_a_share_is_never_told_more_exactly_than_it_is_known() -> None:
    rated = Wear("sda", 10, 10 * TIB)
    assert share_words(TIB, [rated]) == "about 1% of the endurance the disk is rated for"
    assert share_words(150 * TIB, [rated]) == "about 150% of the endurance the disk is rated for"
    assert share_words(4096, [rated]) == "less than 0.01% of the endurance the disk is rated for"
    assert share_words(0, [rated]) == share_words(TIB, []) == share_words(TIB, [Wear("sda", 3)]) == ""
    weaker = Wear("sdb", 10, TIB)
    assert share_words(TIB, [rated, weaker]) == "about 10% of the endurance one of the disks is rated for"
    assert share_of(TIB, [rated]) == 0.01


@pytest.mark.needs("fio")
def test_the_plan_of_a_directory_has_the_wear_of_the_disk_below(answers: Callable[[str], Path]) -> None:
    answers(says("sata-ssd"))
    part = replace(SSD, name="sda1", node="/dev/sda1", kind=DeviceKind.PARTITION, minor=1, parents=("sda",))
    tree = DeviceTree((replace(SSD, children=("sda1",)), part))
    target = Target(TargetKind.DIRECTORY, "/mnt", "/mnt", "sda1", mount_point="/mnt", fs_type="ext4", free_bytes=TIB)
    plan = planned(_preset("quick"), target, {"size": "1g"}, tree)
    assert plan.wear == (Wear("sda", 6, 85_899_345_920 * 512),)
    assert plan_json(plan)["endurance_share"] == plan.bytes_written / plan.wear[0].rated_bytes  # type: ignore[operator]
    device = Target(TargetKind.DEVICE, "/dev/sda", "/dev/sda", "sda", size_bytes=TIB)
    assert planned(_preset("ioping-latency"), device, {}, tree).wear == (), "it writes nothing"


def _preset(name: str) -> Preset:
    return next(preset for preset in load_library().presets if preset.name == name)


def _text(lines: list[Line]) -> str:
    return " ".join("".join(text for text, _ in line).strip() for line in lines)


def test_it_is_shown_wherever_a_plan_is() -> None:
    plan = replace(make_plan(), wear=(WORN,))
    share, used = (
        share_words(plan.bytes_written, plan.wear),
        "sda reports 37% of its rated endurance used, by 220 TiB written",
    )
    text = " ".join(plan_text(plan).split())
    assert share and share in text and used in text
    data = plan_json(plan)
    assert data["wear"] == [
        {"device": "sda", "used_percent": 37, "written_bytes": 220 * TIB, "rated_bytes": 22_000 * TIB // 37}
    ]
    assert 0 < data["endurance_share"] < 1
    for lines in (plan_lines(plan, 60), confirm_lines(plan, (), 60)):
        assert share in _text(lines) and used in _text(lines)
    bare = make_plan()
    assert "endurance" not in plan_text(bare) + _text(plan_lines(bare, 60)) + _text(confirm_lines(bare, (), 60))
    assert (plan_json(bare)["wear"], plan_json(bare)["endurance_share"]) == ([], None)


def test_what_a_disk_is_called_reaches_no_terminal_as_a_command() -> None:
    assert "\x1b" not in Wear("sda\x1b[2J", 37, TIB).words


# --- The doctor ------------------------------------------------------------------------------------------------------


@pytest.mark.needs("fio", "ioping")
def test_the_doctor_says_what_smartmontools_would_add(tmp_path: Path) -> None:
    without = diskprof("doctor", home=tmp_path)
    assert without.returncode == 0, "it is a note"
    assert "note   smartctl" in without.stdout and "smartmontools" in without.stdout
    program = tmp_path / "smartctl"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    assert diskprof_json("doctor", "--json", home=tmp_path)["wear"] == {"smartctl": None}
    facts = diskprof_json("doctor", "--json", home=tmp_path, DISKPROF_SMARTCTL=str(program))["wear"]
    assert facts == {"smartctl": str(program)}
    assert str(program) in diskprof("doctor", home=tmp_path, DISKPROF_SMARTCTL=str(program)).stdout
