"""The presets against the articles they come from: every command, and every figure that is promised."""

import pytest
from shipped import SHIPPED

from diskprof.model.advice import on_command_line
from diskprof.model.errors import UsageError
from diskprof.model.preset import OWN_FILES, EngineName, Preset
from diskprof.model.units import parse_duration
from diskprof.presets.options.allowed import check_option
from diskprof.presets.resolve import resolve, settings_of
from diskprof.presets.tuning import with_tuning
from diskprof.reports.content.preset_words import time_needed


def jobs_of(preset: Preset) -> dict[str, dict[str, str]]:
    """The options of each test's first job."""
    return {test.name: dict(test.jobs[0].options) for test in resolve(preset, {}).tests}


def shipped(name: str) -> Preset:
    return SHIPPED.get(name)


G, K, M = 1 << 30, 1 << 10, 1 << 20
ARTICLES: dict[str, dict[str, str]] = {
    "digitalocean-bw-test": {"rw": "randwrite", "bs": f"{M}", "iodepth": "32", "runtime": "120", "direct": "1"},
    "digitalocean-rand-r": {"rw": "randread", "bs": "4096", "iodepth": "128", "runtime": "120", "ioengine": "libaio"},
    "digitalocean-rand-w": {"rw": "randwrite", "bs": "4096", "iodepth": "128", "size": f"{20 * G}"},
    "digitalocean-lat-read": {"rw": "randread", "bs": "4096", "iodepth": "1"},
    "digitalocean-lat-write": {"rw": "randwrite", "bs": "4096", "iodepth": "1"},
    "vps-randread-qd1": {"rw": "randread", "bs": "4096", "iodepth": "1", "size": f"{128 * M}", "ioengine": "sync"},
    "vps-randread-qd8": {"iodepth": "8", "direct": "1", "invalidate": "1", "ioengine": "libaio", "size": f"{128 * M}"},
    "vps-randread-qd32": {"iodepth": "32", "direct": "1", "invalidate": "1", "ioengine": "libaio"},
    "alibaba-rand-write": {"rw": "randwrite", "bs": "4096", "iodepth": "128", "size": f"{G}", "runtime": "1000"},
    "alibaba-rand-read": {"rw": "randread", "bs": "4096", "iodepth": "128", "numjobs": "1", "group_reporting": "1"},
    "alibaba-write": {"rw": "write", "bs": f"{M}", "iodepth": "64", "ioengine": "libaio", "direct": "1"},
    "alibaba-read": {"rw": "read", "bs": f"{M}", "iodepth": "64"},
    "aerospike-write": {
        "rw": "randwrite", "bs": f"{128 * K}", "rate_iops": "1280", "iodepth": "16", "numjobs": "1", "refill_buffers": "1",
        "norandommap": "1", "randrepeat": "0", "time_based": "1", "runtime": "86400", "group_reporting": "1", "direct": "1",
    },
    "aerospike-50-50": {"rw": "randrw", "rwmixwrite": "50", "bs": f"{128 * K}", "rate_iops": "1280"},
    "aerospike-95-5": {"rw": "randrw", "rwmixwrite": "5"},
    "aerospike-80-20": {"rw": "randrw", "rwmixread": "80"},
    "aerospike-prewarm": {"rw": "write", "bs": f"{M}"},
    "azure-max-write-iops": {"rw": "randwrite", "bs": "4096", "iodepth": "256", "numjobs": "4", "size": f"{30 * G}"},
    "azure-diskspd-max-throughput": {"rw": "randread", "bs": f"{64 * K}", "iodepth": "128", "numjobs": "4", "ramp_time": "7200"},
    "alibaba-block-size": {"rw": "randread", "iodepth": "128", "direct": "1"},
    "alibaba-latency": {"rw": "randwrite", "bs": "4096", "iodepth": "1"},
    "digitalocean-sweep": {"rw": "randread", "size": f"{20 * G}", "runtime": "120", "direct": "1"},
    "azure-max-read-iops": {"rw": "randread", "bs": "4096", "iodepth": "256", "numjobs": "4", "size": f"{30 * G}"},
    "azure-diskspd-max-write-iops": {
        "rw": "randwrite", "bs": "8192", "iodepth": "128", "numjobs": "4", "size": f"{200 * G}", "ramp_time": "30", "runtime": "30",
        "direct": "1", "sync": "dsync",
    },
    "azure-diskspd-max-read-iops": {"rw": "randread", "bs": "4096", "iodepth": "128", "numjobs": "4", "ramp_time": "7200"},
    "etcd-fsync": {"rw": "write", "bs": "2300", "fdatasync": "1", "size": f"{22 * M}", "ioengine": "sync"},
    "ioping-latency": {"count": "10", "interval": "1"},
    "ioping-seek": {"rapid": "1", "direct": "1", "work-time": "3"},
    "ioping-cached": {"rapid": "1", "cached": "1", "work-time": "3"},
    "ioping-sequential": {"rapid": "1", "linear": "1", "work-time": "3"},
}  # fmt: skip


