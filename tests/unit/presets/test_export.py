"""Presets given away: as fio's job file, as a file of one's own; and the choice between a preset and a file."""

import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from shipped import SHIPPED

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.preset import Axis, Category, EngineName, Job, Parameter, Preset, TargetSlot, Test, Variant
from diskprof.presets.files.fio_text import job_file
from diskprof.presets.files.load import load_file, parse
from diskprof.presets.files.write import checked_toml, preset_toml, save_preset
from diskprof.presets.foreign.imported import preset_name, unique_name
from diskprof.presets.library import Library, choose

JOB = "[a]\nrw=randread\nsize=1m\n"


def read(text: str) -> Preset:
    loaded = parse(text.encode(), Path("own.toml"), shipped=True)
    assert isinstance(loaded, Preset), loaded
    return loaded


def own(**changes: object) -> Preset:
    job = Job("a", (("rw", "read"), ("size", "1m")))
    preset = Preset("own", "own", "", Category.OWN, "", (), (Test("a", "a", EngineName.FIO, (job,)),), shipped=False)
    return replace(preset, **changes)


@pytest.mark.parametrize("preset", SHIPPED.presets, ids=lambda preset: preset.name)
def test_a_preset_that_is_written_reads_back_as_itself(preset: Preset) -> None:
    text = preset_toml(preset)
    assert read(text) == replace(preset, path="own.toml")
    assert checked_toml(preset) == text
    assert max(map(len, text.splitlines())) < 400


def test_every_field_of_a_preset_is_written() -> None:
    """Whoever adds one has to teach the writer, or a preset that is saved would lose it."""
    assert set(Preset.__struct_fields__) == {
        "name", "title", "summary", "category", "source", "parameters", "tests", "aliases", "keywords", "path", "shipped",
        "targets", "sweep", "expectations", "variants", "precondition", "rounds", "limit", "read_write_map",
    }  # fmt: skip
    assert set(Job.__struct_fields__) == {"name", "options", "targets", "files"}
    assert set(Test.__struct_fields__) == {"name", "title", "engine", "jobs", "cell", "layout", "steady"}
    assert set(Parameter.__struct_fields__) == {"name", "kind", "default", "summary", "choices", "optional"}
    assert set(TargetSlot.__struct_fields__) == {"name", "summary"}
    assert set(Axis.__struct_fields__) == {"option", "values"}
    assert set(Variant.__struct_fields__) == {"name", "settings"}


ODD = st.text(st.characters(codec="utf-8"), max_size=200)


@settings(max_examples=150)
@given(ODD, ODD, ODD)
def test_any_text_in_a_preset_reads_back_as_one_line_of_it(title: str, summary: str, source: str) -> None:
    loaded = read(preset_toml(own(title=title[:80], summary=summary, source=source)))
    again = read(preset_toml(loaded))
    assert again == loaded
    assert loaded.summary.isprintable() and loaded.source.isprintable()


def test_words_survive_quotes_backslashes_and_line_ends() -> None:
    text = 'It\'s "quoted", \\ and """thrice""" ' * 12 + "\\"
    loaded = read(preset_toml(own(summary=text.strip(), source=text.strip())))
    assert loaded.summary == loaded.source == text.strip()


def test_what_jobs_share_is_written_once() -> None:
    jobs = [
        Job(name, (("direct", "1"), ("ioengine", "libaio"), ("rw", rw))) for name, rw in (("a", "read"), ("b", "rw"))
    ]
    tests = tuple(Test(job.name, job.name, EngineName.FIO, (job,)) for job in jobs)
    assert preset_toml(own(tests=tests)).count("libaio") == 1


