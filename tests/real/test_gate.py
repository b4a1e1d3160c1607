"""A gate on a volume whose limit changes: kept as long as it holds, confirmed and cried when it sinks."""

import json
import subprocess
from pathlib import Path

import pytest
from like_runs import plan_here, record_like_runs
from program import DISKPROF, environment
from throttle import throttled_volume

from diskprof.store import Store

LIMIT = 2_000
PRESET = "vps-randread-qd32"


@pytest.mark.needs("root", "loop", "blkio-throttle", "fio")
def test_a_volume_that_got_slower_is_told_from_one_that_did_not(tmp_path: Path) -> None:
    with throttled_volume(tmp_path, 64 << 20) as volume:
        plan, machine = plan_here(Path(volume.node), "runtime=1", preset=PRESET)
        with Store.open(tmp_path / ".local/share/diskprof/runs.db") as store:
            # What real runs on this volume do: the usual 5,000 IOPS of a recorded test are 2,000 here.
            ids = record_like_runs(
                store,
                [LIMIT / 5_000 * wave for wave in (1, 1.004, 0.998, 1.01, 1, 1.002)],
                plan=plan,
                environment=machine,
            )

        def gate(*words: str) -> subprocess.CompletedProcess[str]:
            command = volume.throttle.words(
                *("nice", "-n", "-20", *DISKPROF),
                "gate",
                PRESET,
                volume.node,
                "--set",
                "runtime=1",
                "--against",
                "history",
                *words,
            )
            return subprocess.run(command, capture_output=True, text=True, env=environment(tmp_path), timeout=120)

        volume.throttle.limit("read", iops=LIMIT)
        done = gate("--json")
        assert done.returncode == 0, done.stdout + done.stderr
        kept = json.loads(done.stdout)
        assert (kept["outcome"], kept["before"]) == ("kept", ids)

        volume.throttle.limit("read", iops=LIMIT // 2)
        done = gate("--json")
        assert done.returncode == 6, done.stdout + done.stderr
        found = json.loads(done.stdout)
        assert (found["outcome"], len(found["after"])) == ("regressed", 4)
        assert found["figures"][0]["ratio"] == pytest.approx(-0.5, abs=0.1)
        assert "of at most 10) to confirm" in done.stderr
