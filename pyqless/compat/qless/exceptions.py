# SPDX-License-Identifier: MIT
"""The errors of qless-py; the typed error of pyqless behind each is its ``__cause__``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import redis

from pyqless.errors import OutcomeUnknown, QlessError, StoreUnavailable

__all__ = ["Disconnected", "LostLockException", "QlessException", "translated"]


class QlessException(QlessError):
    """A command could not be carried out; the text is the Lua core's own where the core has one."""


class LostLockException(QlessException):
    """The job is in another worker's hand, or in nobody's; the text is its jid."""


class Disconnected(QlessError, redis.ConnectionError):
    """The store does not answer; qless-py lets redis-py's error pass, and this is one, too."""


@contextmanager
def translated() -> Iterator[None]:
    """Raise what qless-py raises."""
    try:
        yield
    except (StoreUnavailable, OutcomeUnknown) as error:
        raise Disconnected(str(error)) from error
    except QlessError as error:
        text = str(error) if error.lua is None else error.lua
        raise QlessException(
            text, argument=error.argument, value=error.value, lua=error.lua
        ) from error
