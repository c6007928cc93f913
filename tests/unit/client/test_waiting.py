# SPDX-License-Identifier: MIT
"""What wakes those who wait, and for how long they sleep; no clock runs here."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from pyqless.client.waiting import Waiting, seconds
from pyqless.core.keys import Keys
from pyqless.core.waking import Outlook
from pyqless.errors import InvalidArgument
from pyqless.storage import Message
from pyqless.storage.subscriptions import GAP

NOTHING = Outlook(ready=False, due=math.inf)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting(Keys(), ["a", "b"], None)


def told(**event: Any) -> Message:
    return Message("ql:log", json.dumps(event))


def test_it_listens_to_the_log_and_to_its_own_queues(waiting: Waiting) -> None:
    assert waiting.channels == ["ql:log", "ql:py:wake:a", "ql:py:wake:b"]
    assert waiting.interval == 10.0
    assert Waiting(Keys("x"), ["a"], 2).channels == ["x:log", "x:py:wake:a"]
    assert Waiting(Keys("x"), ["a[1]*"], 2).channels[1:] == ["x:py:wake:a[[]1][*]"]


@pytest.mark.parametrize(
    ("message", "wakes"),
    [
        (told(event="put", queue="a"), True),
        (told(event="put", queue="c"), False),
        (told(event="advanced", queue="a", to="c"), False),
        (told(event="advanced", queue="c", to="b"), True),
        (told(event="completed", queue="a"), False),
        (told(event="config_set", option="heartbeat", value="5"), False),
        (told(event="config_set", option="a-max-concurrency", value="5"), True),
        (Message("ql:py:wake:a", ""), True),
        (GAP, True),
        (Message("ql:log", "nonsense"), False),
        (Message("ql:log", "[]"), False),
        (told(event=["put"], queue="a"), False),
    ],
)
def test_what_wakes(waiting: Waiting, message: Message, *, wakes: bool) -> None:
    waiting.learn([("a", False), ("b", False)])
    assert waiting.wakes(message) is wakes


def test_where_there_is_a_limit_the_end_of_a_job_wakes(waiting: Waiting) -> None:
    assert [name for name, _ in waiting.questions()] == ["a", "b"]
    waiting.learn([("a", True), ("b", False)])
    assert waiting.questions() == []
    assert waiting.wakes(told(event="completed", queue="a"))
    assert not waiting.wakes(told(event="completed", queue="b"))
    assert waiting.wakes(told(event="lock_lost", jid="j", worker="w"))
    waiting.wakes(told(event="config_unset", option="a-max-concurrency"))
    assert len(waiting.questions()) == 2


def test_it_sleeps_until_the_first_is_due(waiting: Waiting) -> None:
    waiting.tried(100.0)
    assert waiting.rest([NOTHING, NOTHING], 100.0) == 10.0
    looks = [Outlook(ready=False, due=107.0), Outlook(ready=False, due=103.0)]
    assert waiting.rest(looks, 101.0) == 2.0
    assert waiting.rest(looks, 103.0) is None


def test_what_was_there_in_vain_is_tried_again_only_after_a_sleep(waiting: Waiting) -> None:
    looks = [Outlook(ready=True, due=90.0), NOTHING]
    waiting.tried(100.0)
    assert waiting.rest(looks, 100.0) == 10.0
    assert waiting.slept(woken=True)
    assert waiting.rest(looks, 100.0) == 10.0
    assert not waiting.slept(woken=False)
    assert waiting.rest(looks, 110.0) is None
    assert waiting.rest(looks, 110.0) == 10.0


def test_a_timeout_is_a_number() -> None:
    assert (seconds(None), seconds(2), seconds(math.inf)) == (0.0, 2.0, math.inf)
    for value in (-1, math.nan, "soon", True):
        with pytest.raises(InvalidArgument):
            seconds(value)  # type: ignore[arg-type]
