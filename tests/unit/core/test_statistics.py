# SPDX-License-Identifier: MIT
"""stats, and the times that pop and complete enter, by examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyqless.conformance import Target
from tests.unit.core.examples import Example, content, run, table

#: no sample at all
NO_TIMES: dict[str, Any] = {"count": 0, "mean": 0, "std": 0, "histogram": [0] * 148}


def times(count: int, mean: float, std: float, **bins: int) -> dict[str, Any]:
    """What stats shows of times that fell into bins: s0 ... s59, m1 ... m59, h1 ... h23, d1 ... d6."""
    starts = {"s": 0, "m": 59, "h": 118, "d": 141}
    histogram = [0] * 148
    for name, number in bins.items():
        histogram[starts[name[0]] + int(name[1:])] = number
    return {"count": count, "mean": mean, "std": std, "histogram": histogram}


def waits(*seconds: float, now: float = 200000) -> list[str]:
    """The calls that make jobs wait so long, all popped at one moment."""
    return [
        call
        for number, wait in enumerate(seconds)
        for call in (
            f"put {now - wait!r} me q J{number} klass {{}} 0",
            f"pop {now!r} q worker 1",
        )
    ]


@table(
    Example(
        "queue.lua: stats, nothing",
        "stats 200 q 100",
        reply={"retries": 0, "failed": 0, "failures": 0, "wait": NO_TIMES, "run": NO_TIMES},
        changes={},
    ),
    Example(
        "queue.lua: stats",
        "stats 200 q 100",
        after=[
            "put 100 me q J klass {} 0",
            "pop 110 q worker 1",
            "complete 130 J worker q {}",
            "put 140 me q K klass {} 0",
            "pop 150 q worker 1",
            "fail 160 K worker group message",
            "put 170 me q L klass {} 0",
            "pop 170 q worker 1",
            "pop 230 q worker 1",
            "unfail 240 q group",
        ],
        reply={
            "retries": 1,
            "failed": 1,
            "failures": 1,
            # 10, 10 and 0 seconds
            "wait": times(3, 6.6666666666667, 5.7735026918963, s0=1, s10=2),
            "run": times(1, 20, 0, s20=1),
        },
        changes={},
    ),
    Example(
        "queue.lua: stats, the day of the date",
        "stats 100 q 259199.9",
        after=waits(1, now=259199),
        reply={
            "retries": 0,
            "failed": 0,
            "failures": 0,
            "wait": times(1, 1, 0, s1=1),
            "run": NO_TIMES,
        },
    ),
    Example(
        "queue.lua: stats, another day",
        "stats 100 q 259200",
        after=waits(1, now=259199),
        reply={"retries": 0, "failed": 0, "failures": 0, "wait": NO_TIMES, "run": NO_TIMES},
    ),
    Example(
        "C2: the day of a moment below zero",
        "stats 100 q -1",
        after=waits(3, now=-5),
        reply={
            "retries": 0,
            "failed": 0,
            "failures": 0,
            "wait": times(1, 3, 0, s3=1),
            "run": NO_TIMES,
        },
        holds={"ql:s:wait:-86400:q": {"total": "1"}},
    ),
)
def test_stats(core: Target, example: Example) -> None:
    example.check(core)


@pytest.mark.parametrize(
    ("seconds", "name"),
    [
        (0, "s0"),
        (0.9, "s0"),
        (59.9, "s59"),
        (60, "m1"),
        (3599, "m59"),
        (3600, "h1"),
        (86399, "h23"),
        (86400, "d1"),
        (6 * 86400, "d6"),
        (9 * 86400, "d9"),
        (-0.25, "s-1"),
        (-90000, "s-90000"),
        (-1e15, "s-1e+15"),
    ],
)
def test_the_bin_of_a_time(core: Target, seconds: float, name: str) -> None:
    """queue.lua: stat; C11: d9 is stored and never shown, as is what lies below zero."""
    now = 1000000
    for call in waits(seconds, now=now):
        run(core, call)
    # the day of the pop is that of 950400
    stored = content(core.snapshot(), "ql:s:wait:950400:q")
    assert stored == {
        "total": "1",
        "mean": f"{now - (now - seconds):.17g}",
        "vk": "0",
        name: "1",
    }
    shown = json.loads(run(core, f"stats {now} q {now}"))["wait"]
    is_shown = name not in ("d9", "s-1", "s-90000", "s-1e+15")
    assert sum(shown["histogram"]) == is_shown
    assert shown["count"] == 1


def test_the_mean_and_its_steps_are_those_of_doubles(core: Target) -> None:
    """C11: count + 1; mean += (val - mean) / count; vk += (val - newmean) * (val - oldmean)."""
    samples = [0.1, 7.3, 1.2345678, 60.5, 2.75]
    for call in waits(*samples):
        run(core, call)
    taken = [200000 - (200000 - sample) for sample in samples]
    mean, vk = taken[0], 0.0
    for count, value in enumerate(taken[1:], 2):
        old = mean
        mean += (value - mean) / count
        vk += (value - mean) * (value - old)
    stored = content(core.snapshot(), "ql:s:wait:172800:q")
    assert (stored["total"], stored["mean"], stored["vk"]) == ("5", f"{mean:.17g}", f"{vk:.17g}")
    shown = json.loads(run(core, "stats 200000 q 200000"))["wait"]
    assert (shown["count"], shown["mean"]) == (5, float(f"{mean:.14g}"))
    assert shown["std"] == float(f"{(vk / 4) ** 0.5:.14g}")
