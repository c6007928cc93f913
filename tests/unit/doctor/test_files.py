# SPDX-License-Identifier: MIT
"""Damage in a SQLite file, of which SQLite itself may see nothing as long as it reads elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyqless.client import Client
from pyqless.doctor import Role, Verdict, probe

PAGE = 4096


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Give a file with enough jobs for many pages."""
    path = tmp_path / "jobs.db"
    with Client(f"sqlite:///{path}") as client:
        client.queues["q"].put_many([("a.B", {"text": "x" * 200})] * 100)
    assert path.stat().st_size > 10 * PAGE
    return path


@pytest.mark.parametrize("role", Role)
def test_a_whole_file(path: Path, role: Role) -> None:
    before = path.read_bytes()
    report = probe(f"sqlite:///{path}", role=role)
    assert report.usable
    assert {check.name: check.verdict for check in report.checks} == dict.fromkeys(
        ("server", "file", "data"), Verdict.OK
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"\0", b"\xff"])
def test_a_page_that_is_overwritten(path: Path, content: bytes) -> None:
    whole = path.read_bytes()
    place = len(whole) // 2 // PAGE * PAGE
    path.write_bytes(whole[:place] + content * PAGE + whole[place + PAGE :])
    report = probe(f"sqlite:///{path}")
    found = {check.name: check for check in report.checks}
    assert not report.usable
    assert found["file"].verdict is Verdict.FAILURE
    assert "damaged" in found["file"].seen
    assert "\n" not in found["file"].seen


def test_what_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    path.write_bytes(b"something else" * 999)
    report = probe(f"sqlite:///{path}")
    assert not report.usable
    assert {check.name for check in report.checks if check.verdict is Verdict.FAILURE} == {
        *("file", "data")
    }
