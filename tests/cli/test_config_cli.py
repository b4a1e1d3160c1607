"""`diskprof config`, and a configuration file that the other commands read, or cannot."""

from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from recorded import record_run

from diskprof.model.errors import ExitCode
from diskprof.store import Store


def written(home: Path, text: str) -> Path:
    path = home / ".config/diskprof/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_it_shows_what_holds_and_where_it_comes_from(tmp_path: Path) -> None:
    path = written(tmp_path, 'theme = "light"\n[keys]\nlive.stop = "S"\n')
    done = diskprof("--ascii", "config", home=tmp_path, DISKPROF_NO_MOUSE="1", DISKPROF_CHARTS="blocks")
    assert (done.returncode, done.stderr) == (0, "")
    words = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert words[0] == str(path)
    for line in (
        'theme = "light" line 1',
        "mouse = false DISKPROF_NO_MOUSE",
        "ascii = true --ascii",
        'charts = "blocks" DISKPROF_CHARTS',
        'slow_link = "auto" default',
        "keys.live.stop = S line 3",
    ):
        assert line in words


def test_as_json_with_what_is_wrong_and_exit_code_2(tmp_path: Path) -> None:
    path = written(tmp_path, 'theme = "drak"\nrefresh = 1\n[keys]\nlive.stop = "q"\nlive.zoom = "Z"\n')
    done = diskprof("config", "--json", home=tmp_path)
    assert done.returncode == ExitCode.USAGE
    assert f"{path}:1: theme: must be one of auto, dark" in done.stderr
    assert f"{path}:4: keys.live.stop: q is the key of app.quit already" in done.stderr
    written(tmp_path, 'refresh = 1\n[keys]\nlive.zoom = "Z"\n')
    found = diskprof_json("config", "--json", home=tmp_path)
    assert (found["path"], found["exists"], found["problems"]) == (str(path), True, [])
    assert found["settings"]["refresh"] == {"value": 1.0, "default": 2.0, "from": "line 1", "allowed": "0.1 to 4"}
    assert found["keys"] == {"live.zoom": ["Z"]}


def test_init_writes_a_file_that_changes_nothing_and_replaces_none(tmp_path: Path) -> None:
    made = diskprof("config", "init", home=tmp_path)
    path = Path(made.stdout.strip())
    assert path == Path(diskprof("config", "path", home=tmp_path).stdout.strip())
    before = path.read_text()
    again = diskprof("config", "init", home=tmp_path)
    assert again.returncode == ExitCode.USAGE
    assert "already exists" in again.stderr
    assert path.read_text() == before
    assert {one["from"] for one in diskprof_json("config", "--json", home=tmp_path)["settings"].values()} == {"default"}


def test_keys_are_listed_with_their_ids(tmp_path: Path) -> None:
    written(tmp_path, '[keys]\nlive.stop = "S"\n')
    found = {row["id"]: row for row in diskprof_json("config", "keys", "--json", home=tmp_path)}
    assert found["live.stop"]["keys"] == ["S"]
    assert found["live.stop"]["default_keys"] == ["s"]
    assert found["run.start"]["keys"] == ["enter"]
    listed = diskprof("config", "keys", home=tmp_path).stdout
    assert "Everywhere\n" in listed
    assert "(default: s)" in listed


@pytest.mark.parametrize("text", ["theme = ", 'store = "relative"\n', "zzz = 1"])
def test_a_broken_file_keeps_no_command_from_working(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    done = diskprof("runs", home=tmp_path)
    assert done.returncode == 0
    assert (str(path) in done.stderr) == ("store" in text)


def test_the_store_that_is_configured_is_the_one_that_is_read(tmp_path: Path) -> None:
    with Store.open(tmp_path / "elsewhere.db") as store:
        run_id = record_run(store)
    written(tmp_path, 'store = "~/elsewhere.db"\n')
    assert [run["id"] for run in diskprof_json("runs", "--json", home=tmp_path)] == [run_id]
    assert diskprof_json("--store", tmp_path / "other.db", "runs", "--json", home=tmp_path) == []
    assert diskprof_json("runs", "--json", home=tmp_path, DISKPROF_STORE=str(tmp_path / "third.db")) == []
