# SPDX-License-Identifier: MIT
"""
Whether the last worker of a name is gone, so that another may take its name.

The store cannot tell two workers of one name apart: what one of them gives back, the other may still be at work on, and then
it runs twice at once.
"""

from __future__ import annotations

import math
import os
import socket
from functools import partial
from typing import Final

from pyqless.client import AsyncClient, Client
from pyqless.core import presence
from pyqless.core.presence import Presence
from pyqless.errors import RequestError
from pyqless.worker.records import MISSED, WorkerRecord, quietly, read

__all__ = ["require_gone", "require_gone_async"]

_NOTHING: Final = 0  # the signal that is none


def require_gone(client: Client, name: str) -> None:
    """
    Make sure that no other worker of a name is at work, as far as is known.

    Raises:
        RequestError: one has told of itself lately, and is not known to be dead.
        StorageError: the store refuses us.
    """
    word: Presence | None = None
    with quietly(at_first=True):
        word = client.storage.run(partial(presence.word_of, worker=name))
    _judge(word, client.storage.clock())


async def require_gone_async(client: AsyncClient, name: str) -> None:
    """As ``require_gone``, for asyncio."""
    word: Presence | None = None
    with quietly(at_first=True):
        word = await client.storage.run(partial(presence.word_of, worker=name))
    _judge(word, client.storage.clock())


def _judge(word: Presence | None, now: float) -> None:
    record = None if word is None else read(word)
    if record is None or not record.is_fresh(now) or _is_gone(record):
        return
    silence = max(0.0, now - record.seen)
    text = (
        f"a worker called {record.name!r} is at work, and no other can have its name:"
        f" process {record.pid} on {record.host}, heard of {silence:.0f} s ago;"
        f" if it has died, its name is free in {math.ceil(MISSED * record.period - silence)} s"
    )
    raise RequestError(text, argument="name", value=record.name)


def _is_gone(record: WorkerRecord) -> bool:
    """Whether there is no such process any more; of one that is elsewhere nobody here knows."""
    if record.host != socket.gethostname():
        return False
    if record.pid == os.getpid():
        return True  # containers give each process the number of its predecessor
    try:
        os.kill(record.pid, _NOTHING)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False
