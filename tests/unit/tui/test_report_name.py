"""The file that is proposed for a report: one name, in the current directory, whatever the runs are called."""

import pytest

from diskprof.tui.dialogs.run_actions import report_name


@pytest.mark.parametrize(
    ("names", "file"),
    [
        (["k3f7p2qa"], "diskprof-k3f7p2qa.md"),
        (["before", "after", "c", "d"], "diskprof-before-after-c.md"),
        (["/mnt/old", "/mnt/new"], "diskprof-mnt-old-mnt-new.md"),
        (["..", "neu gemessen"], "diskprof-neu-gemessen.md"),
    ],
)
def test_it_has_no_path_in_it(names: list[str], file: str) -> None:
    assert report_name(names) == file


def test_a_long_one_is_cut() -> None:
    assert len(report_name(["/mnt/" + "a" * 300])) < 110
