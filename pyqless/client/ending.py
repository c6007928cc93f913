# SPDX-License-Identifier: MIT
"""
Waiting for the end of a job: what tells of it, and when to look all the same. No I/O; both clients wait by it.

A job that goes on to another queue, or is tried again, is not at its end.
"""

from __future__ import annotations

from typing import Final

from pyqless.client import checks, references
from pyqless.client.checks import Span
from pyqless.client.references import AnyJob
from pyqless.client.requests import looking
from pyqless.client.requests.effects import end_channel
from pyqless.client.waiting import INTERVAL, read
from pyqless.core.keys import Keys
from pyqless.storage import Message
from pyqless.storage.channels import literal

__all__ = ["Ending"]

#: what the log channel says when a job comes to its end; of one whose retries are spent Lua clients say nothing
_ENDS: Final = ("completed", "failed", "canceled")

#: seconds to the second look where nothing can be heard; each further rest is twice as long
_FIRST_REST: Final = 0.05


class Ending:
    """
    What somebody knows who waits for the end of a job.

    Args:
        interval: seconds, or a timedelta, between two looks at most; None for the usual.

    Raises:
        InvalidArgument: the jid or the interval is no good.
    """

    def __init__(self, keys: Keys, jid: str | AnyJob, interval: Span | None) -> None:
        self._jid = references.job("jid", jid)
        #: gives the job once it is at its end
        self.look = looking.ended(self._jid)
        self._log = keys.channel("log")
        self._end = end_channel(keys, self._jid)
        self._interval = (
            INTERVAL if interval is None else checks.positive_span("interval", interval)
        )
        self._rest = _FIRST_REST

    @property
    def channels(self) -> list[str]:
        """Where that is told which wakes, as patterns."""
        return [literal(self._log), literal(self._end)]

    def rest(self, *, hears: bool) -> float:
        """For how many seconds to rest before the next look, at most."""
        if hears:
            return self._interval
        rest, self._rest = self._rest, self._rest * 2
        return min(rest, self._interval)

    def wakes(self, message: Message) -> bool:
        """Whether a message says that the job may have come to its end."""
        if message.channel != self._log:  # it is told here, or there is a gap
            return True
        told = read(message.data)
        return told.get("jid") == self._jid and told.get("event") in _ENDS
