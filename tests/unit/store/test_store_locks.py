"""Opening a store twice in one process must not give the locks of the first away."""

import subprocess
import sys
from pathlib import Path

from recorded import make_plan

from diskprof.model.run import Environment, Message
from diskprof.store import Store

_READER = (
    "import sys; from pathlib import Path; from diskprof.store import Store\n"
    "with Store.open(Path(sys.argv[1])) as store: print(len(store.summaries()))"
)


def read_in_another_process(path: Path) -> str:
    done = subprocess.run([sys.executable, "-c", _READER, str(path)], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_reader_elsewhere_leaves_the_journal_of_a_process_with_two_connections(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store.open(path) as runner, Store.open(path) as watcher:
        run_id = runner.create_run(make_plan(), Environment())
        assert read_in_another_process(path) == "1"
        runner.append(run_id, messages=[Message(1, "still written where everybody reads")])
        assert path.with_name("runs.db-wal").exists()
        assert [message.text for message in watcher.run(run_id).messages] == ["still written where everybody reads"]
        assert read_in_another_process(path) == "1"
    with Store.open(path) as later:
        assert [message.text for message in later.run(run_id).messages] == ["still written where everybody reads"]


_OPENER = (
    "import sys; from pathlib import Path; from diskprof.store import Store\n"
    "sys.stdin.readline()\n"
    "for number in range(40):\n"
    "    Store.open(Path(sys.argv[1]) / f'{number}.db').close()"
)


def test_processes_that_make_the_same_stores_at_the_same_time_all_open_them(tmp_path: Path) -> None:
    openers = [
        subprocess.Popen([sys.executable, "-c", _OPENER, str(tmp_path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdin
        opener.stdin.write(b"go\n")
        opener.stdin.flush()
    errors = [opener.communicate()[1].decode() for opener in openers]
    assert errors == [""] * 4
