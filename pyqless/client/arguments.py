# SPDX-License-Identifier: MIT
"""The arguments of a call as a job's data, and back: an object with a member for each parameter."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

from pyqless.client import checks
from pyqless.client.fitting import fitted
from pyqless.errors import DataMismatch

__all__ = ["Arguments"]


class Arguments:
    """
    What a function is called with.

    Args:
        function: its signature counts, and its annotations, to which data is fitted.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._signature = inspect.signature(function)

    def data(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """
        The data of a job that makes a call.

        Raises:
            InvalidArgument: the function cannot be called so.
        """
        try:
            return dict(self._signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            checks.refuse("arguments", (args, kwargs), f"do not fit {self._name}: {error}")

    def call(self, data: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """
        The call that a job's data makes.

        Raises:
            DataMismatch: the function cannot be called so, or an argument is not of the type it is annotated with.
        """
        if not isinstance(data, Mapping):
            message = f"data must be an object of arguments of {self._name}: {checks.shown(data)}"
            raise DataMismatch(message, argument="data", value=data)
        hints = typing.get_type_hints(self._function)
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        left = dict(data)
        for parameter in self._signature.parameters.values():
            if parameter.name in left:
                value = left.pop(parameter.name)
                kind = _kind(parameter, hints.get(parameter.name, Any))
                _add(parameter, fitted(value, kind, f"data[{parameter.name!r}]"), args, kwargs)
        return tuple(args), self._checked(args, kwargs | left)

    def _checked(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        try:
            self._signature.bind(*args, **kwargs)
        except TypeError as error:
            message = f"data does not fit {self._name}: {error}"
            raise DataMismatch(message, argument="data", value=kwargs) from error
        return kwargs

    @property
    def _name(self) -> str:
        return f"{self._function.__qualname__}{self._signature}"


def _kind(parameter: Parameter, hint: Any) -> Any:
    """The type of what stands in the data for a parameter."""
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return list[hint]
    if parameter.kind is Parameter.VAR_KEYWORD:
        return dict[str, hint]
    return hint


def _add(parameter: Parameter, value: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
    match parameter.kind:
        case Parameter.VAR_POSITIONAL:
            args.extend(value)
        case Parameter.VAR_KEYWORD:
            kwargs.update(value)
        case Parameter.KEYWORD_ONLY:
            kwargs[parameter.name] = value
        case _:
            args.append(value)
