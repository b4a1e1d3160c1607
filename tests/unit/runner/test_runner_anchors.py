"""Between two tests a file system may go away: the next one would work on the disk below it."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from recorded import make_plan

from diskprof.model.errors import DiskprofError
from diskprof.model.plan import Plan, TestFile
from diskprof.model.target import Target, TargetKind
from diskprof.runner.carry import watches
from diskprof.runner.carry.watches import Anchors


def plan_in(directory: Path, *, file: bool) -> Plan:
    target = Target(TargetKind.DIRECTORY, str(directory), str(directory), "sda", mount_point="/")
    own = directory / ".diskprof-00000000"
    made = TestFile(str(own), str(own / "test.dat"), 4096) if file else None
    return replace(make_plan(), target=target, directory=str(own) if file else "", files=(made,) if made else ())


def test_a_test_file_that_went_away_is_told(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, file=True)
    assert plan.files
    path = Path(plan.files[0].path)
    path.parent.mkdir()
    path.touch()
    held = Anchors(plan)
    held.check()
    path.unlink()
    with pytest.raises(DiskprofError, match=r"test.dat is gone \(No such file or directory\)"):
        held.check()
    # A link to somewhere else, in its place, is looked at itself and not followed.
    path.symlink_to("/nowhere")
    held.check()


def test_a_directory_that_is_on_another_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ioping has no test file of ours: it makes its own, on whatever disk the directory is."""
    held = Anchors(plan_in(tmp_path, file=False))
    held.check()

    class Elsewhere:
        st_dev = -1

    real = watches.os.stat
    monkeypatch.setattr(watches.os, "stat", lambda path: Elsewhere if path == str(tmp_path) else real(path))
    with pytest.raises(DiskprofError, match=r"is gone .Stale file handle.: unmounted or removed"):
        held.check()


def test_a_directory_that_is_gone_from_the_start_is_told(tmp_path: Path) -> None:
    with pytest.raises(DiskprofError, match=r"is gone .No such file or directory.: unmounted or removed"):
        Anchors(plan_in(tmp_path / "gone", file=False))
