"""Commands as they are copied from a page or a terminal, with what stands around them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskprof.model.errors import PresetError, UsageError
from diskprof.model.preset import EngineName, Preset
from diskprof.presets.files.load import parse
from diskprof.presets.files.write import checked_toml
from diskprof.presets.foreign.commandline import import_command
from diskprof.presets.foreign.pasted import LONGEST_TEXT, commands_of
from diskprof.presets.foreign.text import import_text
from diskprof.presets.resolve import expand_defaults

WORDS = ("--name=a", "--rw=read", "--bs=8k")
FIO = f"fio {' '.join(WORDS)}"
HERE = "is left out: diskprof starts the program itself, here."
OUTPUT = "is left out: diskprof keeps the output itself."
OTHER = "is left out: it is no command of fio, diskspd or ioping."


@pytest.mark.parametrize(
    "text",
    [
        FIO,
        f"[ec2-user ~]$ sudo {FIO}",
        f"[root@localhost ~]# {FIO}",
        f"user@host:~$ {FIO}",
        f"root@server:/mnt/data# {FIO}",
        f"(venv) me@box:/mnt$ {FIO}",
        f"~$ {FIO}",
        f"${FIO}",
        f"% {FIO}",
        f"$ sudo time {FIO}",
        f"{FIO}   # sequential read",
        f"# sequential read\n{FIO}",
        f"# first\n\n# {FIO}\n",
        "fio --name=a \\\n `# how` \\\n --rw=read --bs=8k",
        "fio --name=a \\\n# how\n--rw=read \\\n--bs=8k",
        "fio --name=a ^\n --rw=read ^\n --bs=8k",
        "fio --name=a\n--rw=read\n  --bs=8k",
        "1. fio --name=a \\\n2. --rw=read \\\n3. --bs=8k",
        f"```bash\n{FIO}\n```",
        f"<pre><code class='x'>{FIO}</code></pre>",
        f"`{FIO}`",
        f"\u201c{FIO}\u201d",
        f"1) {FIO}",
        f"- {FIO}",
        f"* `{FIO}`",
        f"PS C:\\Users\\me> {FIO}",
        f"C:\\fio> {FIO}",
        f"(venv) me@box ~ % {FIO}",
        f"\u279c  ~ {FIO}",
        "$ fio --name=a \\\n> --rw=read \\\n> --bs=8k",
        f"result=$({FIO})",
        f"{FIO} &",
        f"/usr/local/bin/{FIO}",
    ],
)
def test_what_surrounds_a_command_is_seen_through(text: str) -> None:
    (found,) = commands_of(text)
    assert (found.program, found.words, found.notes) == ("fio", WORDS, ())


@pytest.mark.parametrize(
    ("lead", "told"),
    [
        ("sudo -E", ""),
        ("sudo -u root", ""),
        ("sudo -- nice -n 19", ""),
        ("ionice -c1 -n 0", ""),
        ("ionice -c 2", ""),
        ("taskset -c 0", ""),
        ("taskset -c0", ""),
        ("taskset --cpu-list=0-3", ""),
        ("taskset 0x1", ""),
        ("numactl --cpunodebind=0 --membind=0", ""),
        ("numactl -N 0 -m 0", ""),
        ("chrt -f 99", ""),
        ("timeout -k 5 60", ""),
        ("time -p", ""),
        ("nohup", ""),
        ("VAR=x OTHER='y z'", "VAR=x 'OTHER=y z'"),
        ("env VAR=x", ""),
        ("docker run --rm -v /mnt:/mnt debian", ""),
        ("docker exec -it fio", ""),
        ("sudo podman run --name fio debian", ""),
        ("kubectl exec -it pod -- ", "kubectl exec -it pod --"),
        ("kubectl run fio --image=some/fio --rm -it -- ", "kubectl run fio --image=some/fio --rm -it --"),
        ("ssh root@host", ""),
        ("ip netns exec blue", ""),
        ("strace -f -o trace", ""),
        ("perf stat -e cycles -- ", "perf stat -e cycles --"),
        ("sudo operf", ""),
    ],
)
def test_what_leads_to_a_command_is_left_out_and_told(lead: str, told: str) -> None:
    (found,) = commands_of(f"{lead} {FIO}")
    assert (found.program, found.words) == ("fio", WORDS)
    assert found.notes == (f"{told or lead} {HERE}",)


@pytest.mark.parametrize("image", ["ljishen/fio", "quay.io/someone/fio-tools:1.2", "fio:latest"])
def test_an_image_may_start_fio_by_itself(image: str) -> None:
    (found,) = commands_of(f"docker run --rm -v /mnt:/mnt {image} {' '.join(WORDS)}")
    assert (found.program, found.words) == ("fio", WORDS)


def test_a_command_for_another_shell_is_read() -> None:
    (found,) = commands_of(f"kubectl exec pod -- sh -c '{FIO} > /tmp/x'")
    assert found.words == WORDS
    assert found.notes == (f"kubectl exec pod -- sh -c {HERE}", f"> /tmp/x {OUTPUT}")


@pytest.mark.parametrize(
    ("behind", "notes"),
    [
        ("> out.txt", (f"> out.txt {OUTPUT}",)),
        (">> out.txt", (f">> out.txt {OUTPUT}",)),
        ("2>/dev/null | jq .jobs", (f"> /dev/null {OUTPUT}", f"| jq .jobs {OUTPUT}")),
        ("2>&1 | tee log | grep iops", (f">& 1 {OUTPUT}", f"| tee log {OUTPUT}", f"| grep iops {OUTPUT}")),
        ("; rm test", (f"rm test {OTHER}",)),
        ("&& cat x", (f"cat x {OTHER}",)),
        ("|| reboot", (f"reboot {OTHER}",)),
        ("\nThen look at the output:", (f"Then look at the output: {OTHER}",)),
    ],
)
def test_what_is_done_with_the_output_is_left_out_and_told(behind: str, notes: tuple[str, ...]) -> None:
    (found,) = commands_of(f"{FIO} {behind}")
    assert (found.words, found.notes) == (WORDS, notes)


def test_what_is_piped_into_a_command_is_left_out_and_told() -> None:
    (found,) = commands_of(f"echo secret | sudo -S {FIO}")
    assert found.words == WORDS
    assert found.notes == (f"echo secret | {OTHER}", f"sudo -S {HERE}")


def test_a_command_within_a_sentence_is_found() -> None:
    (found,) = commands_of(f"Use `{FIO}` for that.")
    assert found.words == WORDS
    assert found.notes == (f"Use {OTHER}", f"for that. {OTHER}")


def test_what_fio_prints_is_no_command() -> None:
    printed = (
        "a: Laying out IO file (1 file / 64MiB)\n     |  1.00th=[  180],  5.00th=[  200]\n  sda: ios=0/1, merge=0/2"
    )
    (found,) = commands_of(f"$ {FIO}\n{printed}")
    assert found.notes == ("3 lines of output are left out.",)


def test_what_stands_in_quotes_is_the_commands_own() -> None:
    (found,) = commands_of("fio --name='a b' --description=\"it's | > # ;\" x\\ y")
    assert found.words == ("--name=a b", "--description=it's | > # ;", "x y")


def test_a_path_of_windows_keeps_its_strokes() -> None:
    (found,) = commands_of("C:\\tools\\DiskSpd.exe -b4K c:\\test\\file.dat")
    assert (found.program, found.words) == ("diskspd", ("-b4K", "c:\\test\\file.dat"))


SESSION = """\
$ sudo fio --name=a --rw=randread --bs=4k --size=64m --runtime=5
fio-3.33
Starting 1 process
a: (groupid=0, jobs=1): err= 0: pid=77: Mon Nov 23 22:00:00 2026
  read: IOPS=12.3k, BW=48.0MiB/s (50.4MB/s)(240MiB/5001msec)
    clat percentiles (usec):
