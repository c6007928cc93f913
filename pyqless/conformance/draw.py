# SPDX-License-Identifier: MIT
"""The words that generated calls are made of: few names, so that calls meet, and values good and odd."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Final, TypeVar

__all__ = ["NASTY", "Draw"]

T = TypeVar("T")

JIDS: Final = [f"j{number}" for number in range(1, 10)]
RECURRING: Final = ["r1", "r2", "r3"]
#: no such jobs at first, and names that need care in keys and in JSON
STRANGERS: Final = ["nope", 'é "q"/\\', "r1", "a:b", "17", ""]
QUEUES: Final = ["alpha", "beta", "gamma"]
WORKERS: Final = ["w1", "w2", "w3"]
GROUPS: Final = ["boom", "oops", "net/err", "failed-retries-alpha", "failed-retries-beta"]
TAGS: Final = ["red", "green", "a/b", 'quo"te', "café"]
DATA: Final = [
    "{}",
    "[]",
    '{"n":1}',
    '{"n":1,"m":[2]}',
    "17",
    "true",
    "null",
    '"str"',
    '{ "sp" : [ ] }',
    '{"u":"caf\\u00e9 \\u0007 \\/ \U0001f600"}',
    '{"nested":{"a":[1,2,{"b":null}]}}',
    '{"big":12345678901234567890,"f":0.1,"e":1e2}',
]
#: Texts that a command should refuse, or take in a way of its own, wherever they stand. No number among
#: them is large, for one of them may become a count; and none is infinite, which pyqless refuses everywhere.
NASTY: Final = [
    "",
    " ",
    "x",
    "0",
    "-1",
    "1.5",
    " 2\t",
    "0x2",
    "1e1",
    "5.",
    "-.5",
    "01",
    "+3",
    "5 a",
    "1_0",
    "0x",
    "1e",
    "٣",
    "null",
    "false",
    "[]",
    "{}",
    "{",
    "[1,]",
    "[null]",
    '"text"',
    '["j1",7,0.1]',
    '{"a":1,"a":[]}',
    '"\\ud800"',
    "[1]\0junk",
    "caf\udce9",
    "all",
    "nope",
    "%s%d",
]


class Draw:
    """
    Draws words.

    Args:
        random: where chance comes from.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        #: what is probably running, and where: jid to worker and queue
        self.locks: dict[str, tuple[str, str]] = {}

    def chance(self, percent: float) -> bool:
        """Say yes in so many cases of a hundred."""
        return self.random.random() * 100 < percent

    def one(self, words: Sequence[T], *rare: T) -> T:
        """Draw one; now and then a rare one."""
        return self.random.choice(rare if rare and self.chance(6) else words)

    def some(self, words: Sequence[T], least: int, most: int) -> list[T]:
        """Draw several; one may come twice."""
        return self.random.choices(words, k=self.random.randint(least, most))

    def jid(self) -> str:
        """Draw a job, there or not: put, spawned or unknown."""
        if self.chance(75):
            return self.one(JIDS, *STRANGERS)
        return f"{self.one(RECURRING)}-{min(self.random.randint(1, 6), self.random.randint(1, 6))}"

    def jids(self, least: int, most: int) -> list[str]:
        """Draw several jobs."""
        return [self.jid() for _ in range(self.random.randint(least, most))]

    def recurring(self) -> str:
        """Draw a recurring job."""
        return self.one(RECURRING, "r9", "j1")

    def queue(self) -> str:
        """Draw a queue."""
        return self.one(QUEUES)

    def worker(self) -> str:
        """Draw a worker."""
        return self.one(WORKERS)

    def running(self) -> tuple[str, str, str]:
        """Draw a job, a worker and a queue: mostly of a running job, and mostly its own."""
        if not self.locks or self.chance(25):
            return self.jid(), self.worker(), self.queue()
        jid = self.one(sorted(self.locks))
        worker, queue = self.locks[jid]
        return (
            jid,
            self.worker() if self.chance(8) else worker,
            self.queue() if self.chance(8) else queue,
        )

    def data(self) -> str:
        """Draw a job's data."""
        return self.one(DATA)

    def tags(self) -> str:
        """Draw a list of tags, as JSON."""
        rare = self.one(["{}", "[1,0.1]", '[ "red" ,"red"]', "null"])
        return self.one([self.listed(self.some(TAGS, 0, 3))], rare)

    def depends(self) -> str:
        """Draw a list of jids, as JSON."""
        return self.one([self.listed(self.jids(0, 3))], "{}", '{"a":"j1"}', "[17]")

    def listed(self, words: list[str]) -> str:
        """Write a list as JSON, one way or the other."""
        return json.dumps(words, ensure_ascii=self.chance(50))

    def number(self, *usual: str) -> str:
        """Draw a number; now and then one that is written in an unusual way."""
        return self.one(usual, "0x10", " 7 ", "1e1", "-0", "5.", ".5", "+2", "3.25", "-2")

    def count(self) -> str:
        """Draw how many are wanted."""
        return self.one(["1", "1", "1", "2", "3", "10"], "0", "-1", "-2", "0x2", " 2 ", "1e1")

    def delay(self) -> str:
        """Draw seconds."""
        return self.number("0", "0", "0", "0", "0.5", "10", "60", "600")

    def page(self, size: str) -> list[str]:
        """Draw an offset and a limit, or the beginning of them."""
        offset = self.one(["0", "0", "1", "2"], "-1", "0x1", "25")
        limit = self.one(["1", "2", size], "0", "-1", "-2")
        return [offset, limit][: self.random.randint(0, 2)]

    def options(self, **values: str) -> list[str]:
        """Draw some options, in any order."""
        names = [name for name in values if self.chance(35)]
        self.random.shuffle(names)
        return [word for name in names for word in (name, values[name])]
