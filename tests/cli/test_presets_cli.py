"""`diskprof presets` as a person or a script meets it."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
import shipped
from forked import diskprof, diskprof_json
from program import DISKPROF, environment

from diskprof.presets.options.allowed import FIO_OPTIONS, IOPING_OPTIONS

SHIPPED = shipped.SHIPPED.presets


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The directory of one's own presets, with one that works."""
    directory = tmp_path / ".config/diskprof/presets"
    directory.mkdir(parents=True)
    (directory / "mine.toml").write_text(
        'title = "Mine"\n[[test]]\nname = "one"\noptions = { rw = "read", size = "1m" }\n'
    )
    return directory


def on_a_terminal(*words: str, home: Path, columns: int) -> str:
    """What the program writes on a terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(
        [*DISKPROF, *words], env=environment(home), stdin=slave, stdout=slave, stderr=slave
    ) as process:
        os.close(slave)
        found = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            found += chunk
    os.close(master)
    assert process.returncode == 0
    return found.decode().replace("\r\n", "\n")


def test_the_list_has_every_preset_by_category(tmp_path: Path, own: Path) -> None:
    done = diskprof("presets", home=tmp_path)
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.splitlines()
    for preset in SHIPPED:
        assert any(line.split()[:1] == [preset.name] for line in lines), preset.name
    assert lines.index("Quick") < lines.index("Suites") < lines.index("Your own")
    quick = next(line for line in lines if line.startswith("  quick "))
    assert quick.partition("  CrystalDiskMark")[0].split()[-4:] == ["write", "x6", "24", "s"]


@pytest.mark.parametrize(
    "words", [("presets",), ("presets", "options"), *(("presets", "show", preset.name) for preset in SHIPPED[::5])]
)
def test_it_fits_80_columns(tmp_path: Path, words: tuple[str, ...]) -> None:
    text = on_a_terminal(*words, home=tmp_path, columns=80)
    assert max(map(len, text.split("\n"))) <= 80
    assert ".." not in text or words != ("presets",)


def test_a_long_name_and_a_wide_title_fit_too(tmp_path: Path, own: Path) -> None:
    (own / "long.toml").write_text(
        f'name = "{"n" * 40}"\ntitle = "{"測" * 60}"\n[[test]]\nname = "x"\noptions = {{ size = "1m" }}\n'
    )
    text = on_a_terminal("presets", home=tmp_path, columns=80)
    line = next(line for line in text.split("\n") if "nnn" in line)
    assert sum(2 if ord(char) > 0x2E80 else 1 for char in line) <= 80


def test_json_has_every_name_that_run_takes(tmp_path: Path, own: Path) -> None:
    found = {preset["name"]: preset for preset in diskprof_json("presets", "--json", home=tmp_path)}
    for name in ("quick", "ioping-latency", "ioping-seek", "ioping-cached", "ioping-sequential", "mine"):
        assert found[name]["alias_of"] is None
    for depth in (1, 8, 32):
        assert found[f"fio-randread-qd{depth}"]["alias_of"] == f"vps-randread-qd{depth}"
    quick = found["quick"]
    assert quick["tests"][0]["name"] == "randread-4k-qd1"
    assert {parameter["name"]: parameter["default"] for parameter in quick["parameters"]} == {
        "size": "1g",
        "runtime": "4s",
        "ioengine": "libaio",
        "direct": "1",
        "sync": "",
        "layout": "filled",
        "steady": "",
    }
    assert quick["tests"][0]["jobs"][0]["options"]["size"] == "$size"
    assert (found["mine"]["shipped"], found["mine"]["category"]) == (False, "own")


def test_show_says_it_in_words_and_as_fio_reads_it(tmp_path: Path) -> None:
    text = diskprof("presets", "show", "quick", home=tmp_path).stdout
    assert "Reads blocks of 4 KiB at random, QD32, direct I/O" in " ".join(text.split())
    assert re.search(r"size +1g", text)
    for part in ("[randread-4k-qd32]", "rw=randread", "bs=4k", "iodepth=32", "[global]", "direct=1"):
        assert part in text, part
    text = diskprof("presets", "show", "ioping-seek", home=tmp_path).stdout
    assert "ioping -R -D -w 3 TARGET" in text
    assert "vps-randread-qd8" in diskprof("presets", "show", "fio-randread-qd8", home=tmp_path).stdout


@pytest.mark.fio
@pytest.mark.parametrize(
    "name", ["quick", "vps-compare", "azure-diskspd-max-write-iops", "azure-max-throughput", "digitalocean-sweep"]
)
def test_what_is_shown_as_a_job_file_is_one(tmp_path: Path, name: str) -> None:
    text = diskprof("presets", "show", name, home=tmp_path).stdout
    job_file = text.partition("fio job file")[2].partition("\n")[2].partition("ioping command")[0]
    (tmp_path / "job.fio").write_text("\n".join(line.strip() for line in job_file.splitlines()))
    done = subprocess.run(["fio", "--parse-only", "job.fio"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_the_list_marks_suites_sweeps_and_what_needs_several_targets(tmp_path: Path) -> None:
    text = diskprof("presets", home=tmp_path).stdout
    line = {line.split()[0]: line for line in text.splitlines() if line.startswith("  ")}
    assert "read x35" in line["digitalocean-sweep"] and "write x5" in line["digitalocean-volume"]
    assert (
        "Sweeps, a test for each combination of values: snia-latency, alibaba-block-size, digitalocean-sweep, "
        "snia-iops, what-limits." in flat(text)
    )
    assert "With several targets: azure-max-read-write-iops, azure-max-throughput." in flat(text)


@pytest.mark.parametrize("words", ["linode", "nguvu", "droplet", "microsoft", "Write_PPS_Testing", "writer1", "95/5"])
def test_what_a_preset_is_found_by_stands_in_its_line_of_a_pipe(tmp_path: Path, words: str) -> None:
    lines = diskprof("presets", home=tmp_path).stdout.splitlines()
    names = {line.split()[0] for line in lines if words.lower() in line.lower()}
    assert names and names == {
        preset["name"] for preset in diskprof_json("presets", words, "--json", home=tmp_path)
    } - {alias for preset in SHIPPED for alias in preset.aliases}


def test_a_wide_terminal_has_room_for_sources(tmp_path: Path) -> None:
    assert "Source" not in on_a_terminal("presets", home=tmp_path, columns=100)
    text = on_a_terminal("presets", home=tmp_path, columns=150)
    assert "Linode part II" in text and max(map(len, text.split("\n"))) <= 150


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("etcd",), ["etcd-fsync"]),
        (("--json", "etcd"), ["etcd-fsync"]),
        (("etcd", "--json"), ["etcd-fsync"]),
        (("-RD",), ["ioping-seek", "vps-compare"]),
        (("ioping", "/tmp", "-c", "10"), ["ioping-latency", "vps-compare"]),
    ],
)
def test_words_leave_the_presets_that_have_all_of_them(
    tmp_path: Path, words: tuple[str, ...], names: list[str]
) -> None:
    if "--json" in words:
        assert [preset["name"] for preset in diskprof_json("presets", *words, home=tmp_path)] == names
    else:
        lines = diskprof("presets", *words, home=tmp_path).stdout.splitlines()
        assert [line.split()[0] for line in lines[1:] if line.startswith("  ")] == names


def flat(text: str) -> str:
    return " ".join(text.split())


def test_show_says_what_is_promised_and_to_whom(tmp_path: Path) -> None:
    text = diskprof("presets", "show", "alibaba-cloud-disk", home=tmp_path).stdout
    default, _, rest = text.partition("With tier ssd (the default)")[2].partition("With tier ultra\n")
    assert "Rand_Read_Testing: reads >= min(1,200 + 30 x GiB, 20,000) IOPS" in default
    assert "Read_PPS_Testing: reads >= min(80 + 0.5 x GiB, 300) MiB/s" in default
    assert ">= min(1,000 + 6 x GiB, 3,000) IOPS" in rest and "With tier ultra-shared" in rest
    assert "--set capacity_gib=800" in rest
    text = flat(diskprof("presets", "show", "digitalocean-volume", home=tmp_path).stdout)
    assert "rand-r: reads > 6,000 IOPS" in text and "mean read latency < 5 ms" in text
    assert "Needs at least 1 min of measuring" in text
    assert "quick: size 1g, runtime 20s; takes 1 min 40 s" in text
    assert "99th percentile of fsync latency < 10 ms" in diskprof("presets", "show", "etcd-fsync", home=tmp_path).stdout


def test_show_says_what_is_swept(tmp_path: Path) -> None:
    text = diskprof("presets", "show", "digitalocean-sweep", home=tmp_path).stdout
    assert "35 cells: bs 4k, 16k, 32k, 64k, 256k by iodepth 1, 2, 4, 8, 16, 32, 64" in flat(text)
    assert "1 h 10 min" in text and "randread-4k-qd1 to randread-256k-qd64, 35 cells" in flat(text)
    assert text.count("[randread-") == 1 and "fio job file, the first cell" in text


def test_show_says_which_targets_there_are_and_who_works_where(tmp_path: Path) -> None:
    text = diskprof("presets", "show", "azure-max-read-write-iops", home=tmp_path).stdout
    assert "--target cache=/mnt/cache --target nocache=/mnt/nocache" in text
    assert "writer1: On nocache: writes blocks of 4 KiB at random" in flat(text)
    assert "[read-write-writer1]\n  ; on nocache\n  ; a file for each copy" in text


def test_json_carries_promises_sweeps_targets_and_variants(tmp_path: Path) -> None:
    found = {preset["name"]: preset for preset in diskprof_json("presets", "--json", home=tmp_path)}
    promise = found["alibaba-rand-read"]["expectations"][0]
    assert promise == {
        "test": "Rand_Read_Testing",
        "metric": "read.iops",
        "operator": ">=",
        "lines": [{"base": 1200.0, "per_gib": 30.0}],
        "cap": 20000.0,
        "unit": "IOPS",
        "when": {"tier": "ssd"},
        "seconds": 1.0,
        "words": "reads >= min(1,200 + 30 x GiB, 20,000) IOPS",
    }
    assert found["digitalocean-sweep"]["sweep"][0] == {"option": "bs", "values": ["4k", "16k", "32k", "64k", "256k"]}
    assert [slot["name"] for slot in found["azure-max-throughput"]["targets"]] == ["cache", "nocache"]
    assert found["soak"]["variants"] == [{"name": "quick", "settings": {"size": "1g", "runtime": "2m"}}]
    shown = diskprof_json("presets", "show", "digitalocean-sweep", "--json", home=tmp_path)
    assert shown["variants"][0]["seconds"] == 105 and shown["seconds"] == 4200
    assert shown["resolved"][8]["cell"] == {"bs": "16k", "iodepth": "2"}
    assert len(shown["resolved"]) == 35
    shown = diskprof_json("presets", "show", "azure-max-throughput", "--json", home=tmp_path)
    assert [job["targets"] for job in shown["resolved"][1]["jobs"]] == [["cache"], ["nocache"]]
    assert [job["files"] for job in shown["resolved"][1]["jobs"]] == [["*"], ["*"]]


def test_show_as_json_has_the_options_resolved(tmp_path: Path) -> None:
    shown = diskprof_json("presets", "show", "quick", "--json", home=tmp_path)
    assert shown["seconds"] == 24
    assert shown["resolved"][1]["jobs"][0]["options"]["size"] == str(1 << 30)
    assert shown["resolved"][1]["does"].startswith("Reads blocks of 4 KiB")


def test_options(tmp_path: Path) -> None:
    text = diskprof("presets", "options", home=tmp_path).stdout
    for name in (*FIO_OPTIONS, *IOPING_OPTIONS):
        assert f"\n  {name} " in text, name
    found = diskprof_json("presets", "options", "--json", home=tmp_path)
    assert found["fio"].keys() == FIO_OPTIONS.keys() and found["ioping"].keys() == IOPING_OPTIONS.keys()
    assert found["fio"]["rw"]["choices"][0] == "read"


def test_a_broken_preset_is_named_on_stderr_and_spoils_nothing_else(tmp_path: Path, own: Path) -> None:
    (own / "bad.toml").write_text('name = "bad"\n\n[[test]]\nname = "one"\noptions = { rw = "randraed" }\n')
    done = diskprof("presets", home=tmp_path)
    assert done.returncode == 0
    assert f"{own / 'bad.toml'}:5: test[1].options.rw: " in done.stderr and "randread" in done.stderr
    assert "\n  quick " in done.stdout and "\n  mine " in done.stdout and "bad" not in done.stdout
    assert json.loads(diskprof("presets", "--json", home=tmp_path).stdout)
    assert diskprof("presets", "show", "quick", home=tmp_path).returncode == 0
    done = diskprof("presets", "show", "bad", home=tmp_path)
    assert done.returncode == 2 and "bad.toml:5" in done.stderr and not done.stdout
    done = diskprof("run", "bad", tmp_path, "--dry-run", home=tmp_path)
    assert done.returncode == 2 and "bad.toml:5" in done.stderr and not done.stdout


def test_ones_own_preset_in_the_place_of_a_shipped_one_is_told(tmp_path: Path, own: Path) -> None:
    (own / "mine.toml").rename(own / "quick.toml")
    done = diskprof("presets", home=tmp_path)
    assert done.returncode == 0
    assert "overrides the shipped preset quick" in done.stderr


def test_a_title_cannot_reach_the_terminal(tmp_path: Path, own: Path) -> None:
    (own / "mine.toml").write_text(
        'title = "\\u001b]52;c;aGk=\\u0007"\nsummary = "\\u009b31m"\n[[test]]\nname = "x"\noptions = { size = "1m" }\n'
    )
    (own / "\x1b[31mred.toml").write_text("nothing")
    for words in (("presets",), ("presets", "show", "mine"), ("presets", "--json"), ("presets", "show", "\x1b[31mred")):
        done = diskprof(*words, home=tmp_path)
        assert "\x1b" not in done.stdout + done.stderr and "\x9b" not in done.stdout + done.stderr, words


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "quikc"), "Did you mean quick"),
        (("show",), "NAME"),
        (("shwo", "quick"), "Its commands: show, options"),
        (("nonsense",), "No preset has the word 'nonsense'."),
        (("show", "linode"), "Did you mean ioping-cached"),
        (("--json", "options"), "--json behind"),
        (("options", "--yaml"), "--yaml"),
    ],
)
def test_a_mistake_is_answered_in_words(tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    done = diskprof("presets", *words, home=tmp_path)
    assert done.returncode == 2 and says in done.stderr and not done.stdout
    assert "Traceback" not in done.stderr


def test_a_preset_of_ones_own_is_renamed_and_deleted(tmp_path: Path, own: Path) -> None:
    done = diskprof("presets", "rename", "mine", "ours", home=tmp_path)
    assert done.returncode == 0 and done.stdout.strip() == str(own / "ours.toml")
    assert [path.name for path in own.iterdir()] == ["ours.toml"]
    assert diskprof("presets", "rename", "ours", "quick", home=tmp_path).returncode == 2
    done = diskprof("presets", "delete", "ours", "--yes", home=tmp_path)
    assert done.returncode == 0 and not list(own.iterdir())


@pytest.mark.parametrize("command", [("edit", "quick"), ("rename", "quick", "mine"), ("delete", "quick", "--yes")])
def test_a_shipped_preset_is_not_changed(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = diskprof("presets", *command, home=tmp_path)
    assert done.returncode == 2 and "shipped preset" in done.stderr


def test_an_edit_is_checked_by_file_line_and_key(tmp_path: Path, own: Path) -> None:
    env = environment(tmp_path) | {"VISUAL": "sed -i s/read/rubbish/"}
    done = subprocess.run([*DISKPROF, "presets", "edit", "mine"], env=env, capture_output=True, text=True)
    assert done.returncode != 0 and "mine.toml:4: test" in done.stderr and "rw" in done.stderr
    env["VISUAL"] = "sed -i s/rubbish/read/"
    done = subprocess.run([*DISKPROF, "presets", "edit", "mine"], env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "mine: OK" in done.stderr
