# SPDX-License-Identifier: MIT
"""
Examples of the rules, written by hand from the text of the Lua core: a call, and what holds after it.

A call is written as in a shell: ``put 100 me q J klass {} 0``.
What is expected is plain data. Where no text is expected, a text is JSON and is decoded first.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

import pytest

from pyqless.conformance import Target
from pyqless.storage.memory import MemoryStorage

__all__ = ["Example", "Like", "changes", "content", "damage", "run", "score", "stamp", "table"]


#: What an example says nothing about.
UNSAID: Final = object()


class Like(dict[str, Any]):
    """Equals every mapping that has these members."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and all(
            name in other and value == other[name] for name, value in self.items()
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


@dataclass(frozen=True)
class Example:
    """A call on a core, and what is expected of it."""

    #: where it is written: the file and function of the core, or a section of its reference
    source: str
    call: str
    #: calls that come before it, on an empty database
    after: Sequence[str] = ()
    reply: Any = UNSAID
    #: the core's words; then nothing has changed, and nothing was published
    error: str | None = None
    #: all that is different afterwards; see ``changes``
    changes: Mapping[str, Any] | None = None
    #: some of what is there afterwards: whole keys, but of hashes some fields; None for absent ones
    holds: Mapping[str, Any] = field(default_factory=dict)
    #: all that was published: (channel, data)
    messages: list[tuple[str, Any]] | None = None

    def check(self, core: Target) -> None:
        for call in self.after:
            run(core, call)
        before = core.snapshot()
        core.record()
        if self.error is None:
            self._check_success(core, before)
            return
        with pytest.raises(core.error) as caught:
            run(core, self.call)
        assert str(caught.value) == self.error
        assert core.snapshot() == before
        assert core.recorded() == []

    def _check_success(self, core: Target, before: Mapping[str, Any]) -> None:
        reply = run(core, self.call)
        messages = core.recorded()
        after = core.snapshot()
        if self.reply is not UNSAID:
            assert shaped(reply, self.reply) == self.reply
        if self.changes is not None:
            assert shaped(changes(before, after), self.changes) == self.changes
        for key, expected in self.holds.items():
            assert shaped(_part(after, key, expected), expected) == expected, key
        if self.messages is not None:
            assert shaped(messages, self.messages) == self.messages


def run(core: Target, call: str) -> Any:
    """Send a call that is written as in a shell."""
    return core.call(*shlex.split(call))


def damage(core: Target, *write: Any) -> None:
    """Write past the rules, as another program would: a command of the keyspace on a storage in memory."""
    storage = core._storage
    assert isinstance(storage, MemoryStorage)
    storage._database.keyspace.write(write)


def table(*rows: Example) -> pytest.MarkDecorator:
    """Repeat a test for each of the examples."""
    ids = [f"{number}-{row.source}: {row.call}" for number, row in enumerate(rows, 1)]
    return pytest.mark.parametrize("example", rows, ids=ids)


# -- expected values that the core computes -----------------------------------------------------


def score(priority: float, now: float) -> float:
    """Where a job stands among the waiting (queue.lua: work.add)."""
    return priority - now / 10000000000


def stamp(now: float) -> str:
    """The field ``time`` of a job (queue.lua: put, pop)."""
    return f"{now:.20f}"


# -- the store in plain data --------------------------------------------------------------------


def content(snapshot: Mapping[str, Any], key: str) -> Any:
    """A hash as a dict, a sorted set as {member: score}, a list or a sorted set as a list, or None."""
    entry = snapshot.get(key)
    if entry is None:
        return None
    value = entry["value"]
    return {member: float(text) for member, text in value} if entry["type"] == "zset" else value


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """
    What is different after a call: the new content by key, None where the key is gone.

    Of a hash that was there before, and still is, the fields that are different.
    """
    keys = [key for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    return {key: _change(content(before, key), content(after, key), after.get(key)) for key in keys}


def _change(old: Any, new: Any, entry: Mapping[str, Any] | None) -> Any:
    if old is None or entry is None or entry["type"] != "hash":
        return new
    return {name: new.get(name) for name in sorted({*old, *new}) if old.get(name) != new.get(name)}


def _part(snapshot: Mapping[str, Any], key: str, expected: Any) -> Any:
    found = content(snapshot, key)
    if isinstance(expected, dict) and found is not None and snapshot[key]["type"] == "hash":
        return {name: found.get(name) for name in expected}
    return found


def shaped(actual: Any, expected: Any) -> Any:
    """An actual value in the form of the expected one: JSON decoded where no text is expected."""
    if isinstance(actual, str) and isinstance(expected, dict | list):
        actual = json.loads(actual, strict=False)
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {name: shaped(value, expected.get(name)) for name, value in actual.items()}
    if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
        pairs = zip_longest(actual, expected[: len(actual)])
        return type(expected)([shaped(one, other) for one, other in pairs])
    return actual
