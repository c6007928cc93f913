# SPDX-License-Identifier: MIT
"""What the URL of a store on Redis says that is for us to hear, and not for redis-py."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

from pyqless.errors import InvalidArgument

__all__ = ["without_options"]


def without_options(url: str) -> tuple[str, dict[str, Any]]:
    """
    Take out of a URL what redis-py does not know.

    Returns:
        tuple: what is left of the URL, as it was; and those of the options ``clock``, ``durability`` and ``headroom``
            that it says.

    Raises:
        InvalidArgument: one of them makes no sense; it is named, but not repeated.
    """
    before, mark, query = url.partition("?")
    left: list[str] = []
    options: dict[str, Any] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name in _READERS:
            options[name] = _READERS[name](unquote_plus(value))
        else:
            left.append(part)
    return before + mark * bool(left) + "&".join(left), options


def _clock(text: str) -> str:
    if text != "store":
        raise InvalidArgument("clock must be store where a url says it", argument="clock")
    return text


def _durability(text: str) -> str:
    if text != "replicated":
        refusal = "durability must be replicated where a url says it"
        raise InvalidArgument(refusal, argument="durability")
    return text


def _headroom(text: str) -> float:
    try:
        part = float(text)
    except ValueError:
        part = math.nan
    if not 0 <= part < 1:
        refusal = "headroom must be a number from 0 up to 1, such as headroom=0.1"
        raise InvalidArgument(refusal, argument="headroom")
    return part


_READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "clock": _clock,
    "durability": _durability,
    "headroom": _headroom,
}