def test_a_preset_is_saved_for_everybody_to_read_and_not_replaced_unasked(tmp_path: Path) -> None:
    directory = tmp_path / "new/presets"
    path = save_preset(own(), directory)
    assert path == directory / "own.toml" and stat.S_IMODE(path.stat().st_mode) & 0o600 == 0o600
    assert isinstance(load_file(path, shipped=False), Preset)
    with pytest.raises(UsageError, match="already exists"):
        save_preset(own(title="other"), directory)
    assert "other" not in path.read_text()
    save_preset(own(title="other"), directory, replace=True)
    assert "other" in path.read_text()
    assert [entry.name for entry in directory.iterdir()] == ["own.toml"]


def test_a_preset_that_would_not_load_is_not_saved(tmp_path: Path) -> None:
    bad = own(tests=(Test("a", "a", EngineName.FIO, (Job("a", (("exec_prerun", "x"),)),)),))
    with pytest.raises(PresetError, match="cannot be written"):
        save_preset(bad, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_an_error_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"own\.toml cannot be written"):
        save_preset(own(), tmp_path / "file" / "presets")


def test_an_exported_preset_says_what_it_is_and_runs_its_tests_in_turn() -> None:
    text = job_file(SHIPPED.get("quick"), {"size": "64m", "runtime": "2"})
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith(";")]
    assert comments[0] == "; quick: Quick check"
    assert any("with --set size=64m --set runtime=2s" in line for line in comments)
    assert any("thread=1" in line for line in comments)
    sections = [line for line in lines if line.startswith("[")]
    assert sections[0] == "[global]" and len(sections) == 7
    assert lines.count("stonewall") == 5 and lines[lines.index(sections[1]) + 1] != "stonewall"
    assert "size=64m" in lines and "runtime=2" in lines and "filename=diskprof-test.dat" in lines


def test_an_exported_test_of_several_jobs_keeps_them_together() -> None:
    jobs = (Job("r", (("rw", "randread"), ("size", "1m"))), Job("w", (("rw", "randwrite"), ("size", "1m"))))
    text = job_file(
        own(tests=(Test("both", "both", EngineName.FIO, jobs), Test("then", "", EngineName.FIO, jobs[:1]))), {}
    )
    assert text.count("stonewall") == 1 and text.index("stonewall") > text.rindex("[r]")


def test_an_exported_preset_of_several_targets_names_a_file_for_each() -> None:
    jobs = (Job("r", (("size", "1m"),), ("cache",)), Job("w", (("rw", "write"), ("size", "1m")), ("nocache",)))
    preset = own(
        tests=(Test("both", "both", EngineName.FIO, jobs),), targets=(TargetSlot("cache"), TargetSlot("nocache"))
    )
    lines = job_file(preset, {}).splitlines()
    assert lines[lines.index("[r]") + 1 : lines.index("[r]") + 2] == ["filename=cache/diskprof-test.dat"]
    assert "filename=nocache/diskprof-test.dat" in lines and "filename=diskprof-test.dat" not in lines


def test_what_only_ioping_can_do_stands_in_a_comment_or_is_refused() -> None:
    assert "; Here diskprof runs ioping: ioping -R -D" in job_file(SHIPPED.get("vps-compare"), {})
    with pytest.raises(UsageError, match="nothing for fio to do") as caught:
        job_file(SHIPPED.get("ioping-latency"), {})
    assert "ioping -c 10" in caught.value.hint


def test_an_export_warns_of_writes_and_of_a_missing_size() -> None:
    assert "this job writes" in job_file(SHIPPED.get("digitalocean-rand-w"), {})
    assert "this job writes" not in job_file(SHIPPED.get("digitalocean-rand-r"), {})
    job = Job("a", (("rw", "read"),))
    assert "Not every job has a size" in job_file(own(tests=(Test("a", "a", EngineName.FIO, (job,)),)), {})


def test_a_name_that_fio_would_take_for_global_options_is_changed() -> None:
    job = Job("globals", (("size", "1m"),))
    assert "[job-globals]" in job_file(own(tests=(Test("globals", "", EngineName.FIO, (job,)),)), {})
    assert unique_name("global", ()) == "job-global"


