# SPDX-License-Identifier: MIT
"""
The data of a job as JSON text.

Writing is strict: what is written, every other client can read. Reading is lenient, as cjson is:
other clients write NaN, and control characters as they are.
Bytes that are no UTF-8 pass through both ways, as surrogate escapes.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from pyqless.client import checks
from pyqless.core import lua
from pyqless.errors import CorruptedJob, DataTooLarge, InvalidArgument, PrecisionWarning

__all__ = ["decode", "encode", "is_unchanged", "require_size"]

_SEPARATORS = (",", ":")
_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=_SEPARATORS).encode
_dumps_leniently = json.JSONEncoder(ensure_ascii=False, separators=_SEPARATORS).encode
_loads = json.JSONDecoder(strict=False).decode

#: text between commas without a number of so many digits, and no more than digits, holds no integer that Lua would round;
#: that all which is looked for begins with one of three characters makes it fast
_has_long_number = re.compile(r"[\[:,]-?\d{15,}[\]},]").search


def encode(data: Any, limit: int, argument: str = "data", *, is_plain: bool = False) -> str:
    """
    Write data as JSON.

    Args:
        data: what JSON can say: None, bool, int, float, str, and lists, tuples and dicts of them.
        limit: how long the JSON text may be, bytes of UTF-8.
        argument: what errors call it.
        is_plain: whether it is known that all keys are texts.

    Raises:
        InvalidArgument: JSON cannot say it; the message names the place, such as ``data['ids'][3]``.
        DataTooLarge: it is longer than ``limit``.

    Warns:
        PrecisionWarning: a Lua client would round an integer in it.
    """
    if data is False:
        checks.refuse(argument, data, "must not be a plain false, which is nothing to the Lua core")
    try:
        text, size = _write(data, argument, is_plain=is_plain)
    except RecursionError:
        message = f"{argument} is nested too deep"
        raise InvalidArgument(message, argument=argument, value=data) from None
    if size > limit:
        raise _too_large(argument, size, limit)
    return text


def require_size(text: str, limit: int, argument: str) -> None:
    """
    Make sure that a text is not longer than ``limit``, bytes of UTF-8.

    Raises:
        DataTooLarge: it is.
    """
    size = len(text.encode("utf-8", "surrogateescape"))
    if size > limit:
        raise _too_large(argument, size, limit)


def _too_large(argument: str, size: int, limit: int) -> DataTooLarge:
    message = (
        f"{argument} is too large: {size:,} bytes as JSON; the client's max_data_size is {limit:,}"
    )
    return DataTooLarge(message, argument=argument, value=size)


def _write(data: Any, argument: str, *, is_plain: bool) -> tuple[str, int]:
    """The JSON text, and its size in bytes."""
    try:
        text = _dumps(data)
        size = len(text.encode("utf-8", "surrogateescape"))
    except (TypeError, ValueError):
        _refuse(data, argument)
    if not (is_plain or _has_text_keys(data)):
        _refuse(data, argument)
    if _has_long_number(f",{text},"):
        _look_at_integers(data, argument)
    return text, size


def decode(text: str, jid: str) -> Any:
    """
    Read data.

    Args:
        jid: whose data it is, for the error.

    Raises:
        CorruptedJob: the text is no JSON.
    """
    try:
        return _loads(text)
    except (ValueError, RecursionError) as error:
        message = f"job {jid}: the data is no JSON: {error}"
        raise CorruptedJob(message, argument="data", value=text) from error


def is_unchanged(data: Any, text: str) -> bool:
    """Whether data, once read of a text, still is what the text says, types included."""
    try:
        return _dumps_leniently(data) == _dumps_leniently(_loads(text))
    except (TypeError, ValueError, RecursionError):
        return False


# -- what JSON cannot say ---------------------------------------------------------------------


class _Fault(NamedTuple):
    path: str
    value: Any
    reason: str


def _refuse(data: Any, argument: str) -> NoReturn:
    unknown = _Fault(argument, data, "cannot be written as JSON")
    fault = next(_faults(data, argument, ()), unknown)
    message = f"{fault.path} {fault.reason}: {checks.shown(fault.value)}"
    raise InvalidArgument(message, argument=argument, value=fault.value) from None


def _has_text_keys(value: Any) -> bool:
    # json writes some other keys as text, and so changes them on the way
    if isinstance(value, dict):
        keys = all(isinstance(key, str) for key in value)
        return keys and all(map(_has_text_keys, value.values()))
    return not isinstance(value, list | tuple) or all(map(_has_text_keys, value))


def _faults(value: Any, path: str, above: tuple[int, ...]) -> Iterator[_Fault]:
    """What JSON cannot say in a value, each with its place; ``above`` are the ids of what it stands in."""
    if id(value) in above:
        yield _Fault(path, value, "contains itself")
    elif isinstance(value, dict | list | tuple):
        yield from _faults_of_keys(value, path)
        for place, member in _members(value, path):
            yield from _faults(member, place, (*above, id(value)))
    elif (reason := _fault_of_scalar(value)) is not None:
        yield _Fault(path, value, reason)


def _faults_of_keys(container: Any, path: str) -> Iterator[_Fault]:
    for key in container if isinstance(container, dict) else ():
        if not isinstance(key, str):
            yield _Fault(path, key, "has a key that is not text")
        elif not checks.is_storable(key):
            yield _Fault(path, key, "has a key with half of a surrogate pair")


def _fault_of_scalar(value: Any) -> str | None:
    if isinstance(value, str):
        return None if checks.is_storable(value) else "holds half of a surrogate pair"
    if isinstance(value, int | float):
        return None if _is_double(value) else "is no number that JSON clients can hold"
    return None if value is None else f"is of a type that JSON has not, {type(value).__name__}"


def _members(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in entries:
        yield f"{path}[{key!r}]", member


def _is_double(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


# -- what Lua would round ---------------------------------------------------------------------


def _look_at_integers(data: Any, argument: str) -> None:
    """Refuse an integer that no double holds, and warn of one that Lua would round."""
    rounded = [found for found in _integers(data, argument) if not _survives_lua(found[1])]
    if not all(_is_double(number) for _, number in rounded):
        _refuse(data, argument)
    if not rounded:
        return
    path, number = rounded[0]
    message = f"{path} is an integer that Lua clients round to 14 digits: {number}; text is safe"
    warnings.warn(message, PrecisionWarning, stacklevel=_frames_to_caller())


def _integers(value: Any, path: str) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict | list | tuple):
        for place, member in _members(value, path):
            yield from _integers(member, place)
    elif isinstance(value, int):
        yield path, value


def _survives_lua(number: int) -> bool:
    return _is_double(number) and int(float(lua.concat(float(number)))) == number


def _frames_to_caller() -> int:
    """How many frames lie between the function that asks and the program that uses this library."""
    frame, frames = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").startswith("pyqless."):
        frame, frames = frame.f_back, frames + 1
    return frames