Run status group 0 (all jobs):
$ fio --name=a --rw=randwrite --bs=4k --size=64m --runtime=5
$ ioping /tmp -c 10
$ ioping /tmp -RD
"""


def test_several_commands_are_tests_of_one_preset() -> None:
    imported = import_command(SESSION)
    preset = parse(checked_toml(imported.preset).encode(), Path("a.toml"), shipped=False)
    assert isinstance(preset, Preset)
    tests = expand_defaults(preset).tests
    assert [test.name for test in tests] == ["a", "a-2", "ioping", "ioping-2"]
    assert [test.engine for test in tests] == [EngineName.FIO] * 2 + [EngineName.IOPING] * 2
    assert [test.jobs[0].rw for test in tests] == ["randread", "randwrite", "randread", "randread"]
    # What all of fio's share can be set.
    found = {parameter.name: parameter.default for parameter in preset.parameters if parameter.default}
    assert found == {"size": "64m", "runtime": "5s", "layout": "fresh"}
    assert imported.notes[0] == "6 lines of output are left out."
    with pytest.raises(UsageError, match="one command"):
        import_command(SESSION, several=True)


def test_a_job_file_is_known_by_its_sections_and_a_path_by_its_file(tmp_path: Path) -> None:
    text = "[global]\nrw=randread\nsize=1m\n[one]\nbs=4k\n[two]\nstonewall\nbs=8k\n"
    (tmp_path / "two tests.fio").write_text(text)
    for given_text in (text, str(tmp_path / "two tests.fio")):
        assert [test.name for test in import_text(given_text).preset.tests] == ["one", "two"]
    assert [test.name for test in import_text(FIO).preset.tests] == ["a"]
    with pytest.raises(UsageError, match=r"missing\.fio"):
        import_text(str(tmp_path / "missing.fio"))


JOBS = "[global]\nrw=randread\nsize=1m\n[one]\nbs=4k\n[two]\nstonewall\nbs=8k"
NO_LINE = "is left out: it is no line of a job file."


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (f"```ini\n; a comment\n{JOBS}\n```", []),
        (f"<pre>{JOBS}</pre>", []),
        (f"cat <<'EOF' > two.fio\n{JOBS}\nEOF\n", [f"cat <<'EOF' > two.fio {NO_LINE}"]),
        (f"sudo fio - <<EOF\n{JOBS}\nEOF\nrm x", [f"sudo fio - <<EOF {NO_LINE}", f"rm x {NO_LINE}"]),
        (JOBS.replace("\n", "\r\n"), []),
        ("\n".join(f"> {line}" for line in JOBS.split("\n")), []),
        (
            "me@db:~$ cat > two.fio <<EOF\n" + "".join(f"> {line}\n" for line in JOBS.split("\n")) + "> EOF\n"
            "me@db:~$ sudo fio two.fio",
            [f"me@db:~$ cat > two.fio <<EOF {NO_LINE}", f"me@db:~$ sudo fio two.fio {NO_LINE}"],
        ),
        (f"$ cat two.fio\n{JOBS}", [f"$ cat two.fio {NO_LINE}"]),
        (
            f"[root@node1 ~]# cat two.fio\n{JOBS}\n[root@node1 ~]# fio two.fio --output=x\none: (g=0): rw=randread\nfio-3.7\n",
            [
                f"[root@node1 ~]# cat two.fio {NO_LINE}",
                f"[root@node1 ~]# fio two.fio --output=x {NO_LINE}",
                *(f"{line} {NO_LINE}" for line in ("one: (g=0): rw=randread", "fio-3.7")),
            ],
        ),
        (f"[me ~]$ cat two.fio\n{JOBS}\n[me ~]$ ", [f"[me ~]$ cat two.fio {NO_LINE}"]),
        (
            f"$ vi x\n{JOBS}\n[me ~]$ fio x\n" + "1\n" * 9,
            [f"{line} {NO_LINE}" for line in ("$ vi x", "[me ~]$ fio x", "1", "1")] + ["7 more lines are left out."],
        ),
    ],
)
def test_what_surrounds_a_job_file_is_seen_through(text: str, notes: list[str]) -> None:
    imported = import_text(text)
    assert [test.name for test in imported.preset.tests] == ["one", "two"]
    assert list(imported.notes) == notes


@pytest.mark.parametrize("prompt", ["[root@localhost ~]#", "[root@db data]#", "[ec2-user ~]$", "[me ~]#"])
def test_a_prompt_in_brackets_is_no_section_of_a_job_file(prompt: str) -> None:
    imported = import_text(f"{prompt} {FIO}\na: (g=0): rw=read, bs=8k\nfio-3.34")
    assert [(test.name, dict(test.jobs[0].options)["bs"]) for test in imported.preset.tests] == [("a", "8k")]
    assert imported.notes == ("2 lines of output are left out.",)


def test_a_command_that_changes_the_job_file_beside_it_is_told() -> None:
    with pytest.raises(UsageError, match="a command with options of its own: --runtime"):
        import_text(f"[root@db ~]# cat x.fio\n{JOBS}\n[root@db ~]# fio --runtime 60 x.fio")
    with pytest.raises(UsageError, match="options of its own: --section=one"):
        import_text(f"me@db:/mnt# fio x.fio --section=one\n{JOBS}")
    with pytest.raises(PresetError, match=r"pasted:1: 'runtime=60' stands before the first section"):
        import_text(f"runtime=60\n{JOBS}")


def test_a_long_command_is_no_name_of_a_file() -> None:
    words = " ".join(f"--description=words{number}" for number in range(20))
    assert [test.name for test in import_text(f"./{FIO} {words}").preset.tests] == ["a"]
    with pytest.raises(UsageError, match="is not fio"):
        import_text("~nobody-of-this-name/x")


def test_a_list_of_words_is_no_section_of_a_job_file() -> None:
    with pytest.raises(UsageError, match="is not fio"):
        import_text('["fio", "--name=a", "--rw=read"]')


def test_who_wraps_a_command_without_being_known_is_named() -> None:
    with pytest.raises(UsageError, match="'frobnicate' is not fio"):
        commands_of(f"sudo -E frobnicate {FIO}")


@pytest.mark.parametrize(
    "text", ["x" * (LONGEST_TEXT + 1), "", "\n\n", "# nothing", "```\n```", "ls -l", "; | &", "> x"]
)
def test_what_has_no_command_says_so(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        commands_of(text)
    assert caught.value.hint


@given(st.text(max_size=200))
def test_any_text_gives_commands_or_an_error(text: str) -> None:
    for around in (text, f"{text} {FIO} {text}", f"{text}\n{FIO}\n{text}", f"{text}\n{JOBS}\n{text}"):
        for read in (commands_of, import_text):
            try:
                assert read(around)
            except (UsageError, PresetError):
                continue
