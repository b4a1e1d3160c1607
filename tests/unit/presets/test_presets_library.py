"""The shelf of presets: what is shipped, and how a person's own files join."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from shipped import SHIPPED

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.preset import Category, EngineName, Job, Preset
from diskprof.presets.files.load import load_file
from diskprof.presets.library import Library, library_for, load_library, shipped_directory, user_directory
from diskprof.presets.resolve import resolve

REPOSITORY = Path(__file__).parents[3]
MINE = 'name = "mine"\n[[test]]\nname = "one"\noptions = { rw = "read", size = "1m" }\n'


def jobs_of(preset: Preset, **settings: str) -> dict[str, dict[str, str]]:
    """The options of each test's first job."""
    return {test.name: dict(test.jobs[0].options) for test in resolve(preset, settings).tests}


def shipped(name: str) -> Preset:
    return SHIPPED.get(name)


def test_every_shipped_preset_is_sound() -> None:
    assert not SHIPPED.problems and not SHIPPED.notices
    assert len(SHIPPED.presets) == len(list((REPOSITORY / "presets").glob("*.toml")))
    for preset in SHIPPED.presets:
        assert Path(preset.path).stem == preset.name
        assert preset.shipped and preset.category is not Category.OWN
        assert preset.summary and preset.source and len(preset.title) <= 32, preset.name
        assert {"size", "runtime"} <= {parameter.name for parameter in preset.parameters}, preset.name
        assert all(parameter.summary for parameter in preset.parameters), preset.name
        resolved = resolve(preset, {"size": "64m", "runtime": "2"})
        assert all(test.title for test in resolved.tests)


def test_every_shipped_preset_passes_the_checks_of_a_persons_own() -> None:
    """Those of its variants as well, which are not made each time it is loaded."""
    for path in shipped_directory().glob("*.toml"):
        loaded = load_file(path, shipped=False)
        assert isinstance(loaded, Preset), loaded


def test_quick_comes_first_and_numbers_count() -> None:
    names = [preset.name for preset in SHIPPED.presets]
    assert names[0] == "quick"
    assert names.index("vps-randread-qd8") + 1 == names.index("vps-randread-qd32")
    shelves = [preset.category for preset in SHIPPED.presets]
    assert shelves == sorted(shelves, key=list(Category).index)


def test_names_and_aliases_are_each_taken_once() -> None:
    names = [name for preset in SHIPPED.presets for name in (preset.name, *preset.aliases)]
    assert len(names) == len(set(names))
    for depth in (1, 8, 32):
        assert shipped(f"fio-randread-qd{depth}").name == f"vps-randread-qd{depth}"


def test_quick() -> None:
    tests = jobs_of(shipped("quick"))
    assert list(tests) == [
        "randread-4k-qd1",
        "randread-4k-qd32",
        "randwrite-4k-qd1",
        "randwrite-4k-qd32",
        "seqread-1m-qd8",
        "seqwrite-1m-qd8",
    ]
    for name, options in tests.items():
        pattern, block, depth = name.split("-")
        assert options["rw"] == pattern.replace("seq", "")
        assert (options["bs"], options["iodepth"]) == ({"4k": "4096", "1m": "1048576"}[block], depth[2:])
        shared = {"ioengine": "libaio", "direct": "1", "time_based": "1", "runtime": "4", "size": str(1 << 30)}
        assert options.items() >= shared.items()


@pytest.mark.parametrize("preset", SHIPPED.presets, ids=lambda preset: preset.name)
def test_jobs_that_are_copies_are_reported_as_one(preset: Preset) -> None:
    for options in jobs_of(preset).values():
        assert options.get("numjobs", "1") == "1" or options["group_reporting"] == "1"


def words_of(job: Job) -> list[str]:
    return [f"--name={job.name}", *(f"--{name}={value}" for name, value in job.options)]


@pytest.mark.fio
def test_fio_accepts_every_shipped_preset(tmp_path: Path) -> None:
    for preset in SHIPPED.presets:
        tests = [test for test in resolve(preset, {}).tests if test.engine is EngineName.FIO]
        if not tests:
            continue
        # Without gauging a clock, which is half of what fio takes here.
        words = [
            "fio",
            "--clocksource=clock_gettime",
            "--parse-only",
            *(word for test in tests for job in test.jobs for word in words_of(job)),
        ]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (preset.name, done.stderr)
        assert not done.stderr, preset.name
    assert not list(tmp_path.iterdir())


def test_a_preset_of_ones_own_joins_and_a_bad_one_spoils_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "worse.toml").write_text('name = "worse"\n[[test]]\nname = "x"\noptions = { exec_prerun = "id" }\n')
    (tmp_path / "notes.txt").write_text("not a preset")
    (tmp_path / ".hidden.toml").write_text("not a preset")
    (tmp_path / "gone.toml").symlink_to(tmp_path / "nowhere")
    library = load_library(tmp_path)
    assert len(library.presets) == len(SHIPPED.presets) + 1
    mine = library.get("mine")
    assert (mine.category, mine.shipped, mine.path) == (Category.OWN, False, str(tmp_path / "mine.toml"))
    assert [(Path(problem.path).name, problem.line) for problem in library.problems] == [
        ("bad.toml", 1),
        ("gone.toml", None),
        ("worse.toml", 4),
    ]
    for name in ("bad", "worse"):
        with pytest.raises(PresetError) as caught:
            library.get(name)
        assert f"{name}.toml:" in str(caught.value)


