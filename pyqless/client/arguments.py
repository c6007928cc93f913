# SPDX-License-Identifier: MIT
"""The arguments of a call as a job's data, and back: an object with a member for each parameter."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

from pyqless.client import checks, payload
from pyqless.client.annotations import name_of, parameter_type
from pyqless.client.fitting import fitted
from pyqless.client.simplifying import Encoder, is_plain, simplified
from pyqless.errors import DataMismatch, InvalidArgument

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
        self._types: dict[str, Any] = {}

    def data(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        encoder: Encoder | None,
        *,
        whole: bool = False,
    ) -> dict[str, Any]:
        """
        The data of a job that makes a call.

        Args:
            encoder: with which the data will be written.
            whole: put the defaults of what the call leaves out into it, so that equal calls have equal data.

        Raises:
            InvalidArgument: the function cannot be called so, or an annotation names what there is not.
            DataMismatch: an argument is not of the type it is annotated with, so that a worker would refuse it.
        """
        try:
            data = dict(self._signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            checks.refuse("arguments", (args, kwargs), f"do not fit {self._name}: {error}")
        self._try(data, encoder)
        return self._with_defaults(data, encoder) if whole else data

    def _try(self, data: dict[str, Any], encoder: Encoder | None) -> None:
        """Make the call's arguments of the data, as a worker will."""
        try:
            simple = simplified(data, encoder)
            # most is read as it stands here, and need not be written for that
            as_read = simple if is_plain(simple) else json.loads(json.dumps(simple))
        except (TypeError, ValueError, RecursionError):
            return  # whoever writes it tells what JSON cannot say
        self._fitted(as_read)

    def _with_defaults(self, data: dict[str, Any], encoder: Encoder | None) -> dict[str, Any]:
        defaults = {
            name: parameter.default
            for name, parameter in self._signature.parameters.items()
            if parameter.default is not Parameter.empty
            and name not in data
            and self._may_be_data(name, parameter.default, encoder)
        }
        known = {**data, **defaults}
        return {name: known[name] for name in self._signature.parameters if name in known}

    def _may_be_data(self, name: str, default: Any, encoder: Encoder | None) -> bool:
        """Whether a default can be written, and is taken by a worker: one that only marks what is missing is not."""
        try:
            text = payload.encode(simplified({name: default}, encoder), sys.maxsize)
            self._fitted(json.loads(text))
        except InvalidArgument:
            return False
        return True

    def call(self, data: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """
        The call that a job's data makes.

        Raises:
            DataMismatch: the function cannot be called so, or an argument is not of the type it is annotated with.
            InvalidArgument: an annotation names what there is not.
        """
        if not isinstance(data, Mapping):
            message = f"data must be an object of arguments of {self._name}: {checks.shown(data)}"
            raise DataMismatch(message, argument="data", value=data)
        args, kwargs = self._fitted(data)
        unknown = {name: data[name] for name in data.keys() - self._signature.parameters.keys()}
        return tuple(args), self._checked(args, kwargs | unknown)

    def _fitted(self, data: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments that a call gets by position, and those it gets by name."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            if name in data:
                kind = _kind(parameter, self._type_of(parameter))
                _add(parameter, fitted(data[name], kind, f"data[{name!r}]"), args, kwargs)
        return args, kwargs

    def _type_of(self, parameter: Parameter) -> Any:
        # when it is needed: what an annotation names may stand further down in its module
        if parameter.name not in self._types:
            self._types[parameter.name] = parameter_type(self._function, parameter)
        return self._types[parameter.name]

    def _checked(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        try:
            self._signature.bind(*args, **kwargs)
        except TypeError as error:
            message = f"data does not fit {self._name}: {error}"
            raise DataMismatch(message, argument="data", value=kwargs) from error
        return kwargs

    @property
    def _name(self) -> str:
        return f"{name_of(self._function)}{self._signature}"


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