@pytest.mark.parametrize("name", ARTICLES)
def test_a_preset_says_what_its_article_says(name: str) -> None:
    *_, options = jobs_of(shipped(name)).values()
    assert options.items() >= ARTICLES[name].items()


OTHER = {
    "bs": ("16k", "16384"), "iodepth": ("3", "3"), "numjobs": ("2", "2"), "direct": ("0", "0"), "runtime": ("3s", "3"),
    "ioengine": ("psync", "psync"), "size": ("8m", f"{8 * M}"), "ramp_time": ("4s", "4"), "rate_iops": ("77", "77"),
    "invalidate": ("0", "0"), "rwmixread": ("61", "61"), "rwmixwrite": ("39", "39"), "fdatasync": ("2", "2"),
}  # fmt: skip
"""Of an option another value as it is set, and as fio gets it."""
TIED = {"iodepth": "depth", "ramp_time": "ramp"}
"""The parameters that have another name than their option."""
SWEPT = {("digitalocean-sweep", "bs"), ("digitalocean-sweep", "iodepth"), ("alibaba-block-size", "bs")}


@pytest.mark.parametrize("name", [name for name in ARTICLES if not name.startswith("ioping")])
def test_what_an_article_says_can_be_set(name: str) -> None:
    preset = with_tuning(shipped(name))
    *_, options = jobs_of(preset).values()
    for option in (options.keys() & OTHER.keys()) - {swept for of, swept in SWEPT if of == name}:
        given, wanted = OTHER[option]
        named = {parameter.name for parameter in preset.parameters}
        parameter = option if option in named or TIED.get(option) not in named else TIED[option]
        *_, test = resolve(preset, {parameter: given}).tests
        assert dict(test.jobs[0].options)[option] == wanted, option


@pytest.mark.parametrize(
    ("name", "bs", "rate"), [("azure-max-read-write-iops", 4 * K, "3200"), ("azure-max-throughput", 64 * K, None)]
)
def test_readers_and_writers_have_a_volume_each_and_the_cache_is_warmed_up(
    name: str, bs: int, rate: str | None
) -> None:
    preset = shipped(name)
    assert [slot.name for slot in preset.targets] == ["cache", "nocache"]
    warm, both = resolve(preset, {}).tests
    (warmer,) = warm.jobs
    assert warmer.targets == ("cache",) and dict(warmer.options)["rw"] == "read"
    assert "time_based" not in dict(warmer.options)
    reader, writer = both.jobs
    assert [(job.name, job.targets) for job in both.jobs] == [("reader1", ("cache",)), ("writer1", ("nocache",))]
    assert {job.files for job in (warmer, reader, writer)} == {OWN_FILES}
    assert {job.files for test in resolve(preset, {"files": "shared"}).tests for job in test.load.fio} == {()}
    shared = {"bs": str(bs), "iodepth": "128", "numjobs": "4", "size": str(30 * G), "direct": "1", "runtime": "30"}
    for job, rw in ((reader, "randread"), (writer, "randwrite")):
        assert dict(job.options).items() >= {**shared, "rw": rw}.items()
    assert "rate_iops" not in dict(reader.options) and dict(writer.options).get("rate_iops") == rate


