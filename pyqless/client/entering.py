# SPDX-License-Identifier: MIT
"""What says which of ``with`` and ``async with`` is meant, where Python would only say that the other one is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

__all__ = ["EnteredAsync", "EnteredBlocking"]


class EnteredAsync:
    """To be entered by ``async with``."""

    if not TYPE_CHECKING:  # type checkers tell it by themselves

        def __enter__(self) -> NoReturn:
            raise TypeError(f"{type(self).__name__} is for asyncio: use 'async with'")

        __exit__ = __enter__  # without one, Python asks for nothing else


class EnteredBlocking:
    """To be entered by ``with``."""

    if not TYPE_CHECKING:

        async def __aenter__(self) -> NoReturn:
            name = type(self).__name__
            raise TypeError(f"{name} blocks: use 'with', or Async{name} for asyncio")

        __aexit__ = __aenter__
