# SPDX-License-Identifier: MIT
"""
Whether two cores did the same.

To the byte, but for what a core may do either way: the order of keys in JSON, the order in which a job's
dependents and dependencies are listed, which dependent the refusal of a cancel names, and a job's data
where heartbeat or fail have written it anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pyqless.conformance.protocol import Call, Entry, Outcome, Snapshot

__all__ = ["Comparison", "Finding"]

JOB = "ql:j:"
#: some servers keep the sign of a score of 0, and some do not
SIGNLESS = {"-0.0": "0.0"}
#: where heartbeat and fail take the data that they write anew
NEW_DATA = {"heartbeat": 4, "fail": 6}


class Finding(NamedTuple):
    """One thing that differs."""

    #: such as ``reply`` or ``key ql:j:j1, field state``
    what: str
    expected: Any
    got: Any


class Comparison:
    """
    Compares two cores call by call, from an empty database on.

    Args:
        numbers: take number texts for the same where the numbers are: for a Lua core on a server that
            writes them in their shortest form, Redis from 7.2 on and Valkey.
    """

    def __init__(self, *, numbers: bool = False) -> None:
        self._text: Callable[[str], str] = _number if numbers else str
        #: the keys of jobs whose data has been written anew
        self._rewritten: set[str] = set()

    def findings(
        self, call: Call, before: Snapshot, expected: Outcome, got: Outcome
    ) -> list[Finding]:
        """
        List what differs after a call.

        Args:
            before: everything stored before the call.
        """
        self._note_new_data(call, before, expected)
        return [
            *self._of_answers(call, before, expected, got),
            *self._of_messages(expected, got),
            *self._of_states(expected.state, got.state),
        ]

    def _note_new_data(self, call: Call, before: Snapshot, expected: Outcome) -> None:
        self._rewritten = {
            key for key in self._rewritten if _data(before, key) == _data(expected.state, key)
        }
        position = NEW_DATA.get(call[0]) if call else None
        if position is None or expected.error is not None or len(call) <= position:
            return
        if call[position].strip() != "false":  # Lua takes it for no data
            self._rewritten.add(JOB + call[2])

    def _of_answers(
        self, call: Call, before: Snapshot, expected: Outcome, got: Outcome
    ) -> Iterator[Finding]:
        if expected.error is None and got.error is None:
            if self._reply(expected.reply) != self._reply(got.reply):
                yield Finding("reply", expected.reply, got.reply)
        elif expected.error is None:
            yield Finding("error instead of a reply", expected.reply, got.error)
        elif got.error is None:
            yield Finding("reply instead of an error", expected.error, got.reply)
        elif not expected.internal and not _same_error(call, before, expected.error, got.error):
            yield Finding("error", expected.error, got.error)

    def _of_messages(self, expected: Outcome, got: Outcome) -> Iterator[Finding]:
        canonical = [
            [(channel, self._reply(data)) for channel, data in outcome.messages]
            for outcome in (expected, got)
        ]
        if canonical[0] != canonical[1]:
            yield Finding("messages", expected.messages, got.messages)

    def _of_states(self, expected: Snapshot, got: Snapshot) -> Iterator[Finding]:
        if expected == got:
            return
        for key in sorted(expected.keys() | got.keys()):
            one, other = expected.get(key), got.get(key)
            if one != other:
                yield from self._of_entries(key, one, other)

    def _of_entries(self, key: str, expected: Entry | None, got: Entry | None) -> Iterator[Finding]:
        if expected is None or got is None or expected["type"] != got["type"]:
            yield Finding(f"key {key}", expected, got)
        elif expected["type"] == "hash":
            one, other = expected["value"], got["value"]
            for field in sorted(one.keys() | other.keys()):
                if self._field(key, field, one) != self._field(key, field, other):
                    yield Finding(f"key {key}, field {field}", one.get(field), other.get(field))
        elif self._items(key, expected) != self._items(key, got):
            yield Finding(f"key {key}", expected["value"], got["value"])

    # -- canonical forms: equal where the things themselves count as the same ----------------------

    def _reply(self, reply: Any) -> Any:
        if isinstance(reply, str) and reply[:1] in ("{", "["):
            return self._json(reply)
        return reply

    def _field(self, key: str, name: str, fields: dict[str, str]) -> Any:
        text = fields.get(name)
        if text is None:
            return None
        if name == "failure" or (name == "data" and key in self._rewritten):
            return self._json(text)
        if (
            name == "tags" and text[:1] == "{"
        ):  # an object by mistake: it is written anew all the same
            return self._json(text)
        return self._text(text)

    def _items(self, key: str, entry: Entry) -> Any:
        if entry["type"] == "zset":
            return [
                (self._text(member), SIGNLESS.get(score, score)) for member, score in entry["value"]
            ]
        if entry["type"] == "list" and key.endswith("-history"):
            return [self._json(text) for text in entry["value"]]
        return [self._text(item) for item in entry["value"]]

    def _json(self, text: str) -> str:
        try:
            # All numbers alike; and back to text, for Python takes True for 1.
            return json.dumps(self._settled(json.loads(text, parse_int=float)), sort_keys=True)
        except ValueError:
            return text

    def _settled(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._settled(item) for item in value]
        if not isinstance(value, dict):
            return self._text(value) if isinstance(value, str) else value
        settled = {name: self._settled(item) for name, item in value.items()}
        for name in ("dependents", "dependencies"):
            if isinstance(settled.get(name), list):
                settled[name].sort()
        if f"{JOB}{value.get('jid')}" in self._rewritten and isinstance(value.get("data"), str):
            settled["data"] = self._json(value["data"])
        return settled


def _number(text: str) -> str:
    try:
        return repr(float(text) + 0.0)  # without the sign of -0.0
    except ValueError:
        return text


def _data(state: Snapshot, key: str) -> str | None:
    entry = state.get(key)
    return entry["value"].get("data") if entry and entry["type"] == "hash" else None


def _same_error(call: Call, before: Snapshot, expected: str, got: str) -> bool:
    """Compare texts; the refusal of a cancel may name any dependent that the call does not name."""
    expected, got = _received(expected), _received(got)
    return expected == got or any(
        {expected, got} <= _refusals(jid, before, call) for jid in call[2:] if call[0] == "cancel"
    )


def _received(error: str) -> str:
    """Give what is left of an error's text on the wire and, of what is no UTF-8, in redis-py."""
    line = re.sub("[\r\n]", " ", error.partition("\0")[0])
    return line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _refusals(jid: str, before: Snapshot, call: Call) -> set[str]:
    dependents = before.get(f"{JOB}{jid}-dependents", {"value": ()})["value"]
    return {
        f"Cancel(): {jid} is a dependency of {dependent} but is not mentioned to be canceled"
        for dependent in dependents
        if dependent not in call[2:]
    }
