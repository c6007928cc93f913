# SPDX-License-Identifier: MIT
"""Bytes become replies: all those to a packet as one array, so that the parser is called but once."""

from __future__ import annotations

from typing import Any

import hiredis

from pyqless.storage.redis.protocol import ServerError
from pyqless.storage.redis.steps import LinkLost

__all__ = ["Replies"]

#: there are bytes of a reply to come
_INCOMPLETE = object()


class Replies:
    """Reads the replies to a packet: as one array, so that the parser is called but once."""

    def __init__(self) -> None:
        self._reader = hiredis.Reader(
            encoding="utf-8",
            errors="surrogateescape",
            replyError=ServerError,
            notEnoughData=_INCOMPLETE,
        )
        self._missing = 0
        self._proper: list[Any] = []
        self._in_array = False

    def expect(self, count: int) -> None:
        """Begin to read the replies to so many commands."""
        self._missing, self._proper = count, []
        # the beginning of a pushed message may lie in the buffer, which must not be torn
        self._in_array = not self._reader.has_data()
        if self._in_array:
            self._reader.feed(b"*%d\r\n" % count)

    def take(self, data: bytes) -> list[Any] | None:
        """
        Read what has arrived; returns the replies once they are complete.

        Raises:
            LinkLost: the server has closed the connection, or sends what makes no sense.
        """
        if not data:
            raise LinkLost("the server closed the connection", sent=True)
        try:
            self._reader.feed(data)
            return self._gather()
        except hiredis.ProtocolError as error:
            raise LinkLost(error, sent=True) from error

    def _gather(self) -> list[Any] | None:
        """Collect replies; messages that the server pushes in between (RESP3) are none."""
        while self._missing:
            read = self._reader.gets()
            if read is _INCOMPLETE:
                return None
            came = read if self._in_array else [read]
            self._in_array = False
            if hiredis.PushNotification in map(type, came):
                came = [reply for reply in came if type(reply) is not hiredis.PushNotification]
            self._proper += came
            self._missing -= len(came)
        return self._proper
