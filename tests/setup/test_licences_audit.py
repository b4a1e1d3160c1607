"""The licences of what diskprof is installed with, and what is said of vulnerabilities in it."""

import importlib
from collections.abc import Iterator
from email.message import Message
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socket import socket
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def licences(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module("licences")


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch, licences: ModuleType) -> ModuleType:
    return importlib.import_module("audit")


class Package:
    """A distribution that says this of its licence."""

    version = "1.0"

    def __init__(self, **said: str | list[str]) -> None:
        self.metadata = Message()
        for key, value in said.items():
            for each in [value] if isinstance(value, str) else value:
                self.metadata[key.replace("_", "-")] = each


def test_what_is_installed_is_allowed_and_all_of_it_is_listed(
    licences: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert licences.main() == 0
    listed = capsys.readouterr().out
    # What pyproject.toml names, and what that needs in its turn, also by way of extras.
    for name in ("click", "pydantic", "pydantic_core", "pyudev", "textual", "rich", "linkify-it-py"):
        assert f"\n{name} " in f"\n{listed}"
    for name in ("pytest", "mypy", "diskprof"):
        assert f"\n{name} " not in f"\n{listed}"


def test_a_licence_that_is_not_on_the_list_fails(
    licences: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = {"diskprof": Package(), "closed": Package(License="Proprietary"), "free": Package(License="MIT")}
    monkeypatch.setattr(licences, "needed", lambda name: dict(packages))
    assert licences.main() == 1
    said = capsys.readouterr()
    assert "closed" in said.err and "free" not in said.err


@pytest.mark.parametrize(
    ("package", "expected", "good"),
    [
        (Package(License_Expression="Apache-2.0 OR BSD-2-Clause"), "Apache-2.0 OR BSD-2-Clause", True),
        (Package(License_Expression="GPL-3.0-only OR MIT"), "GPL-3.0-only OR MIT", True),
        (Package(License_Expression="GPL-3.0-only AND MIT"), "GPL-3.0-only AND MIT", False),
        (Package(License_Expression="MIT AND BSD-3-Clause"), "MIT AND BSD-3-Clause", True),
        (Package(License_Expression="MPL-2.0 AND (Apache-2.0 OR MIT)"), "MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        (Package(License_Expression="MIT AND (GPL-3.0-only OR (MIT AND SSPL-1.0))"), None, False),
        (Package(License_Expression="MIT AND (MIT"), None, False),
        (Package(License_Expression="GPL-2.0-only WITH Classpath-exception-2.0"), None, False),
        (Package(License="BSD 3-Clause License"), "BSD-3-Clause", True),
        (Package(Classifier=["Topic :: System", "License :: OSI Approved :: MIT License"]), "MIT", True),
        (Package(License="MIT License\n\nCopyright (c)"), "", False),
        (Package(Classifier="License :: OSI Approved :: GNU Affero General Public License v3"), None, False),
        (Package(), "", False),
    ],
)
def test_a_licence_is_read_and_judged(licences: ModuleType, package: Any, expected: str | None, good: bool) -> None:
    found = licences.licence(package)
    assert expected in (None, found)
    assert licences.allowed(found) is good


def test_a_vulnerability_fails_and_silence_does_not(audit: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    bad = {"name": "rich", "version": "1.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"]}]}
    good: dict[str, object] = {"name": "click", "version": "8.0", "vulns": []}
    unknown: dict[str, object] = {"name": "mine", "skip_reason": "not found"}
    assert audit.verdict([good, bad, unknown], strict=False) == 1
    assert "PYSEC-1, fixed in 1.1" in capsys.readouterr().err
    assert audit.verdict([good], strict=True) == 0
    for answers in ([good, unknown], []):
        assert audit.verdict(answers, strict=False) == 0
        assert "NOT CHECKED" in capsys.readouterr().err
        assert audit.verdict(answers, strict=True) == 1


class Service(BaseHTTPRequestHandler):
    """Knows version 1.0 of `click`, as the index does, and nothing else."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/click/1.0/json" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is said on stderr."""


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")
    with HTTPServer(("127.0.0.1", 0), Service) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/{{name}}/{{version}}/json"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("packages", "installs", "says"),
    [
        ({"click": Package()}, True, "pip-audit is not installed, and could not be"),
        ({"mine": Package()}, False, "/mine/1.0/json does not answer: HTTP Error 404: Not Found"),
    ],
)
def test_nothing_is_installed_before_the_service_answers(
    audit: ModuleType,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    service: str,
    packages: dict[str, Package],
    installs: bool,
    says: str,
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(audit, "needed", lambda name: {"diskprof": Package(), **packages})
    monkeypatch.setattr(audit, "SERVICE", service)
    monkeypatch.setattr(audit, "find_spec", lambda name: None)
    monkeypatch.setattr(audit.subprocess, "run", lambda words, check: ran.append(words))
    monkeypatch.setattr("sys.argv", ["audit.py"])
    assert audit.main() == 0
    assert f"NOT CHECKED: {says}" in capsys.readouterr().err.replace(service.split("/{")[0], "")
    monkeypatch.setattr("sys.argv", ["audit.py", "--strict"])
    assert audit.main() == 1
    assert all("install" in words and words[-1].endswith("[audit]") for words in ran)
    assert len(ran) == (2 if installs else 0)


def test_nobody_there_is_no_answer(audit: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}/"
        assert audit.silence(address).startswith(f"{address} does not answer: ")
