# SPDX-License-Identifier: MIT
"""
Checks of arguments, made before anything goes out: what the Lua core would take and choke on later is refused.

Every check returns the value in the form in which the rules want it,
or raises ``InvalidArgument`` with the argument's name and its value.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from pyqless.core.keys import RESERVED_SUFFIXES
from pyqless.errors import InvalidArgument

__all__ = [
    "Span",
    "callbacks",
    "choice",
    "flag",
    "function",
    "instance",
    "is_storable",
    "jid",
    "klass",
    "moment",
    "name",
    "names",
    "number",
    "optional",
    "page",
    "positive",
    "positive_span",
    "refuse",
    "seconds",
    "several",
    "shown",
    "span",
    "text",
    "whole",
]

#: for how long: seconds, or a timedelta; what gives a span back gives seconds
Span: TypeAlias = float | timedelta

T = TypeVar("T")
Callback = TypeVar("Callback")

#: how long a name may be, bytes of UTF-8
NAME_BYTES: Final = 512

#: up to here a double, which all numbers become in Lua, holds every whole number
LARGEST: Final = 2**53


def refuse(argument: str, value: object, fault: str) -> NoReturn:
    """
    Refuse an argument.

    Raises:
        InvalidArgument: always.
    """
    raise InvalidArgument(f"{argument} {fault}: {shown(value)}", argument=argument, value=value)


def shown(value: object) -> str:
    """A value in a message, cut to a readable length."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python does not write integers of more than 4,300 digits
        return "a number of thousands of digits"


def optional(check: Callable[[str, Any], T], argument: str, value: Any) -> T | None:
    """Nothing, or what passes a check."""
    return None if value is None else check(argument, value)


def flag(argument: str, value: Any) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        refuse(argument, value, f"must be True or False, not {type(value).__name__}")
    return value


def function(argument: str, value: Callback) -> Callback:
    """Something to be called."""
    if not callable(value):
        refuse(argument, value, f"must be callable, not {type(value).__name__}")
    return value


def instance(argument: str, value: T, kind: type[Any]) -> T:
    """Something of a kind."""
    if not isinstance(value, kind):
        refuse(argument, value, f"must be of type {kind.__name__}, not {type(value).__name__}")
    return value


def clock(argument: str, value: Any) -> Any:
    """A clock to be called, or ``store``."""
    return value if value == "store" else function(argument, value)


def callbacks(argument: str, value: Mapping[str, Callback]) -> Mapping[str, Callback]:
    """Things to be called, by name."""
    if not isinstance(value, Mapping):
        refuse(argument, value, f"must be a mapping, not {type(value).__name__}")
    return {name: function(f"{argument}[{name!r}]", found) for name, found in value.items()}


def choice(argument: str, values: Any, known: Iterable[str]) -> tuple[str, ...]:
    """Some of a number of words, at least one."""
    checked = names(argument, values, least=1)
    for value in checked:
        if value not in known:
            refuse(argument, value, f"must be among {', '.join(known)}")
    return tuple(checked)


# -- texts ------------------------------------------------------------------------------------


def is_storable(value: str) -> bool:
    """Whether a text can be written as bytes; what was read of bytes that are no UTF-8 can."""
    try:
        value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def text(argument: str, value: Any) -> str:
    """Any text, an empty one too."""
    if not isinstance(value, str):
        refuse(argument, value, f"must be text, not {type(value).__name__}")
    if not is_storable(value):
        refuse(argument, value, "holds half of a surrogate pair, which is no character")
    return value


def name(argument: str, value: Any) -> str:
    """A name, such as that of a queue: it becomes part of a key."""
    checked = text(argument, value)
    if not checked:
        refuse(argument, value, "must not be empty")
    if any(character in checked for character in "\0\r\n"):
        refuse(argument, value, "must not hold a NUL or a line break")
    if len(checked.encode("utf-8", "surrogateescape")) > NAME_BYTES:
        refuse(argument, value, f"must not be longer than {NAME_BYTES} bytes")
    return checked


