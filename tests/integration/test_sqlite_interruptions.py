# SPDX-License-Identifier: MIT
"""Interruptions at the few places of a transaction on a file where something is held: nothing stays so."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyqless import Client
from pyqless.storage.sqlite.lane import Lane
from pyqless.storage.sqlite.log import Log
from pyqless.storage.sqlite.turns import Turns


def just_behind(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but interrupted as soon as it is done, the first time."""
    calls = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        result = function(*arguments, **options)
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return result

    return interrupted


def instead_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but interrupted before it has done anything, when it is called while something is held."""
    calls = 0

    def interrupted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    return interrupted


@pytest.mark.parametrize(
    ("place", "name", "interrupt"),
    [
        (Lane, "begin_writing", just_behind),
        (Turns, "take", just_behind),
        (Turns, "give_back", instead_of),
        (Log, "_flush", just_behind),
    ],
    ids=[
        "behind BEGIN",
        "with the turn",
        "before the turn is given back",
        "while the disk is waited for",
    ],
)
def test_others_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: type[Any],
    name: str,
    interrupt: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db?timeout=2"
    with Client(url) as client, Client(url) as other:
        client.queues["q"].put("klass")
        monkeypatch.setattr(place, name, interrupt(getattr(place, name)))
        with pytest.raises(KeyboardInterrupt):
            client.queues["q"].put("klass")
        client.queues["q"].put("klass", jid="again")
        other.queues["q"].put("klass", jid="of another")
        put: list[str] = []
        thread = threading.Thread(
            target=lambda: put.append(client.queues["q"].put("klass", jid="of a thread"))
        )
        thread.start()
        thread.join(10)
        assert put == ["of a thread"]
        waiting = {job.jid for job in client.queues["q"].peek(9)}
        assert {"again", "of another", "of a thread"} <= waiting
