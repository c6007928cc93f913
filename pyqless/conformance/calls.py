# SPDX-License-Identifier: MIT
"""How a call of each command is drawn: its arguments, behind the command and the moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from pyqless.conformance.draw import DATA, GROUPS, QUEUES, TAGS, WORKERS, Draw

__all__ = ["ARGUMENTS", "WEIGHTS"]

Arguments: TypeAlias = Callable[[Draw, float], list[str]]

#: Settings that change what the rules do. The rare ones are found to be no good when they are used.
SETTINGS: Final = {
    "heartbeat": ("60", "30", "-10", "0", "0x10", "2.5"),
    "alpha-heartbeat": ("5", "5.25"),
    "grace-period": ("0", "0", "10", "0.5", "-1"),
    "max-job-history": ("5", "3", "2", "1", "0", "-1"),
    "jobs-history": ("600", "0", "3600.5", "-5"),
    "jobs-history-count": ("2", "1", "0", "-1"),
    "alpha-max-concurrency": ("2", "1", "0", "-1", "1.5"),
    "beta-max-concurrency": ("1", "3"),
    "max-worker-age": ("300", "0"),
    "custom": ("v/é", "", "[1, 2]"),
}
BAD_SETTINGS: Final = (("heartbeat", "soon"), ("grace-period", ""), ("max-job-history", "1.5"))


def _put(draw: Draw, _now: float) -> list[str]:
    return [draw.worker(), draw.queue(), draw.jid(), *_job(draw)]


def _job(draw: Draw) -> list[str]:
    options = draw.options(
        priority=draw.number("0", "1", "2.5", "-3", "5", "10"),
        tags=draw.tags(),
        retries=draw.one(["0", "1", "2", "5"], "-1", "0x2", "1.5"),
        depends=draw.depends(),
    )
    surplus = ["mystery", "1"] if draw.chance(2) else []
    return [draw.one(["K", "my.mod.Klass"]), draw.data(), draw.delay(), *options, *surplus]


def _pop(draw: Draw, _now: float) -> list[str]:
    return [draw.queue(), draw.worker(), draw.count()]


def _complete(draw: Draw, _now: float) -> list[str]:
    jid, worker, queue = draw.running()
    options = []
    if draw.chance(40):
        options = ["next", draw.queue(), *draw.options(delay=draw.delay(), depends=draw.depends())]
    elif draw.chance(2):
        options = draw.options(delay=draw.delay(), depends=draw.depends())
    return [jid, worker, queue, draw.data(), *options]


def _fail(draw: Draw, _now: float) -> list[str]:
    jid, worker, _ = draw.running()
    message = draw.one(["it broke", 'line1\nline2 "q" / \\ €'])
    return [jid, worker, draw.one(GROUPS[:3]), message, *draw.some(DATA, 0, 1)]


def _retry(draw: Draw, _now: float) -> list[str]:
    jid, worker, queue = draw.running()
    given = [jid, queue, worker, draw.delay(), draw.one(GROUPS[:3]), "retry msg"]
    return given[: draw.one([3, 4, 4, 6, 6], 5)]


def _heartbeat(draw: Draw, _now: float) -> list[str]:
    jid, worker, _ = draw.running()
    return [jid, worker, *draw.some(DATA, 0, 1)]


def _timeout(draw: Draw, _now: float) -> list[str]:
    jid, _, _ = draw.running()
    return [jid, *draw.jids(0, 1)] if draw.chance(20) else [jid]


def _depends(draw: Draw, _now: float) -> list[str]:
    off = draw.one([["off", "all"], ["off", *draw.jids(1, 3)]])
    return [draw.jid(), *draw.one([["on", *draw.jids(0, 3)], off], ["maybe"])]


def _tag(draw: Draw, _now: float) -> list[str]:
    change = [draw.one(["add", "add", "remove"]), draw.jid(), *draw.some(TAGS, 0, 3)]
    get = ["get", draw.one(TAGS, "0.1"), *draw.page("25")]
    return draw.one([change, change, get, ["top", *draw.page("25")]], ["burn"])


def _track(draw: Draw, _now: float) -> list[str]:
    action = draw.one(["track", "track", "untrack", "TRACK", "UnTrack"], "follow")
    return [action, draw.jid()] if draw.chance(80) else []


def _jobs(draw: Draw, _now: float) -> list[str]:
    state = draw.one(["running", "stalled", "scheduled", "depends", "recurring"], "weird")
    return draw.one(
        [["complete", *draw.page("25")], *[[state, draw.queue(), *draw.page("25")]] * 5]
    )


def _unfail(draw: Draw, _now: float) -> list[str]:
    count = draw.one(["1", "2", "25"], "-1", "0x1")
    return [draw.queue(), draw.one(GROUPS), *([count] if draw.chance(70) else [])]


def _stats(draw: Draw, now: float) -> list[str]:
    return [draw.queue(), draw.one([repr(now), str(int(now))], str(now - 86400), "0")]


def _log(draw: Draw, _now: float) -> list[str]:
    data = draw.one(['{"n":2}', '{"k":"v","when":9}', "{}"], "[]", "[1,2]", "false")
    return [draw.jid(), draw.one(["note", "hello/x"]), *([data] if draw.chance(60) else [])]


def _recur(draw: Draw, _now: float) -> list[str]:
    interval, offset = draw.number("60", "30", "5", "0.5"), draw.number("0", "45.5", "10", "-5")
    options = draw.options(
        priority=draw.number("1", "-2"),
        tags=draw.tags(),
        retries=draw.one(["1", "3"], "0", "-1"),
        backlog=draw.one(["0", "1", "3"], "-1", "1.5"),
    )
    kind = draw.one(["interval"], "cron")
    return [draw.queue(), draw.recurring(), "K", draw.data(), kind, interval, offset, *options]


def _recur_update(draw: Draw, _now: float) -> list[str]:
    pairs = [
        ["priority", draw.number("4", "1")],
        ["interval", draw.number("10", "90")],
        ["retries", draw.number("2")],
        ["backlog", draw.number("2", "0")],
        ["queue", draw.queue()],
        ["klass", "K2"],
        ["data", draw.data()],
    ]
    chosen = [draw.one(pairs, ["color", "x"], ["count", "3"]) for _ in draw.some("..", 0, 3)]
    return [draw.recurring(), *(word for pair in chosen for word in pair)]


def _config_set(draw: Draw, _now: float) -> list[str]:
    if draw.chance(1):
        return list(draw.one(BAD_SETTINGS))
    name = draw.one(list(SETTINGS))
    return [name, draw.one(SETTINGS[name])]


def _setting(draw: Draw, _now: float) -> list[str]:
    return [draw.one(list(SETTINGS), "unknown")]


def _jid(draw: Draw, _now: float) -> list[str]:
    return [draw.jid()]


def _recurring(draw: Draw, _now: float) -> list[str]:
    return [draw.recurring()]


def _recurring_tags(draw: Draw, _now: float) -> list[str]:
    return [draw.recurring(), *draw.some(TAGS, 0, 2)]


def _queues(draw: Draw, _now: float) -> list[str]:
    return draw.some(QUEUES, 1, 2)


def _maybe_queue(draw: Draw, _now: float) -> list[str]:
    return draw.some(QUEUES, 0, 1)


#: how often each command comes up, in relation to the others
WEIGHTS: Final[dict[str, int]] = {
    "put": 150,
    "pop": 130,
    "complete": 110,
    "jobs": 50,
    "retry": 50,
    "tag": 50,
    "recur": 40,
    "depends": 40,
    "fail": 40,
    "heartbeat": 35,
    "cancel": 35,
    "config.set": 30,
    "track": 30,
    "timeout": 30,
    "requeue": 30,
    "peek": 28,
    "unfail": 26,
    "stats": 20,
    "failed": 20,
    "queues": 18,
    "recur.update": 20,
    "unpause": 18,
    "workers": 18,
    "priority": 18,
    "get": 18,
    "log": 14,
    "multiget": 10,
    "unrecur": 8,
    "recur.tag": 10,
    "recur.untag": 9,
    "recur.get": 10,
    "length": 8,
    "config.unset": 12,
    "config.get": 9,
    "pause": 7,
    "worker.deregister": 5,
    "queue.forget": 4,
    "nosuch": 1,
}

ARGUMENTS: Final[dict[str, Arguments]] = {
    "cancel": lambda draw, _: draw.jids(1, 4) if draw.chance(35) else [draw.jid()],
    "complete": _complete,
    "config.get": lambda draw, now: _setting(draw, now) if draw.chance(60) else [],
    "config.set": _config_set,
    "config.unset": _setting,
    "depends": _depends,
    "fail": _fail,
    "failed": lambda draw, _: [draw.one(GROUPS), *draw.page("25")] if draw.chance(75) else [],
    "get": _jid,
    "heartbeat": _heartbeat,
    "jobs": _jobs,
    "length": lambda draw, _: [draw.queue()],
    "log": _log,
    "multiget": lambda draw, _: draw.jids(0, 3),
    "nosuch": lambda _draw, _now: [],
    "pause": _queues,
    "peek": lambda draw, _: [draw.queue(), draw.count()],
    "pop": _pop,
    "priority": lambda draw, _: [draw.jid(), draw.number("0", "7", "-1", "3.5")],
    "put": _put,
    "queue.forget": _queues,
    "queues": _maybe_queue,
    "recur": _recur,
    "recur.get": _recurring,
    "recur.tag": _recurring_tags,
    "recur.untag": _recurring_tags,
    "recur.update": _recur_update,
    "requeue": _put,
    "retry": _retry,
    "stats": _stats,
    "tag": _tag,
    "timeout": _timeout,
    "track": _track,
    "unfail": _unfail,
    "unpause": lambda draw, now: QUEUES if draw.chance(60) else _queues(draw, now),
    "unrecur": _recurring,
    "worker.deregister": lambda draw, _: draw.some(WORKERS, 1, 2),
    "workers": lambda draw, _: draw.some(WORKERS, 0, 1),
}
