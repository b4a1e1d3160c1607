"""What answers a question on a disk: a preset that there is, with values that it takes, beyond the cache and within the room."""

from itertools import product

import pytest

from diskprof.model.units import parse_duration, parse_size
from diskprof.presets.library import load_library
from diskprof.presets.questions import DiskFacts, Question, suggestion, vendor_of

GIB = 1 << 30
SSD = DiskFacts(1000 * GIB, 600 * GIB)
CLOUDS = ("AWS", "Google Cloud", "Azure", "Oracle Cloud", "DigitalOcean", "Alibaba Cloud", "Hetzner Cloud")


@pytest.mark.parametrize("question", Question)
def test_each_answer_is_a_preset_and_values_that_it_takes(question: Question) -> None:
    presets = {preset.name: preset for preset in load_library().presets}
    rooms = (None, 100 << 20, 3 * GIB, 600 * GIB)
    for room, cloud, virtual in product(rooms, ("", *CLOUDS), (False, True)):
        found = suggestion(question, DiskFacts(1000 * GIB, room, virtual=virtual, cloud=cloud))
        preset = presets[found.preset]
        assert found.why
        for name, value in found.settings.items():
            parameter = preset.parameter(name)
            assert parameter and (not parameter.choices or value in parameter.choices)
            assert (parse_size(value) if name == "size" else parse_duration(value)) > 0
        if room and (size := found.settings.get("size")):
            assert parse_size(size) <= room / 2


def test_sizes_are_beyond_a_cache_and_within_the_room() -> None:
    assert suggestion(Question.BACKUP, SSD).settings == {"size": "100g"}
    assert suggestion(Question.BACKUP, DiskFacts(8000 * GIB, 6000 * GIB)).settings == {"size": "128g"}
    assert suggestion(Question.BACKUP, DiskFacts(20 * GIB, 12 * GIB)).settings == {"size": "6g"}
    assert suggestion(Question.DATABASE, SSD).settings == {"size": "20g", "runtime": "60s"}
    assert suggestion(Question.BACKUP, DiskFacts()).settings == {}


def test_a_file_that_the_disk_may_keep_in_its_memory_is_not_said_to_be_beyond_it() -> None:
    assert "than a disk keeps in its memory" in suggestion(Question.DATABASE, SSD).why
    tight = suggestion(Question.DATABASE, DiskFacts(20 * GIB, 1 * GIB))
    assert (tight.settings["size"], tight.why) == ("512m", "Pages and a log of a database.")


def test_times_are_beyond_a_burst() -> None:
    assert suggestion(Question.LASTING, DiskFacts(cloud="AWS")).settings == {"runtime": "35m"}
    assert suggestion(Question.LASTING, DiskFacts(virtual=True)).preset == "burst-model"
    assert suggestion(Question.LASTING, SSD).settings == {"size": "100g", "runtime": "15m"}
    assert suggestion(Question.DATABASE, DiskFacts(virtual=True)).settings == {"runtime": "5m"}


def test_a_promise_is_that_of_the_cloud_that_the_machine_is_of() -> None:
    assert suggestion(Question.PROMISE, DiskFacts(cloud="Google Cloud", room_bytes=600 * GIB)).settings == {}
    little = suggestion(Question.PROMISE, DiskFacts(cloud="Google Cloud", room_bytes=64 * GIB))
    assert (little.preset, little.settings) == ("google-persistent-disk", {"size": "2g"})
    oracle = suggestion(Question.PROMISE, DiskFacts(cloud="Oracle Cloud", room_bytes=64 * GIB))
    assert oracle.settings == {"size": "32g"} and "smaller" in oracle.why, "a directory needs a size"
    roomy = suggestion(Question.PROMISE, DiskFacts(cloud="Oracle Cloud", room_bytes=2000 * GIB))
    assert roomy.settings == {"size": "500g"} and "smaller" not in roomy.why
    assert suggestion(Question.PROMISE, DiskFacts(cloud="Hetzner Cloud")).preset == "limit"
    assert (vendor_of(DiskFacts(cloud="AWS")), vendor_of(DiskFacts(cloud="Hetzner Cloud"))) == ("AWS", "")
