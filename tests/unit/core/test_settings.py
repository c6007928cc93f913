# SPDX-License-Identifier: MIT
"""config.get, config.set and config.unset, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, table

DEFAULTS = {
    "application": "qless",
    "heartbeat": 60,
    "grace-period": 10,
    "stats-history": 30,
    "histogram-history": 7,
    "jobs-history-count": 50000,
    "jobs-history": 604800,
}


@table(
    Example("config.lua: get, all", "config.get 100", reply=DEFAULTS, changes={}),
    Example(
        "C14: what is set lies over the defaults, as text",
        "config.get 100",
        after=["config.set 90 heartbeat 30", "config.set 90 q-heartbeat 10"],
        reply={**DEFAULTS, "heartbeat": "30", "q-heartbeat": "10"},
    ),
    Example("C2: a default is an integer", "config.get 100 heartbeat", reply=60),
    Example("config.lua: get, a default that is text", "config.get 100 application", reply="qless"),
    Example(
        "C2: what is set is text",
        "config.get 100 heartbeat",
        after=["config.set 90 heartbeat 30"],
        reply="30",
    ),
    Example("C5: unknown", "config.get 100 q-heartbeat", reply=None),
    Example("C14: no entry until it is set", "config.get 100 max-job-history", reply=None),
    Example("C14: no entry until it is set", "config.get 100 max-worker-age", reply=None),
    Example(
        "C1: an empty text",
        "config.get 100 ''",
        after=["config.set 90 '' ''"],
        reply="",
    ),
)
def test_config_get(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "config.lua: set",
        "config.set 100 heartbeat 'no number'",
        reply=None,
        changes={"ql:config": {"heartbeat": "no number"}},
        messages=[("ql:log", {"event": "config_set", "option": "heartbeat", "value": "no number"})],
    ),
    Example(
        "C14: it is told of though nothing changes",
        "config.set 100 heartbeat 30",
        after=["config.set 90 heartbeat 30"],
        changes={},
        messages=[("ql:log", {"event": "config_set", "option": "heartbeat", "value": "30"})],
    ),
)
def test_config_set(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "config.lua: unset",
        "config.unset 100 heartbeat",
        after=["config.set 90 heartbeat 30"],
        reply=None,
        changes={"ql:config": None},
        messages=[("ql:log", {"event": "config_unset", "option": "heartbeat"})],
    ),
    Example(
        "C14: it is told of though nothing changes",
        "config.unset 100 nope",
        reply=None,
        changes={},
        messages=[("ql:log", {"event": "config_unset", "option": "nope"})],
    ),
)
def test_config_unset(core: Target, example: Example) -> None:
    example.check(core)