PAGES: dict[str, dict[str, str]] = {
    "aws-ebs-ssd": {
        "randwrite": "--direct=1 --rw=randwrite --bs=16k --size=1G --numjobs=16 --time_based=1 --runtime=180 --group_reporting=1"
        " --norandommap=1",
        "randread": "--direct=1 --rw=randread --bs=16k --size=1G --numjobs=16 --time_based=1 --runtime=180 --group_reporting=1"
        " --norandommap=1",
    },
    "aws-ebs-hdd": {
        "read": "--direct=1 --rw=read --randrepeat=0 --ioengine=libaio --bs=1024k --iodepth=8 --time_based=1 --runtime=180",
        "write": "--direct=1 --rw=write --randrepeat=0 --ioengine=libaio --bs=1024k --iodepth=8 --time_based=1 --runtime=180",
    },
    "google-persistent-disk": {
        **{
            f"{way}_throughput": "--numjobs=16 --size=10G --time_based=1 --runtime=5m --ramp_time=2s --ioengine=libaio --direct=1"
            f" --bs=1M --iodepth=64 --rw={way} --group_reporting=1 --iodepth_batch=64 --iodepth_batch_complete_max=64"
            for way in ("write", "read")
        },
        **{
            f"{way}_iops": "--size=10G --time_based=1 --runtime=5m --ramp_time=2s --ioengine=libaio --direct=1 --bs=4K"
            f" --iodepth=256 --rw=rand{way} --group_reporting=1 --iodepth_batch=256 --iodepth_batch_complete_max=256"
            for way in ("write", "read")
        },
    },
    "google-hyperdisk": {
        **{
            f"{way}_iops": "--numjobs=8 --size=500G --time_based=1 --runtime=5m --ramp_time=10s --direct=1 --bs=4K --iodepth=256"
            f" --rw=rand{way} --iodepth_batch=256 --iodepth_batch_complete_max=256 --group_reporting=1 --ioengine=libaio"
            for way in ("write", "read")
        },
        **{
            f"{way}_throughput": "--numjobs=8 --size=500G --time_based=1 --runtime=5m --ramp_time=10s --direct=1 --bs=1M"
            f" --iodepth=64 --rw={way} --iodepth_batch=64 --iodepth_batch_complete_max=64 --offset_increment=20G"
            " --group_reporting=1 --ioengine=libaio"
            for way in ("write", "read")
        },
    },
    "oracle-block-volume": {
        f"{kind}-{rw}": f"--direct=1 --rw={rw} --bs={bs} --ioengine=libaio --iodepth={depth} --runtime=120 --numjobs={jobs}"
        " --time_based=1 --group_reporting=1"
        for kind, bs, depth, jobs, patterns in (
            ("iops", "4k", 256, 4, ("randread", "randrw", "read")),
            ("throughput", "256k", 64, 4, ("randread", "randrw", "read")),
            ("latency", "4k", 1, 1, ("randread", "randrw")),
        )
        for rw in patterns
    },
}
"""The commands of the vendors' pages by test, without where they write, what they print, and what is a default (verify=0)."""


@pytest.mark.parametrize("name", PAGES)
def test_a_preset_has_the_commands_of_its_page_and_nothing_else(name: str) -> None:
    """Option by option, in the form that both have: nothing is left out, nothing added."""
    wanted = {
        test: {
            option: check_option(EngineName.FIO, option, value)
            for option, _, value in (word.removeprefix("--").partition("=") for word in command.split())
        }
        for test, command in PAGES[name].items()
    }
    assert jobs_of(shipped(name)) == wanted


@pytest.mark.parametrize(("name", "tests"), [("aws-ebs-ssd", 2), ("google-persistent-disk", 2)])
def test_the_jobs_of_a_command_with_a_directory_have_a_file_each(name: str, tests: int) -> None:
    def apart(settings: dict[str, str]) -> int:
        return sum(job.files == OWN_FILES for test in resolve(shipped(name), settings).tests for job in test.load.fio)

    assert apart({}) == tests and apart({"files": "shared"}) == 0


def test_the_sweep_has_the_block_sizes_of_the_article_and_every_queue_depth() -> None:
    resolved = resolve(shipped("digitalocean-sweep"), {})
    assert [(axis.option, axis.values) for axis in resolved.sweep] == [
        ("bs", ("4k", "16k", "32k", "64k", "256k")),
        ("iodepth", ("1", "2", "4", "8", "16", "32", "64")),
    ]
    assert len(resolved.tests) == 35


Promised = tuple[str, str, str, float]
MB, MIB, MS = 1e6, 2**20, 1e6


def promised(name: str, tier: str, gib: float = 0) -> set[Promised]:
    """What the preset promises of a disk of that tier: test, metric, operator, value."""
    return {
        (promise.test, promise.metric.name, promise.operator.value, round(promise.promise.value(gib), 3))
        for promise in shipped(name).expectations
        if not promise.when or promise.when == (("tier", tier),)
    }