def jid(argument: str, value: Any) -> str:
    """A job's id."""
    checked = name(argument, value)
    if checked.endswith(RESERVED_SUFFIXES):
        refuse(argument, value, f"must not end in {', '.join(RESERVED_SUFFIXES)}")
    return checked


def names(argument: str, values: Any, least: int = 0) -> list[str]:
    """At least so many names; one that is given twice counts once."""
    return several(argument, values, least, name)


def several(
    argument: str, values: Any, least: int, check: Callable[[str, Any], str], what: str = "texts"
) -> list[str]:
    """At least so many texts that pass a check, which is told the place of each, such as ``tags[0]``."""
    # a text would pass for a list of its characters
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        refuse(argument, values, f"must be a list of {what}")
    places = enumerate(values)
    checked = list(dict.fromkeys(check(f"{argument}[{at}]", value) for at, value in places))
    if len(checked) < least:
        refuse(argument, checked, "must not be empty")
    return checked


def klass(argument: str, value: Any) -> str:
    """What is to run: a name, or a class, whose name is ``module.Class``."""
    if not isinstance(value, type):
        if callable(value):
            refuse(argument, value, f"is a function; {_how_to_put(value)}")
        return name(argument, value)
    if "<locals>" in value.__qualname__:
        refuse(argument, value, "is defined inside a function, where no worker finds it")
    return name(argument, f"{value.__module__}.{value.__qualname__}")


def _how_to_put(function: object) -> str:
    if hasattr(function, "klass_name"):
        return "it is declared already, so call its own .put(...)"
    return "declare it with @pyqless.job(queue=...) and call its .put(...)"


# -- numbers ----------------------------------------------------------------------------------


def number(argument: str, value: Any, least: float = -math.inf, what: str = "a number") -> float:
    """
    A finite number.

    Args:
        least: it must not be below.
        what: that which may be given.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        refuse(argument, value, f"must be {what}, not {type(value).__name__}")
    try:
        checked = float(value)
    except OverflowError:
        checked = math.inf
    if math.isnan(checked):
        refuse(argument, value, "must be a number")
    if checked < least:
        refuse(argument, value, f"must not be below {least:g}")
    if math.isinf(checked):
        refuse(argument, value, "must be finite")
    return checked


def positive(argument: str, value: Any, what: str = "a number") -> float:
    """As ``number``, above 0."""
    checked = number(argument, value, what=what)
    if checked <= 0:
        refuse(argument, value, "must be above 0")
    return checked


def whole(argument: str, value: Any, least: int = 0) -> int:
    """
    A whole number.

    Args:
        least: it must not be below.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        refuse(argument, value, f"must be a whole number, not {type(value).__name__}")
    if not least <= value <= LARGEST:
        refuse(argument, value, f"must lie between {least} and {LARGEST}")
    return value


def span(argument: str, value: Any, least: float = 0.0) -> float:
    """
    A span of time, as seconds.

    Args:
        least: it must not be below, seconds.
    """
    # as ``seconds`` does, without a call: the end of every job comes by here
    plain = value.total_seconds() if isinstance(value, timedelta) else value
    return number(argument, plain, least, _SPANS)


def positive_span(argument: str, value: Any) -> float:
    """A span of time above 0, as seconds."""
    return positive(argument, seconds(value), _SPANS)


_SPANS: Final = "a number of seconds or a timedelta"


def seconds(value: Any) -> Any:
    """A timedelta as seconds; anything else as it is, unchecked."""
    return value.total_seconds() if isinstance(value, timedelta) else value


def page(offset: Any, count: Any) -> tuple[int, int]:
    """Where a page begins, and how many entries it has at most."""
    return whole("offset", offset), whole("count", count, least=1)


def moment(argument: str, value: Any) -> float:
    """A moment: Unix time in seconds, a datetime with a time zone, or a date, whose UTC day is meant."""
    if isinstance(value, datetime):
        if value.tzinfo is None:
            refuse(argument, value, "must have a time zone")
        return value.timestamp()
    if isinstance(value, date):
        return datetime.combine(value, time.min, UTC).timestamp()
    return number(argument, value)
