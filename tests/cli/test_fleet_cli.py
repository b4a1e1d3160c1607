"""Runs on several hosts on the command line: what is refused before any host is asked."""

from pathlib import Path

import pytest
from forked import diskprof


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "quick", ".", "--one-by-one"), "are for targets on hosts"),
        (("run", "quick", "web1:/srv", "--one-by-one", "--at-once", "2"), "exclude each other"),
        (("run", "quick", "web1:/srv", "--at-once", "0"), "--at-once"),
        (("run", "quick", ".", "--engine", "fio-server"), "are for targets on hosts"),
        (("run", "quick", "web1:/srv", "--engine", "fio-server", "--at-once", "2"), "omit --one-by-one, --at-once"),
        (("run", "quick", "web1:/srv", "--repeat", "3"), "nor for several hosts"),
        (("run", "quick", "web1:/srv", "--target", "a=/srv"), "nor for several hosts"),
        (("run", "quick", "web1:/srv", "web1:/data"), "web1 is named twice"),
        (("run", "quick", "web1:"), "web1 has no target"),
        (("run", "quick", "@absent.txt"), "absent.txt cannot be read"),
        (("run", "no-such-preset", "web1:/srv"), "no preset"),
        (("run", "quick", "web1:/srv", "--set", "size"), "not NAME=VALUE"),
        (("fleet", "fetch", "abcdefgh"), "There are no runs yet"),
    ],
)
def test_it_is_told_what_cannot_be(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = diskprof(*words, home=tmp_path)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert not done.stdout


def test_without_anything_lost_there_is_nothing_to_fetch(tmp_path: Path) -> None:
    done = diskprof("fleet", "fetch", home=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (0, "", "Nothing is lost.")
