# SPDX-License-Identifier: MIT
"""
JSON as Lua's cjson reads and writes it.

Reading first tries Python's decoder, which is written in C; what it refuses, and what it may judge
otherwise than cjson, goes to the reader of cjson's own grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from json import JSONDecoder
from json.encoder import encode_basestring
from math import isfinite
from types import NoneType
from typing import Any

from pyqless.core.lua.grammar import MAX_DEPTH, WHITE_SPACE, JSONError, escapes_are_valid, read

__all__ = ["JSONError", "decode", "decode_writable", "encode", "quote"]

#: All numbers are doubles, and strings may hold control characters as they are.
_PYTHON = JSONDecoder(parse_int=float, strict=False)


def decode(text: str | None) -> Any:
    """
    Read JSON as ``cjson.decode`` does.

    Args:
        text: the JSON text, or None for nil; bytes that are no UTF-8 come as surrogates and stay.

    Returns:
        dict, list, str, bool, None for null, or float for any number, maybe an infinity or a NaN.

    Raises:
        JSONError: cjson refuses the text.
    """
    if text is None:
        raise JSONError("no JSON text was given")
    if "\0" in text:
        text = _before_nul(text)
    if "\\u" in text and not escapes_are_valid(text):
        raise JSONError("an escape sequence is unknown, or half of a surrogate pair")
    text = text.strip(WHITE_SPACE)
    # With no more brackets than levels there is no need to see how they nest.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        try:
            value, end = _PYTHON.raw_decode(text)
        except (ValueError, RecursionError):
            return read(text)
        if end == len(text):
            return value
    return read(text)


#: Only text with one of these can hold a number that is not finite.
_has_unusual_number = re.compile(
    r"inf|nan|0x|e\+?[0-9]{3}|[0-9]{200}", re.ASCII | re.IGNORECASE
).search


def decode_writable(text: str | None) -> Any:
    """
    Read JSON that is to be written again, within two more lists or objects.

    Raises:
        JSONError: cjson refuses the text, or would refuse to write what it holds:
            a number that is not finite, or too deep a nest.
    """
    value = decode(text)
    if text and (_has_unusual_number(text) or text.count("[") + text.count("{") > MAX_DEPTH - 3):
        encode([[value]])
    return value


def _before_nul(text: str) -> str:
    # To cjson a NUL ends the text, but among the first two bytes it means UTF-16.
    end = text.index("\0")
    if end < 2:
        raise JSONError("a NUL stands at the beginning")
    return text[:end]


def quote(text: str) -> str:
    """Write text as one JSON string, as cjson does: ``/`` and DEL are escaped, non-ASCII is not."""
    quoted = encode_basestring(text)
    if "/" in quoted or "\x7f" in quoted:
        return quoted.replace("/", "\\/").replace("\x7f", "\\u007f")
    return quoted


#: there are few names, and each is written time and again
_quoted_name = lru_cache(maxsize=1024)(quote)


def encode(value: Any) -> str:
    """
    Write a value as ``cjson.encode`` does: compact, numbers with 14 digits, an empty list as ``{}``.

    Args:
        value: dict with str keys, list, str, float, int, bool or None; 1,000 levels at most.

    Raises:
        JSONError: it holds an infinity, a NaN or a value of another type, or is nested too deep.
    """
    kind = type(value)
    if kind is dict and {*map(type, value.values())} <= {str}:
        # nearly all messages are such
        fields = ",".join([f"{_quoted_name(name)}:{quote(field)}" for name, field in value.items()])
        return f"{{{fields}}}"
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar(value)
    if kind is list and not value:
        return "{}"
    parts: list[str] = []
    writers = [_writer(value, parts.append)]
    while writers:
        nested = next(writers[-1], None)
        if nested is None:
            writers.pop()
        elif len(writers) == MAX_DEPTH:
            raise JSONError(f"nested more than {MAX_DEPTH:,} deep")
        else:
            writers.append(_writer(nested, parts.append))
    return "".join(parts)


def _writer(container: Any, write: Callable[[str], None]) -> Iterator[Any]:
    # A writer yields each container that stands in its own, for another to write at that point.
    if isinstance(container, dict):
        return _object_writer(container, write)
    if isinstance(container, list):
        return _array_writer(container, write)
    raise JSONError(f"cjson has no {type(container).__name__}: {container!r}")


def _array_writer(values: list[Any], write: Callable[[str], None]) -> Iterator[Any]:
    if not values:
        write("{}")
        return
    before = "["
    for value in values:
        scalar = _SCALARS.get(type(value))
        if scalar is not None:
            write(before + scalar(value))
        else:
            write(before)
            yield value
        before = ","
    write("]")


def _object_writer(fields: dict[str, Any], write: Callable[[str], None]) -> Iterator[Any]:
    before = "{"
    for key, value in fields.items():
        scalar = _SCALARS.get(type(value))
        if scalar is not None:
            write(f"{before}{quote(key)}:{scalar(value)}")
        else:
            write(f"{before}{quote(key)}:")
            yield value
        before = ","
    write("}" if fields else "{}")


def _number(value: float) -> str:
    try:
        if isfinite(value):
            return f"{value:.14g}"
    except OverflowError:  # an integer beyond all doubles
        pass
    raise JSONError(f"cjson does not write this number: {value!r}")


_SCALARS: dict[type, Callable[[Any], str]] = {
    str: quote,
    float: _number,
    int: _number,
    bool: {False: "false", True: "true"}.__getitem__,
    NoneType: {None: "null"}.__getitem__,
}