def test_a_bad_setting_is_told_before_anything_is_written() -> None:
    with pytest.raises(UsageError, match="has no parameter"):
        job_file(SHIPPED.get("quick"), {"sise": "1m"})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My Job (2)", "my-job-2"),
        ("-x-", "x"),
        ("日本", "imported"),
        ("A" * 60, "a" * 40),
        ("../../etc", "etc"),
        ("", "imported"),
    ],
)
def test_a_preset_gets_a_name_that_it_may_have(text: str, name: str) -> None:
    assert preset_name(text) == name


def library(*presets: Preset) -> Library:
    return Library((*presets, *SHIPPED.presets))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_preset_comes_before_a_file_of_its_name(here: Path) -> None:
    (here / "quick").write_text(JOB)
    assert choose(SHIPPED, "quick") == (SHIPPED.get("quick"), ())
    preset, _ = choose(SHIPPED, "./quick")
    assert preset.tests[0].name == "a"


@pytest.mark.parametrize("name", ["job.fio", "job.ini", "job", "with blank.txt"])
def test_a_job_file_is_taken_by_its_path(here: Path, name: str) -> None:
    (here / name).write_text(JOB + "filename=x\n")
    for text in (name, f"./{name}", str(here / name)):
        preset, notes = choose(SHIPPED, text)
        assert preset.name == preset_name(Path(name).stem) and len(notes) == 1


def test_a_preset_file_is_taken_by_its_path(here: Path) -> None:
    save_preset(own(), here)
    preset, notes = choose(SHIPPED, "own.toml")
    assert (preset.name, notes) == ("own", ())
    (here / "own.toml").write_text("nonsense = 1\n")
    with pytest.raises(PresetError, match="cannot be used"):
        choose(SHIPPED, "own.toml")


@pytest.mark.parametrize("text", ["nothing-of-the-kind", "none.fio", "", "\0", "a\nb", "x" * 5000, "/", "/dev/null"])
def test_what_is_neither_is_an_unknown_preset(here: Path, text: str) -> None:
    with pytest.raises(UsageError, match="There is no preset"):
        choose(SHIPPED, text)


@pytest.mark.parametrize("text", ["none.fio", "./none", "none.toml"])
def test_a_path_that_leads_nowhere_is_told_as_one(here: Path, text: str) -> None:
    with pytest.raises(UsageError, match="There is no preset or file"):
        choose(SHIPPED, text)


def test_a_file_of_something_else_is_neither(here: Path) -> None:
    (here / "notes.txt").write_text("rw=read\n")
    with pytest.raises(UsageError, match="neither a preset nor a fio job file"):
        choose(SHIPPED, "notes.txt")
    (here / "broken.fio").write_text("rw=read\n")
    with pytest.raises(PresetError, match=r"broken\.fio:1: "):
        choose(SHIPPED, "broken.fio")


def test_targets_that_are_named_keep_jobs_apart(here: Path) -> None:
    (here / "two.fio").write_text("[a]\ndirectory=/x\nsize=1m\n[b]\ndirectory=/y\nsize=1m\n")
    assert choose(SHIPPED, "two.fio")[0].targets == ()
    assert [slot.name for slot in choose(SHIPPED, "two.fio", several=True)[0].targets] == ["x", "y"]


def test_a_startdelay_is_written_as_fio_counts_it_from_the_begin_of_all_jobs() -> None:
    options = (("rw", "read"), ("size", "1m"), ("runtime", "60s"), ("time_based", "1"))
    waits = (*options, ("startdelay", "30s"))
    tests = [
        Test(name, name, EngineName.FIO, (Job(name, given),))
        for name, given in zip("abc", (options, waits, waits), strict=True)
    ]
    text = job_file(own(tests=tuple(tests)), {})
    assert [line for line in text.splitlines() if line.startswith("startdelay")] == ["startdelay=90", "startdelay=180"]
    assert "counts from the begin of the first job" in text
