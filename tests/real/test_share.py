"""What lies in share/ for Ansible and Kubernetes: the playbook on two servers, the commands of the manifests, their schema."""

import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from forked import diskprof, diskprof_json
from program import PATIENCE_S, environment, write_program
from sshd import HOST, sshd

from diskprof import __version__

REPOSITORY = Path(__file__).parents[2]
PLAYBOOK = REPOSITORY / "share/ansible/diskprof.yml"
KUBERNETES = REPOSITORY / "share/kubernetes"
MANIFESTS = sorted(KUBERNETES.glob("*.yaml"))
PATIENT_S = 2 * PATIENCE_S


@pytest.mark.needs("ansible-playbook", "ssh", "sshd", "ssh-keygen", "ioping")
def test_the_playbook_measures_on_every_host_or_on_none(tmp_path: Path) -> None:
    program, hosts, lines = tmp_path / "diskprof.pyz", ("web1", "web2"), list[str]()
    script = REPOSITORY / "scripts/pyz.py"
    subprocess.run([sys.executable, script, "--installed", "--output", program], check=True, capture_output=True)
    env = environment(
        tmp_path,
        ANSIBLE_HOME=str(tmp_path / "ansible"),
        ANSIBLE_SSH_ARGS="-o ControlMaster=no",  # both are 127.0.0.1
        PATH=os.environ["PATH"],
    )

    def play(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ansible-playbook", "-i", "hosts.ini", PLAYBOOK, "-e", f"program={program.name}", *words],
            env={**env, "PWD": str(tmp_path)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENT_S,
        )

    with ExitStack() as stack:
        for host in hosts:
            (tmp_path / host).mkdir()
            server = stack.enter_context(sshd(tmp_path / f"sshd-{host}", tmp_path / host))
            lines += [
                f"{host} ansible_host={HOST} ansible_ssh_common_args='-F {server.directory}/client'"
                f" ansible_python_interpreter={sys.executable} target={tmp_path / host}"
            ]
        (tmp_path / "hosts.ini").write_text("\n".join(lines))
        slow = (
            '{"preset": "ioping-latency", "look_every_s": 1, "options": ["--set", "count=2", "--expect", "p99<=1ns"]}'
        )
        done = play("-e", slow.replace("p99", "latency.read.latency.p99"))
        assert done.returncode == 2 and "MISSED" in done.stdout, done.stdout + done.stderr
        fetched = sorted((tmp_path / "runs").iterdir())
        assert [path.name.partition("-")[0] for path in fetched] == list(hosts)
        (tmp_path / "hosts.ini").write_text("\n".join([lines[0], f"{lines[1]}/gone"]))
        done = play("-e", "preset=ioping-latency")
        assert done.returncode == 2 and "gone does not exist" in done.stdout, done.stdout + done.stderr
    assert diskprof("import", *fetched, home=tmp_path).returncode == 0
    runs = diskprof_json("runs", "--json", home=tmp_path)
    assert sorted(run["tags"] for run in runs) == [["web1"], ["web2"]]
    assert len(diskprof_json("runs", "--json", home=tmp_path / "web1")) == 1


@pytest.mark.needs("kubernetes-validate")
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
def test_a_manifest_is_what_kubernetes_takes(manifest: Path) -> None:
    done = subprocess.run(["kubernetes-validate", "--strict", manifest], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.stem)
def test_a_manifest_names_the_image_that_is_built(manifest: Path) -> None:
    images = set(re.findall(r"^ +image: (.+)$", manifest.read_text(), re.MULTILINE))
    assert images == {f"diskprof:{__version__}"}
    assert f"-t diskprof:{__version__} " in (KUBERNETES / "Dockerfile").read_text()


@pytest.mark.needs("ioping")
@pytest.mark.parametrize(
    ("name", "target", "wanted", "codes"),
    [
        ("job", "data", "1s", (0, True)),
        ("job", "data", "1ns", (5, True)),
        ("job", "gone", "1s", (2, False)),
        ("daemonset", "data", "1ns", (0, True)),
        ("daemonset", "gone", "1s", (0, False)),
    ],
)
def test_the_log_of_a_manifests_command_is_the_run(
    tmp_path: Path, name: str, target: str, wanted: str, codes: tuple[int, bool]
) -> None:
    """The command of its container, with a preset that takes no time."""
    text = (KUBERNETES / f"{name}.yaml").read_text()
    (block,) = re.findall(r"^ +args:\n +- \|\n((?: {14}.*\n)+)", text, re.MULTILINE)
    assert "/tmp/" in block and "quick /data " in block
    quick = f"ioping-latency {tmp_path / target} --set count=2 --expect 'latency.read.latency.p99<={wanted}' "
    command = block.replace("/tmp/", f"{tmp_path}/").replace("quick /data ", quick)
    (tmp_path / "data").mkdir()
    env = environment(tmp_path, PATH=f"{write_program(tmp_path / 'bin')}:{os.environ['PATH']}", NODE="node1")
    done = subprocess.run(["sh", "-c", command], env=env, cwd=tmp_path, capture_output=True, timeout=PATIENCE_S)
    code, kept = codes
    assert done.returncode == code, done.stderr
    if not kept:
        assert b"gone does not exist" in done.stdout
        return
    other = tmp_path / "other"
    other.mkdir()
    decoded = subprocess.run(["base64", "-d"], input=done.stdout, capture_output=True, check=True).stdout
    (tmp_path / "log").write_bytes(decoded)
    assert diskprof("import", tmp_path / "log", home=other).returncode == 0
    (run,) = diskprof_json("runs", "--json", home=other)
    assert (run["preset"], run["tags"]) == ("ioping-latency", ["node1"])
