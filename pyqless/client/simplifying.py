# SPDX-License-Identifier: MIT
"""From what a program has, a dataclass or a model, to what JSON can say."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import Enum
from functools import partial
from typing import Any, Final, TypeAlias

from pyqless.client.texts import written_as

__all__ = ["Encoder", "is_plain", "simplified"]

#: makes something that JSON can say of a value that it cannot say, such as bytes; raises ``TypeError`` for others
Encoder: TypeAlias = Callable[[Any], Any]

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


_CONTAINERS: Final = frozenset({dict, list, tuple})
_PLAIN: Final = _SCALARS | _CONTAINERS

#: how many containers are looked at, and how deep; what has more, or contains itself, is left to the slower way
_MANY, _DEEP = 100_000, 100


def is_plain(value: Any) -> bool:
    """Whether a value is made of nothing but what JSON can say as it is, by exact types; most data is."""
    level: list[Any] = [[value]]
    looked_at = 0
    for _ in range(_DEEP):
        looked_at += len(level)
        if not level or looked_at > _MANY:
            break
        below: list[Any] = []
        for container in level:
            if type(container) is dict:
                if not {*map(type, container)} <= {str}:
                    return False
                container = container.values()  # noqa: PLW2901 - its members count from here on
            kinds = {*map(type, container)}
            if not kinds <= _PLAIN:
                return False
            if not kinds.isdisjoint(_CONTAINERS):
                below += [member for member in container if type(member) in _CONTAINERS]
        level = below
    return not level


def simplified(value: Any, encoder: Encoder | None) -> Any:
    """
    What JSON can say, of dataclasses, models of pydantic and structs of msgspec, sets, and types written as text, however deep.

    Args:
        encoder: for values of other types, and for sets and those written as text as it likes; what nobody knows stays as
            it is, to be refused.
    """
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        return {_key(key): simplified(member, encoder) for key, member in value.items()}
    if kind in (list, tuple):
        return [simplified(item, encoder) for item in value]
    simple = value if isinstance(value, type) else _simple(value, encoder)
    return value if simple is value else simplified(simple, encoder)


def _simple(value: Any, encoder: Encoder | None) -> Any:
    """One step towards what JSON can say; the value itself where nobody knows one."""
    for is_known, step in _STEPS:
        if is_known(value):
            return step(value)
    if isinstance(value, str | int | float | dict | list):
        return value
    if encoder is not None:
        with suppress(TypeError):
            return encoder(value)
    if isinstance(value, set | frozenset):
        return _in_order([simplified(member, encoder) for member in value])
    written = written_as(type(value))
    return value if written is None else written.write(value)


def _in_order(members: list[Any]) -> list[Any]:
    """The members of a set as a list, the same list for the same set: unique jobs are known by their text."""
    try:
        return sorted(members)
    except TypeError:
        return sorted(members, key=lambda member: json.dumps(member, sort_keys=True, default=repr))


def _key(key: Any) -> Any:
    """A key as text where its type is written as text; JSON has no other keys."""
    if isinstance(key, str):
        return key
    if isinstance(key, Enum):
        return key.value
    written = written_as(type(key))
    return key if written is None else written.write(key)


def _of_dataclass(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _is_of(module: str, name: str, value: Any) -> bool:
    """Whether a value is of a class of a module that nobody but the user may have imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(value, kind)


def _of_struct(value: Any) -> Any:
    return sys.modules["msgspec"].to_builtins(value)


#: what is known of a type that JSON has not, and how it is said
_STEPS: Final[tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...]] = (
    (dataclasses.is_dataclass, _of_dataclass),
    (partial(_is_of, "pydantic", "BaseModel"), lambda value: value.model_dump(mode="json")),
    (partial(_is_of, "msgspec", "Struct"), _of_struct),
    (lambda value: isinstance(value, Enum), lambda value: value.value),
    (lambda value: isinstance(value, tuple), list),
    (lambda value: isinstance(value, Mapping) and not isinstance(value, dict), dict),
)
