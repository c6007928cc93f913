# SPDX-License-Identifier: MIT
"""What has to go on whatever breaks in it: where a heart stops, jobs lose their locks and run twice."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import Final

__all__ = ["Steady"]

logger = logging.getLogger("pyqless.worker")

#: seconds to rest after something broke, so that what breaks at once does not take the whole processor
REST: Final = 0.25

#: seconds after which the traceback of what breaks again and again is shown once more
SHOWN: Final = 60.0


class Steady:
    """
    Be entered around each round of what is not to end, with ``with`` or ``async with``.

    An exception that nobody has foreseen is logged with its traceback; after a rest, what stands below goes on.

    Args:
        what: has broken, in the log.
        monotonic: a clock that never goes back, seconds.
    """

    def __init__(self, what: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._monotonic = monotonic
        self._show_at = float("-inf")

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._tell(error)
        time.sleep(REST)
        return True

    async def __aenter__(self) -> None:
        pass

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self._tell(error)
        await asyncio.sleep(REST)
        return True

    def _tell(self, error: Exception) -> None:
        if self._monotonic() < self._show_at:
            logger.debug("%s broke again: %r", self._what, error)
            return
        self._show_at = self._monotonic() + SHOWN
        logger.error("%s broke, and goes on", self._what, exc_info=error)
