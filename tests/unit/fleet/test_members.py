"""From the words of a command, a file of hosts or an inventory to the members of a fleet run."""

from pathlib import Path

import pytest

from diskprof.fleet.hosts.members import members_of, names_hosts
from diskprof.model.errors import UsageError

INVENTORY = """
all:
  vars:
    diskprof_target: /srv
  children:
    web:
      hosts:
        web[01:03]:
        web9: {ansible_host: 10.0.0.9, ansible_user: ops, diskprof_target: /data}
    db:
      hosts:
        db-[a:b]: {ansible_port: 2222, password: !vault "x"}
        db6: {ansible_host: "fe80::6", ansible_port: 2222}
      children:
        old:
          hosts: {db0: {}}
"""


def labels(*words: str) -> list[str]:
    return [member.label for member in members_of(words)]


@pytest.mark.parametrize(
    ("word", "host", "target"),
    [
        ("web1:/srv", "web1", "/srv"),
        ("root@db1:by-serial:S4XY", "root@db1", "by-serial:S4XY"),
        ("[fe80::1]:/srv", "fe80::1", "/srv"),
        ("root@[fe80::1]:/srv", "root@fe80::1", "/srv"),
        ("ssh://ops@[fe80::1]:2222:/srv", "ssh://ops@[fe80::1]:2222", "/srv"),
        ("ssh://ops@db1:2222:/srv", "ssh://ops@db1:2222", "/srv"),
        ("web1:sdb", "web1", "sdb"),
    ],
)
def test_a_colon_before_a_slash_is_a_host(word: str, host: str, target: str) -> None:
    (member,) = members_of([word])
    assert names_hosts([word])
    assert (member.host, member.target, member.label) == (host, target, f"{host}:{target}")


@pytest.mark.parametrize("word", ["/srv", "./a:b", "/mnt/a:b", "sda", "by-serial:S4XY"])
def test_what_is_here_is_no_host(word: str) -> None:
    assert not names_hosts([word])
    assert members_of([word])[0].host is None


def test_files_and_inventories_name_hosts_in_their_order(tmp_path: Path) -> None:
    listed = tmp_path / "hosts.txt"
    listed.write_text("# ours\nweb1:/srv\n\nroot@web2   # no target\n")
    assert labels(f"@{listed}:/data") == ["web1:/srv", "root@web2:/data"]
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(INVENTORY)
    web = ["web01:/srv", "web02:/srv", "web03:/srv", "ops@10.0.0.9:/data"]
    db = ["ssh://db-a:2222:/srv", "ssh://db-b:2222:/srv", "ssh://[fe80::6]:2222:/srv", "db0:/srv"]
    assert labels(f"@{inventory}") == web + db
    assert labels(f"@{inventory}#old", f"@{inventory}#web") == db[-1:] + web


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["web1:/srv", "web2:/srv", "web1:/data"], "web1 is named twice"),
        (["/srv", "web1:/srv", "/srv"], "/srv is named twice"),
        (["@{dir}/hosts.txt"], "web2 has no target"),
        (["@{dir}/absent.txt"], "cannot be read"),
        (["@{dir}/empty.txt:/srv"], "names no hosts"),
        (["@{dir}/hosts.txt#web:/srv"], "has no groups"),
        (["@{dir}/bad.yml:/srv"], "bad.yml, line 3"),
        (["@{dir}/list.yml:/srv"], "no table"),
        (["@{dir}/inventory.yml#nobody:/srv"], "no group 'nobody'. It has: all, db, old, web"),
        (["@{dir}/template.yml:/srv"], "ansible_host of web1 is a template"),
        (["@{dir}/itself.yml:/srv"], "itself.yml: its groups are too deep"),
        (["-oProxyCommand=x:/srv"], "not valid as a host"),
        (["@"], "no file is named"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, words: list[str], said: str) -> None:
    for name, text in {
        "hosts.txt": "web2\n",
        "empty.txt": "# nobody\n",
        "bad.yml": "all:\n  hosts: [\n",
        "list.yml": "- web1\n",
        "inventory.yml": INVENTORY,
        "itself.yml": "all: &all {children: {again: *all}}\n",
        "template.yml": "all: {hosts: {web1: {ansible_host: '{{ ip }}'}}}\n",
    }.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UsageError) as caught:
        members_of([word.replace("{dir}", str(tmp_path)) for word in words])
    assert said in str(caught.value).replace("\n", " ")
