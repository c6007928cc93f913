# SPDX-License-Identifier: MIT
"""Settings of wrong types are told at once, and not by the first job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pyqless.errors import InvalidArgument
from pyqless.worker import backoffs, middleware
from pyqless.worker.entering import uses
from pyqless.worker.running import Runner
from pyqless.worker.settings import Limits, Settings


def case(make: Callable[..., Any], argument: str, value: Any, *args: Any, **rest: Any) -> Any:
    name = f"{getattr(make, '__name__', make)}-{argument}-{value!r}"
    return pytest.param(lambda: make(*args, **rest), argument, value, id=name)


def named(make: Callable[..., Any], argument: str, *values: Any, **rest: Any) -> list[Any]:
    return [case(make, argument, value, **{argument: value}, **rest) for value in values]


CASES = [
    *named(Settings, "queues", "mail", [], None, 3),
    case(Settings, "queues[1]", 7, queues=["mail", 7]),
    case(Settings, "queues[0]", "", queues=[""]),
    *named(Settings, "runner", "run", None, queues=["q"]),
    *named(Settings, "limits", 3, {"jobs": 3}, queues=["q"]),
    *named(Settings, "interval", "5", 0, -1.0, None, float("nan"), queues=["q"]),
    *named(Settings, "grace", "10", -1, None, queues=["q"]),
    *named(Settings, "sandbox", 3, "/there", queues=["q"]),
    *named(Settings, "resume", "no", 1, queues=["q"]),
    *named(Settings, "listen", "no", None, queues=["q"]),
    *named(Settings, "renew", "again", queues=["q"]),
    case(Settings, "reserver.order", None, queues=["q"], reserver="ordered"),
    *named(Limits, "jobs", "3", 0, 1.5),
    *named(Limits, "memory", "1G", 0),
    *named(Runner, "finder", "jobs", None),
    *named(Runner, "middleware", middleware.time_limit(5), None),
    case(Runner, "middleware", 5, middleware=[5]),
    case(Runner, "middleware", "t", middleware="time_limit"),
    *named(Runner, "compat", 1),
    *named(Runner, "keeps_results", "yes"),
    *named(Runner, "message_limit", "10", -1),
    case(uses, "middleware", 3, 3),
    *named(middleware.retry_on, "backoff", 10, "1"),
    case(middleware.retry_on, "exceptions", "ValueError", "ValueError"),
    case(middleware.retry_on, "exceptions", (KeyError, ValueError), (KeyError, ValueError)),
    case(middleware.retry_on, "exceptions", int, KeyError, int),
    *named(middleware.constant, "jitter", "1", -1, seconds=1),
    case(middleware.constant, "seconds", "5", "5"),
    case(middleware.linear, "seconds", None, None),
    *named(middleware.exponential, "factor", "2", float("inf")),
    *named(backoffs.Backoff, "chance", 0.5, first=1),
    *named(middleware.time_limit, "seconds", "5", 0, None),
    *named(middleware.time_limit, "retry", 3, seconds=5),
    *named(middleware.memory_limit, "size", "1G", 1e9, 0),
    *named(middleware.hooks, "before", 3),
    *named(middleware.hooks, "after", "close"),
    *named(middleware.reporting, "capture", None),
    *named(middleware.reporting, "scope", 3, capture=print),
]


@pytest.mark.parametrize(("make", "argument", "value"), CASES)
def test_what_is_no_good_is_named(make: Callable[[], Any], argument: str, value: Any) -> None:
    with pytest.raises(InvalidArgument) as refused:
        make()
    assert refused.value.argument == argument
    assert str(refused.value).startswith(f"{argument} must ")
    found = refused.value.value
    assert found is value or found == value
