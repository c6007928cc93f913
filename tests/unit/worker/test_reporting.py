# SPDX-License-Identifier: MIT
"""How failures are described."""

from __future__ import annotations

import pytest

from pyqless.worker.reporting import group_of, message_of, redacted, shortened


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("redis://ann:pw@host/0", "redis://ann:***@host/0"),
        ("postgresql+psycopg://u:p%40x@h", "postgresql+psycopg://u:***@h"),
        ("redis://:pw@host", "redis://:***@host"),
        ("password=hunter2, user=ann", "password=***, user=ann"),
        ("{'api_key': 'abc', 'n': 1}", "{'api_key': ***, 'n': 1}"),
        ("DB_PASSWORD: x y", "DB_PASSWORD: *** y"),
        ("at 12:30 in http://host/path", "at 12:30 in http://host/path"),
        ("KeyError: 'token'", "KeyError: 'token'"),
    ],
)
def test_secrets_are_left_out(text: str, shown: str) -> None:
    assert redacted(text) == shown


def test_groups() -> None:
    error = ValueError("no")
    assert group_of(error, "jobs.Run", "mail", compat=False) == "jobs.Run:ValueError"
    assert group_of(error, "jobs.Run", "mail", compat=True) == "mail-ValueError"


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    text = "a" * 500 + "z" * 500
    short = shortened(text, 100)
    assert len(short) == 100
    assert (short[:5], short[-5:]) == ("aaaaa", "zzzzz")
    assert shortened(text, 1000) == text
    assert shortened(text, 3) == "\n[...]\n"


def int_of(text: str) -> None:
    raise ValueError(f"went wrong at {text}")


def test_a_message_names_the_error_last() -> None:
    with pytest.raises(ValueError, match="went wrong") as raised:
        int_of("redis://u:pw@h")
    message = message_of(raised.value, 10_000)
    assert message.splitlines()[-1] == "ValueError: went wrong at redis://u:***@h"
    assert "test_reporting.py" in message