STANDARD = {
    ("bw-test", "write.bandwidth", ">=", 200 * MB),
    ("rand-r", "read.iops", ">=", 5000),
    ("rand-w", "write.iops", ">=", 5000),
    ("lat-read", "read.latency.mean", "<", 5 * MS),
    ("lat-write", "write.latency.mean", "<", 5 * MS),
}
HIGH_CPU = {
    ("bw-test", "write.bandwidth", ">=", 300 * MB),
    ("rand-r", "read.iops", ">", 6000),
    ("rand-w", "write.iops", ">", 6000),
    ("lat-read", "read.latency.mean", "<", 5 * MS),
    ("lat-write", "write.latency.mean", "<", 5 * MS),
}


@pytest.mark.parametrize(("tier", "wanted"), [("standard", STANDARD), ("high-cpu", HIGH_CPU), ("none", set())])
def test_what_digitalocean_promises(tier: str, wanted: set[Promised]) -> None:
    assert promised("digitalocean-volume", tier) == wanted
    for test in ("bw-test", "rand-r", "rand-w", "lat-read", "lat-write"):
        assert promised(f"digitalocean-{test}", tier) == {promise for promise in wanted if promise[0] == test}


@pytest.mark.parametrize(
    ("tier", "gib", "iops", "mebibytes", "ms"),
    [
        ("ssd", 800, 20_000, 300, 2),
        ("ssd", 100, 4200, 130, 2),
        ("ultra", 200, 2200, 70, 3),
        ("ultra", 1000, 3000, 80, 3),
        ("basic", 200, None, 30, 10),
        ("ssd-shared", 500, 21_600, 350, 2),
        ("ssd-shared", 1000, 30_000, 512, 2),
        ("ultra-shared", 500, 4000, 125, 3),
        ("ultra-shared", 1000, 5000, 160, 3),
        ("none", 800, None, None, None),
    ],
)
def test_what_alibaba_promises(
    tier: str, gib: float, iops: float | None, mebibytes: float | None, ms: float | None
) -> None:
    wanted: set[Promised] = set()
    for direction in ("read", "write"):
        if iops:
            wanted.add((f"Rand_{direction.title()}_Testing", f"{direction}.iops", ">=", iops))
        if mebibytes:
            wanted.add((f"{direction.title()}_PPS_Testing", f"{direction}.bandwidth", ">=", mebibytes * MIB))
    assert promised("alibaba-cloud-disk", tier, gib) == wanted
    parts = [promised(f"alibaba-{part}", tier, gib) for part in ("rand-write", "rand-read", "write", "read")]
    assert set().union(*parts) == wanted
    latencies = {(f"lat-{way}", f"{way}.latency.mean", "<=", (ms or 0) * MS) for way in ("read", "write")}
    assert promised("alibaba-latency", tier) == (latencies if ms else set())


@pytest.mark.parametrize(
    ("gib", "iops"),
    [
        # The article's table of block sizes.
        (800, {"4k": 20_000, "8k": 20_000, "16k": 17_200, "32k": 9600, "64k": 4800}),
        # Small disks reach their limit of IOPS first, except with the largest blocks.
        (20, {"4k": 1800, "8k": 1800, "16k": 1800, "32k": 1800, "64k": 1440}),
        (200, {"4k": 7200, "8k": 7200, "16k": 7200, "32k": 5760, "64k": 2880}),
    ],
)
def test_all_rows_of_the_block_sizes_are_judged(gib: float, iops: dict[str, int]) -> None:
    found = {test: value for test, _, _, value in promised("alibaba-block-size", "ssd", gib)}
    assert found.pop("randread-64k") == iops.pop("64k") * 64 * K
    assert found == {f"randread-{block}": value for block, value in iops.items()}
    # None of them is more than the disk's own two limits leave.
    limits = min(1200 + 30 * gib, 20_000), min(80 + 0.5 * gib, 300) * MIB
    for block, value in iops.items():
        assert value <= min(limits[0], limits[1] / (int(block[:-1]) * K))


