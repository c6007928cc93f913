# SPDX-License-Identifier: MIT
"""Annotations as types: a name in one may be known to type checkers alone, which is told by name."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from pyqless.errors import InvalidArgument

__all__ = ["field_types", "name_of", "parameter_type", "unnamed"]

_REMEDY = "it has to be known when the program runs, and not only 'if TYPE_CHECKING'"


def parameter_type(function: Callable[..., Any], parameter: Parameter) -> Any:
    """
    The type of a function's parameter; Any where it has no annotation.

    Raises:
        InvalidArgument: its annotation names what there is not.
    """
    if parameter.annotation is Parameter.empty:
        return Any
    # alone, since one that nobody can read must not hide the others
    alone = type("Alone", (), {"__annotations__": {parameter.name: parameter.annotation}})
    try:
        return typing.get_type_hints(alone, _names_of(function), {})[parameter.name]
    except Exception as error:
        message = (
            f"{name_of(function)}: parameter {parameter.name!r} is annotated with"
            f" {_written(parameter.annotation)}, but {error}; {_REMEDY}"
        )
        raise InvalidArgument(
            message, argument=parameter.name, value=parameter.annotation
        ) from error


def field_types(kind: Any, *, include_extras: bool = False) -> dict[str, Any]:
    """
    The types of the fields of a dataclass, a TypedDict or a NamedTuple.

    Raises:
        InvalidArgument: an annotation names what there is not.
    """
    try:
        return typing.get_type_hints(kind, include_extras=include_extras)
    except Exception as error:
        message = f"{kind.__qualname__}: its annotations cannot be read, since {error}; {_REMEDY}"
        raise InvalidArgument(message, argument=kind.__qualname__, value=kind) from error


def name_of(function: Callable[..., Any]) -> str:
    """What errors call a function, or an object that is called as one."""
    return getattr(function, "__qualname__", repr(function))


def unnamed(kind: Any) -> Any:
    """The type that another name stands for: a NewType, or what the statement ``type`` declares."""
    while not isinstance(kind, type):
        if hasattr(kind, "__supertype__"):
            kind = kind.__supertype__
        elif type(kind).__name__ == "TypeAliasType":
            kind = _value_of(kind)
        else:
            break
    return kind


def _value_of(alias: Any) -> Any:
    try:
        return alias.__value__
    except Exception as error:
        message = f"{alias}: what it stands for cannot be read, since {error}; {_REMEDY}"
        raise InvalidArgument(message, argument=str(alias), value=alias) from error


def _names_of(function: Any) -> dict[str, Any]:
    """What the annotations of a function may name."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    of_calls = getattr(
        type(function).__call__, "__globals__", {}
    )  # of an object that can be called
    return getattr(function, "__globals__", of_calls)


def _written(annotation: Any) -> str:
    return repr(annotation) if isinstance(annotation, str) else str(annotation)
