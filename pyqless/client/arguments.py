# SPDX-License-Identifier: MIT
"""The arguments of a call as a job's data, and back: an object with a member for each parameter."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from inspect import Parameter
from typing import Any

from pyqless.client import checks
from pyqless.client.fitting import fitted
from pyqless.client.simplifying import Encoder, is_plain, simplified
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

    def data(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], encoder: Encoder | None
    ) -> dict[str, Any]:
        """
        The data of a job that makes a call.

        Args:
            encoder: with which the data will be written.

        Raises:
            InvalidArgument: the function cannot be called so.
            DataMismatch: an argument is not of the type it is annotated with, so that a worker would refuse it.
        """
        try:
            data = dict(self._signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            checks.refuse("arguments", (args, kwargs), f"do not fit {self._name}: {error}")
        self._try(data, encoder)
        return data

    def _try(self, data: dict[str, Any], encoder: Encoder | None) -> None:
        """Make the call's arguments of the data, as a worker will."""
        try:
            simple = simplified(data, encoder)
            # most is read as it stands here, and need not be written for that
            as_read = simple if is_plain(simple) else json.loads(json.dumps(simple))
        except (TypeError, ValueError, RecursionError):
            return  # whoever writes it tells what JSON cannot say
        with suppress(NameError):  # an annotation that is a name for type checkers alone
            self._fitted(as_read, "arguments")

    def call(self, data: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """
        The call that a job's data makes.

        Raises:
            DataMismatch: the function cannot be called so, or an argument is not of the type it is annotated with.
        """
        if not isinstance(data, Mapping):
            message = f"data must be an object of arguments of {self._name}: {checks.shown(data)}"
            raise DataMismatch(message, argument="data", value=data)
        args, kwargs = self._fitted(data, "data")
        unknown = {name: data[name] for name in data.keys() - self._signature.parameters.keys()}
        return tuple(args), self._checked(args, kwargs | unknown)

    def _fitted(self, data: Mapping[str, Any], path: str) -> tuple[list[Any], dict[str, Any]]:
        """The arguments that a call gets by position, and those it gets by name."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            if name in data:
                kind = _kind(parameter, self._hints.get(name, Any))
                _add(parameter, fitted(data[name], kind, f"{path}[{name!r}]"), args, kwargs)
        return args, kwargs

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return typing.get_type_hints(self._function)

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