@pytest.mark.parametrize(
    ("name", "tier", "wanted"),
    [
        ("azure-max-write-iops", "standard-d8ds-v4", ("writer1", "write.iops", ">=", 12_800)),
        ("azure-max-read-iops", "standard-d8ds-v4", ("reader1", "read.iops", ">", 77_000)),
        ("azure-max-read-write-iops", "standard-d8ds-v4", ("read-write", "total.iops", ">", 90_000)),
        ("azure-diskspd-max-write-iops", "standard-d8ds-v4", ("max-write-iops", "write.iops", ">=", 12_800)),
        ("azure-diskspd-max-read-iops", "standard-d8ds-v4", ("max-read-iops", "read.iops", ">=", 77_000)),
        ("etcd-fsync", "", ("wal", "sync.latency.p99", "<", 10 * MS)),
    ],
)
def test_what_the_others_promise(name: str, tier: str, wanted: Promised) -> None:
    assert promised(name, tier) == {wanted}
    assert not tier or promised(name, "none") == set()


def test_where_iops_hand_over_to_bandwidth() -> None:
    small = {(f"randread-{bs}-qd64", "read.iops", ">=", 5000.0) for bs in ("4k", "16k", "32k")}
    large = {(f"randread-{bs}-qd64", "read.bandwidth", ">=", 200 * MB) for bs in ("64k", "256k")}
    assert promised("digitalocean-sweep", "standard") == small | large


def test_the_test_of_an_article_is_long_enough_for_what_the_article_says_of_it() -> None:
    for preset in SHIPPED.presets:
        lengths = {test.name: dict(test.jobs[0].options).get("runtime", "0") for test in resolve(preset, {}).tests}
        for promise in preset.expectations:
            assert parse_duration(lengths[promise.test]) >= promise.seconds, (preset.name, promise.test)


def test_what_takes_minutes_has_a_quick_variant_of_two_at_most() -> None:
    for preset in SHIPPED.presets:
        usual = time_needed(resolve(preset, {}))
        if usual.seconds < 60 and not usual.least and "azure" not in preset.name:
            continue
        quick = time_needed(resolve(preset, settings_of(preset, "quick", {})))
        assert 0 < quick.seconds <= 120 and quick.seconds <= (usual.seconds or 120), preset.name


@pytest.mark.parametrize(
    "name", ["vps-randread-qd1", "vps-randread-qd8", "alibaba-rand-read", "alibaba-write", "etcd-fsync"]
)
def test_an_amount_ends_a_test_where_it_does_in_the_article(name: str) -> None:
    *_, options = jobs_of(shipped(name)).values()
    assert "time_based" not in options and "size" in options


def test_the_buffered_read_of_the_vps_article_has_nothing_that_is_not_in_it() -> None:
    (options,) = jobs_of(shipped("vps-randread-qd1")).values()
    assert options.keys() == {"rw", "bs", "size", "runtime", "ioengine", "iodepth"}


@pytest.mark.parametrize(
    ("suite", "parts"),
    [
        ("digitalocean-volume", ["bw-test", "rand-r", "rand-w", "lat-read", "lat-write"]),
        ("alibaba-cloud-disk", ["rand-write", "rand-read", "write", "read"]),
    ],
)
def test_a_suite_is_its_parts_in_a_row(suite: str, parts: list[str]) -> None:
    vendor = suite.partition("-")[0]
    alone = [test for part in parts for test in resolve(shipped(f"{vendor}-{part}"), {}).tests]
    assert list(resolve(shipped(suite), {}).tests) == alone


def test_the_suite_of_the_vps_article_is_its_parts_in_a_row() -> None:
    parts = (
        "ioping-latency",
        "ioping-seek",
        "ioping-cached",
        "ioping-sequential",
        *(f"vps-randread-qd{n}" for n in (1, 8, 32)),
    )
    alone = [test for part in parts for test in resolve(shipped(part), {}).tests]
    suite = resolve(shipped("vps-compare"), {}).tests
    assert [test.name for test in suite] == [test.name for test in alone]
    for one, other in zip(suite, alone, strict=True):
        assert dict(one.jobs[0].options) == dict(other.jobs[0].options)


def test_the_load_of_aerospike_takes_bytes_a_second_in_place_of_requests() -> None:
    """The article: "by using the rate option instead of using the rate_iops option"."""
    preset = shipped("aerospike-write")
    with pytest.raises(UsageError, match="exclude each other") as caught:
        resolve(preset, {"rate": "160m"})
    assert "--set rate_iops=" in on_command_line(caught.value.hint)
    options = dict(resolve(preset, {"rate": "160m", "rate_iops": ""}).tests[0].jobs[0].options)
    assert options["rate"] == str(160 << 20) and "rate_iops" not in options
