# SPDX-License-Identifier: MIT
"""
The arguments of a command as a client on the wire sends them: text, any of it missing.

Everything is as lenient as in the Lua core, and refused in its words and its order:
unknown options and surplus arguments pass, hexadecimal is a number, the last of equal options counts.
Only numbers that are not finite, which the core accepts and chokes on later, are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

from pyqless.core import lua
from pyqless.core.fields import Tags, names_of
from pyqless.errors import InvalidArgument

__all__ = [
    "Arguments",
    "encoded",
    "jid_list",
    "json_value",
    "number",
    "options",
    "refuse",
    "tags_value",
]


class Arguments:
    """
    The arguments behind a command and its moment.

    Args:
        values: what was sent; what is missing reads as None, Lua's nil.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Sequence[str]) -> None:
        self._values = values

    def at(self, position: int) -> str | None:
        """An argument that may be missing."""
        return self._values[position] if position < len(self._values) else None

    def rest(self, position: int) -> list[str]:
        """The arguments from a position on."""
        return list(self._values[position:])

    def text(self, position: int, name: str, lua_text: str) -> str:
        """An argument that must be there."""
        value = self.at(position)
        if value is None:
            refuse(name, None, "is missing", lua_text)
        return value

    def some(self, position: int, name: str) -> list[str]:
        """Arguments from a position on, at least one."""
        values = self.rest(position)
        if not values:
            refuse(name, None, "is missing")
        return values

    def number(
        self, position: int, name: str, lua_text: str, default: float | None = None
    ) -> float:
        """
        A number; without a default, it must be there.

        Args:
            lua_text: the core's words, to which it appends the value.
        """
        return number(self.at(position), name, lua_text, default)

    def data(self, position: int, lua_text: str) -> str:
        """
        JSON text that must be there and is kept as it is.

        Args:
            lua_text: the core's words for a plain ``false``, to which it appends the value.
        """
        value = self.at(position)
        json_value(value, "data", lua_text)
        return value or ""

    def new_data(self, position: int) -> str | None:
        """JSON text, written anew as the core does; None for a missing one, and for ``false``."""
        value = self.at(position)
        if value is None:
            return None
        decoded = _decode(value, "data")
        return None if decoded is False else encoded(decoded, "data", value)


def number(value: str | None, name: str, lua_text: str, default: float | None = None) -> float:
    """Read a number; see ``Arguments.number``."""
    if value is None and default is not None:
        return default
    read = lua.to_number(value)
    if read is None:
        refuse(name, value, "is not a number", lua_text + shown(value))
    if not math.isfinite(read):
        refuse(name, value, "is not finite")
    return read


def json_value(value: str | None, name: str, lua_text: str) -> Any:
    """
    Decode JSON text; the core takes a plain ``false`` for none.

    Args:
        lua_text: the core's words for it, to which it appends the value.
    """
    decoded = _decode(value, name)
    if decoded is False:
        refuse(name, value, "must not be false", lua_text + shown(value))
    return decoded


def tags_value(value: str, name: str, lua_text: str) -> Tags:
    """Decode a JSON list of texts and numbers; an object passes for an empty one."""
    decoded = json_value(value, name, lua_text)
    encoded(decoded, name, value)
    if isinstance(decoded, dict):
        return decoded
    if not isinstance(decoded, list) or not all(isinstance(item, str | float) for item in decoded):
        refuse(name, value, "is not a JSON list of texts")
    return decoded


def jid_list(value: str, name: str, lua_text: str) -> list[str | float]:
    """Decode a JSON list of jids, which may be numbers; an object is an empty one."""
    return names_of(tags_value(value, name, lua_text))


def options(values: Sequence[str], *, odd: bool = False) -> dict[str, str]:
    """
    Options that come as names and values; the last of equal ones counts.

    Args:
        odd: whether a last name without a value passes.
    """
    if len(values) % 2 and not odd:
        refuse("options", list(values), "must be pairs", "Odd number of additional args")
    return dict(zip(values[::2], values[1::2], strict=False))


def shown(value: str | None) -> str:
    """A value in the core's words."""
    return "nil" if value is None else value


def refuse(name: str, value: Any, fault: str, lua_text: str | None = None) -> NoReturn:
    """
    Refuse an argument.

    Raises:
        InvalidArgument: always.
    """
    given = "" if value is None else f": {value!r}"
    raise InvalidArgument(f"{name} {fault}{given}", argument=name, value=value, lua=lua_text)


def _decode(value: str | None, name: str) -> Any:
    try:
        return lua.decode(value)
    except lua.JSONError as error:
        refuse(name, value, f"is not JSON ({error})")


def encoded(decoded: Any, name: str, value: str) -> str:
    """Write what was decoded from an argument anew."""
    try:
        return lua.encode(decoded)
    except lua.JSONError as error:
        refuse(name, value, f"cannot be written as JSON ({error})")