def test_ones_own_preset_stands_in_the_place_of_a_shipped_one_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text(MINE.replace("mine", "quick"))
    library = load_library(tmp_path)
    assert not library.problems
    assert [str(notice) for notice in library.notices] == [f"{tmp_path / 'q.toml'}: overrides the shipped preset quick"]
    assert [preset.shipped for preset in library.presets if preset.name == "quick"] == [False]


def test_a_broken_preset_of_ones_own_is_not_silently_replaced_by_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "quick.toml").write_text("name = 'quick'\n[[test]\n")
    library = load_library(tmp_path)
    with pytest.raises(PresetError, match="quick"):
        library.get("quick")
    assert library.get("crystal")


def test_two_files_of_ones_own_with_one_name(tmp_path: Path) -> None:
    for stem in ("a", "b"):
        (tmp_path / f"{stem}.toml").write_text(MINE)
    library = load_library(tmp_path)
    assert library.get("mine").path == str(tmp_path / "a.toml")
    assert [(problem.path, problem.key) for problem in library.problems] == [(str(tmp_path / "b.toml"), "name")]


def test_a_name_beats_an_alias_and_ones_own_alias_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('aliases = ["quick", "fio-randread-qd1"]\n' + MINE)
    library = load_library(tmp_path)
    assert library.get("quick").shipped
    assert library.get("fio-randread-qd1").name == "mine"
    assert library.get("vps-randread-qd1").aliases == ()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("quikc", "Did you mean quick"),
        ("randread", "vps-randread-qd1"),
        ("QUICK", "quick"),
        ("", "diskprof presets"),
        ("\x1b[31mzzz", "diskprof presets"),
        ("z" * 5000, "diskprof presets"),
    ],
)
def test_a_name_that_nobody_has_gets_those_that_come_close(name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        SHIPPED.get(name)
    assert says in str(caught.value)
    assert "\x1b" not in str(caught.value) and len(str(caught.value)) < 300


def test_a_part_of_the_library_knows_what_all_of_it_knows(tmp_path: Path) -> None:
    (tmp_path / "q.toml").write_text('aliases = ["fio-randread-qd1", "short"]\n' + MINE.replace("mine", "quick"))
    (tmp_path / "crystal.toml").write_text("this is not TOML")
    whole = load_library(tmp_path)
    names = {name for preset in whole.presets for name in (preset.name, *preset.aliases)} - {"crystal"}
    assert len(names) > 40
    for name in names:
        assert library_for(name, tmp_path).get(name) == whole.get(name)
    for name, user_dir in (("etcd-fsync", tmp_path), ("quick", tmp_path / "none")):
        assert len(library_for(name, user_dir).presets) < len(whole.presets) / 4
    (tmp_path / "other.toml").write_text('aliases = ["etcd-fsync"]\n' + MINE)
    whole = load_library(tmp_path)
    for name in ("short", "mine", "quick"):
        part = library_for(name, tmp_path)
        assert (part.get(name), part.notices) == (whole.get(name), whole.notices)
    for name in ("crystal", "no-such", "quikc", "../x", ""):
        found: list[str] = []
        for library in (whole, library_for(name, tmp_path)):
            with pytest.raises(UsageError) as caught:
                library.get(name)
            found.append(f"{type(caught.value)} {caught.value.message} {caught.value.hint}")
        assert found[0] == found[1]
    assert library_for("quick", tmp_path).notices == whole.notices


def test_an_empty_library_knows_nothing() -> None:
    with pytest.raises(UsageError):
        Library(()).get("quick")


def test_a_directory_that_is_none_or_may_not_be_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    problems = load_library(file).problems
    assert len(problems) == 1 and "cannot be read" in problems[0].message


def test_where_ones_own_presets_lie(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    assert user_directory() == tmp_path / "config/diskprof/presets"
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_directory() == tmp_path / ".config/diskprof/presets"
    user_directory().mkdir(parents=True)
    (user_directory() / "mine.toml").write_text(MINE)
    assert load_library().get("mine")


def test_an_installed_package_finds_its_presets_inside_itself(tmp_path: Path) -> None:
    assert shipped_directory() == REPOSITORY / "presets"
    shutil.copytree(REPOSITORY / "diskprof", tmp_path / "diskprof", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPOSITORY / "presets", tmp_path / "diskprof/presets/library")
    # Somebody else's top-level `presets` beside the package must not be taken for ours.
    (tmp_path / "presets").mkdir()
    code = "from diskprof.presets.library import load_library; print(len(load_library().presets))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(len(SHIPPED.presets)), done.stderr


def test_options_and_parameters_need_no_pydantic() -> None:
    parts = ("library", "files.load", "options.allowed", "resolve")
    code = f"import sys; {'; '.join(f'import diskprof.presets.{part}' for part in parts)}; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY)
    assert done.stdout.strip() == "False", done.stderr


def test_a_preset_is_a_value() -> None:
    quick = shipped("quick")
    assert replace(quick) == quick and hash(quick) == hash(replace(quick))
