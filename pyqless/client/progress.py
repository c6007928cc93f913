# SPDX-License-Identifier: MIT
"""How far jobs in hand have come, as their workers tell it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pyqless.client import checks, references
from pyqless.client.references import AnyJob
from pyqless.core import presence
from pyqless.core.effects import Factory, Transition
from pyqless.core.presence import Presence
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument

__all__ = ["NOTE_LIMIT", "Progress", "progress"]

#: how much of a note is kept, characters: all notes of a worker are told at once, every few seconds
NOTE_LIMIT: Final = 1_000


@dataclass(frozen=True, slots=True)
class Progress:
    """
    How far a job has come, in units of its own.

    Raises:
        InvalidArgument: ``done`` or ``total`` is no finite number, or ``note`` no text.
    """

    done: float
    total: float | None = None
    #: cut after 1,000 characters
    note: str = ""

    def __post_init__(self) -> None:
        # plain ones: the parent of a process does not know the kinds of numbers and texts that jobs have made for themselves
        object.__setattr__(self, "done", _plain("done", self.done))
        object.__setattr__(self, "total", checks.optional(_plain, "total", self.total))
        object.__setattr__(self, "note", checks.text("note", self.note)[:NOTE_LIMIT])


def _plain(argument: str, value: Any) -> float:
    checked = checks.number(argument, value)
    return int(value) if isinstance(value, int) else checked


def progress(jid: str | AnyJob) -> Factory[Progress | None]:
    """See ``Jobs.progress``."""
    return partial(_asked, jid=references.job("jid", jid))


def _asked(tx: Transaction, jid: str) -> Transition[Progress | None]:
    word = yield from presence.word_on(tx, jid)
    return None if word is None else _told(word, jid)


def _told(word: Presence, jid: str) -> Progress | None:
    """What a worker has told of a job; nothing where that makes no sense."""
    try:
        jobs = json.loads(word.fields["jobs"])
        told = next((job.get("progress") for job in jobs if job["jid"] == jid), None)
        return None if told is None else Progress(**told)
    except (AttributeError, InvalidArgument, KeyError, TypeError, ValueError):
        return None
