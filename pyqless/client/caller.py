# SPDX-License-Identifier: MIT
"""What both clients are: somebody who calls, under a name and within limits."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any, Final, Generic, TypeVar

from pyqless.client import checks, payload
from pyqless.client.simplifying import Encoder, is_plain, simplified
from pyqless.errors import InvalidArgument
from pyqless.storage import AsyncStorage, Storage
from pyqless.storage.default import default_url

__all__ = ["MAX_DATA_SIZE", "Caller", "where"]

S = TypeVar("S", Storage, AsyncStorage)

#: how long the JSON text of a job's data may be unless a client is told otherwise, bytes
MAX_DATA_SIZE: Final = 2**20

# a library is silent unless the program says otherwise
logging.getLogger("pyqless").addHandler(logging.NullHandler())


def where(url: str | None, connection: Any) -> str | None:
    """
    Choose the URL to open, see ``default_url``; None where there is a connection instead.

    Raises:
        InvalidArgument: both are given.
    """
    if connection is None:
        return default_url() if url is None else checks.text("url", url)
    if url is not None:
        raise InvalidArgument("url and connection exclude each other", argument="connection")
    return None


class Caller(Generic[S]):
    """
    Who calls.

    Args:
        worker_name: the name under which jobs are popped; None for host and process.
        max_data_size: how long the JSON text of a job's data may be, and an entry of its history, bytes.
        encoder: for data that JSON cannot say.

    Attributes:
        storage: what runs the rules.
        encoder: as it was given.

    Raises:
        InvalidArgument: one of them is no good.
    """

    storage: S

    def __init__(
        self, worker_name: str | None, max_data_size: int, encoder: Encoder | None = None
    ) -> None:
        self._worker_name = checks.optional(checks.name, "worker_name", worker_name)
        self.max_data_size = checks.whole("max_data_size", max_data_size, least=1)
        self.encoder = checks.optional(checks.function, "encoder", encoder)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.storage.url} as {self.worker_name!r}>"

    def encoded(self, data: Any) -> str:
        """
        Write data as JSON; dataclasses and models become objects, datetimes and the like text.

        Raises:
            InvalidArgument: JSON cannot say it, and the encoder does not help.
            DataTooLarge: it is longer than the client allows.
        """
        if is_plain(data):
            return payload.encode(data, self.max_data_size, is_plain=True)
        try:
            simple = simplified(data, self.encoder)
        except RecursionError:
            simple = data  # it contains itself, which is told by whoever writes it
        return payload.encode(simple, self.max_data_size)

    @property
    def worker_name(self) -> str:
        """The name under which jobs are popped: the one given, else ``HOST-PID``, also after a fork."""
        return self._worker_name or f"{socket.gethostname()}-{os.getpid()}"
