# SPDX-License-Identifier: MIT
"""The examples in the documentation run, page by page, and the pages' links lead somewhere."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyqless import errors
from pyqless.core.commands import COMMANDS
from pyqless.storage.default import VARIABLES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SESSION_BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_CODE = re.compile(r"`([a-z_/]+?)/?`")
_LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    """Let a page set up logging, and leave it as it was."""
    logger = logging.getLogger("pyqless")
    handlers, level, propagate = logger.handlers[:], logger.level, logger.propagate
    yield
    logger.handlers[:], logger.propagate = handlers, propagate
    logger.setLevel(level)


def _blocks(page: Path) -> list[str]:
    return _BLOCK.findall(page.read_text())


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


#: pages whose blocks show how something is made rather than how it is used
_SKETCHES = {"docs/explanation/architecture.md"}

#: pages that are typed into files and a shell, from the first line to the last
_SESSIONS = {"docs/tutorial/pipeline.md"}


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if _blocks(page) and _name(page) not in _SKETCHES | _SESSIONS],
    ids=_name,
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "example"}
    for number, block in enumerate(_blocks(page), 1):
        exec(compile(block, f"{_name(page)}, block {number}", "exec", dont_inherit=True), names)


@pytest.mark.parametrize("name", sorted(_SESSIONS))
def test_a_session_goes_as_it_is_told(name: str, tmp_path: Path) -> None:
    named = dict.fromkeys(VARIABLES, "")
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **named, "PATH": programs, "XDG_STATE_HOME": str(tmp_path)}
    for kind, block in _SESSION_BLOCK.findall((ROOT / name).read_text()):
        if kind == "python":
            (tmp_path / block.partition("\n")[0].removeprefix("# ")).write_text(block)
            continue
        for command, told in _COMMAND.findall(block):
            line = ["bash", "-c", command]
            run = subprocess.run(
                line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert run.stdout == told, f"{command}: {run.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    missing = [
        link for link in _LINK.findall(page.read_text()) if not (page.parent / link).exists()
    ]
    assert missing == []


def test_the_tests_that_are_named_are_there() -> None:
    page = (ROOT / "docs/reference/parity.md").read_text()
    named = set(re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page))
    missing = [
        (file, test)
        for file, test in named
        if not (ROOT / file).is_file() or (test and f"def {test}(" not in (ROOT / file).read_text())
    ]
    assert named
    assert missing == []


def _rooms() -> dict[str, set[str]]:
    """The modules and folders that the architecture names, by the folder that they lie in."""
    page = (ROOT / "docs/explanation/architecture.md").read_text()
    core, others = page.split("Those of `core`")[1].split("And the others:")
    rooms = {"core": set(_CODE.findall(core))}
    folders: list[str] = []
    for first, rest in re.findall(r"^\| (.*?)\| (.*)$", others, re.MULTILINE):
        folders = _CODE.findall(first) or folders
        for folder in folders:
            rooms.setdefault(folder, set()).update(_CODE.findall(rest))
    return rooms


@pytest.mark.parametrize(
    "folder", ["core", "client", "storage", "storage/redis", "storage/sqlite", "worker"]
)
def test_every_module_has_its_place_in_the_architecture(folder: str) -> None:
    modules = (ROOT / "pyqless" / folder).glob("[!_]*")
    here = {module.stem for module in modules if module.suffix in ("", ".py")}
    elsewhere = {"redis", "sqlite", "memory", "fakeredis"}  # these have rows of their own
    assert here - elsewhere - _rooms()[folder] == set()


def test_every_error_is_documented() -> None:
    page = (ROOT / "docs/reference/errors.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| `(\w+)` \|", page, re.MULTILINE))
    leaves = {
        name: kind.code
        for name in errors.__all__
        if issubclass(kind := getattr(errors, name), errors.QlessError)
        and kind not in (errors.QlessError, errors.RequestError, errors.StorageError)
    }
    assert rows == leaves


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs/reference/commands.md").read_text()
    named = {
        name
        for row in re.findall(r"^\| (`[^|]+) \|", page, re.MULTILINE)
        for name in re.findall(r"`([^`]+)`", row)
    }
    assert named == set(COMMANDS)
