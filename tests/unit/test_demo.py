# SPDX-License-Identifier: MIT
"""The demo tells what happens, in a table that fits a terminal."""

from __future__ import annotations

import re

import pytest

from pyqless import demo


def test_it_fits_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 45


def test_jobs_end_where_the_story_leaves_them(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    told = capsys.readouterr().out
    for row in (
        r"invoice +complete +5 of 5 +put, popped, done",
        r"newsletter +scheduled +4 of 5 +put, popped",
        r"receipt +waiting +5 of 5 +put, popped, failed, put",
        r"reminder +complete +5 of 5 +put, popped, timed-out, popped, done",
        r"report-1 +complete +5 of 5 +put, popped, done",
        r"report +recurring +has made 1 job",
        r"155 s +reminder +bob pops nothing .*",
        r"170 s +reminder +ann is too late +JobLost: the lock is bob's now",
    ):
        assert re.search(f"^{row}$", told, re.MULTILINE), row


def test_it_can_be_told_again(capsys: pytest.CaptureFixture[str]) -> None:
    demo.main()
    first = capsys.readouterr().out
    demo.main()
    assert capsys.readouterr().out == first


def test_the_last_column_wraps() -> None:
    heads, row = ("a", "b"), ("x" * 10, "word " * 20)
    lines = list(demo.table(heads, [row]))
    assert len(lines) == 4
    assert lines[2].startswith("x" * 10 + "  word word")
    assert lines[3].startswith(" " * 12 + "word")
    assert all(len(line) <= 80 for line in lines)
