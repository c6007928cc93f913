# SPDX-License-Identifier: MIT
"""A store that goes away while it is followed: it is told once, waited for, and told once more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import redis
from redis import RedisError
from redis.exceptions import NoPermissionError

from pyqless.cli.absence import Absence
from pyqless.client import Client, Event
from pyqless.client.sync.events import Events
from pyqless.errors import StorageError, StoreRefused, StoreUnavailable
from tests.unit.cli.conftest import Cli


def broken(cause: RedisError) -> StoreUnavailable:
    """What a subscription raises."""
    error = StoreUnavailable(f"broken: {cause}")
    error.__cause__ = cause
    return error


AWAY = broken(redis.ConnectionError("refused"))


def test_it_is_told_once_and_pauses_grow(capsys: pytest.CaptureFixture[str]) -> None:
    pauses = list[float]()
    absence = Absence(pauses.append)
    absence.end()  # it was never away
    for _ in range(20):
        absence.wait(AWAY)
    assert (
        capsys.readouterr().err
        == "pyqless: the store is away, and is tried again: broken: refused\n"
    )
    assert 0 < pauses[0] < 0.5
    assert 2 < pauses[-1] <= 5
    absence.end()
    absence.end()
    assert capsys.readouterr().err == "pyqless: the store is back\n"
    absence.wait(AWAY)
    assert pauses[-1] < 0.5
    assert "is away" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        broken(NoPermissionError("no")),
        StoreRefused("no"),
    ],
)
def test_a_refusal_is_final(capsys: pytest.CaptureFixture[str], error: StorageError) -> None:
    def pause(_seconds: float) -> None:
        pytest.fail("there is nothing to wait for")

    with pytest.raises(type(error)) as raised:
        Absence(pause).wait(error)
    assert raised.value is error
    assert capsys.readouterr().err == ""


@pytest.fixture
def happening(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let things happen to those who follow events."""
    monkeypatch.setattr("pyqless.worker.waiting.Backoff.next", lambda _: 0.0)

    def happening(*steps: Event | BaseException | None) -> None:
        left = iter(steps)

        def get(_events: Events, _timeout: float | None = None) -> Any:
            step = next(left)
            if isinstance(step, BaseException):
                raise step
            return step

        monkeypatch.setattr(Events, "get", get)

    return happening


GAP = Event(name="gap", source="connection", jid=None)
TOLD = "pyqless: listening\npyqless: the store is away, and is tried again: broken: refused\n"


def test_events_go_on(cli: Cli, client: Client, happening: Callable[..., None]) -> None:
    happening(AWAY, AWAY, GAP, Event(name="put", source="log", jid="j"), None)
    status, out, err = cli("events")
    assert (status, err) == (0, f"{TOLD}pyqless: the store is back\n")
    assert [line.split()[1:4] for line in out.splitlines()] == [
        ["connection", "gap", "-"],
        ["log", "put", "j"],
    ]


def test_an_interruption_ends_them_at_any_time(
    cli: Cli, client: Client, happening: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    happening(AWAY, KeyboardInterrupt())
    assert cli("events") == (0, "", TOLD)

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    happening(GAP)
    monkeypatch.setattr("pyqless.cli.events._tell", interrupted)
    assert cli("events")[0] == 0
    happening(AWAY)
    monkeypatch.setattr("pyqless.cli.absence.note", interrupted)
    assert cli("events")[0] == 0


def test_a_store_that_lets_nobody_in_any_more_ends_them(
    cli: Cli, client: Client, happening: Callable[..., None]
) -> None:
    happening(AWAY, StoreRefused("invalid password"))
    assert cli("events") == (1, "", f"{TOLD}pyqless: invalid password\n")
