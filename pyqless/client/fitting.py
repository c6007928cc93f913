# SPDX-License-Identifier: MIT
"""From JSON to the type that a program wants: a dataclass, a TypedDict, a model, or any of their parts."""

from __future__ import annotations

import collections.abc
import dataclasses
import sys
import types
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from typing import Any, Final, Literal, NoReturn, TypeVar, Union, cast, get_args, get_origin

from pyqless.client.annotations import field_types, unnamed
from pyqless.client.checks import shown
from pyqless.client.texts import written_as
from pyqless.errors import DataMismatch

__all__ = ["fitted"]

T = TypeVar("T")

_SCALARS: Final = (str, int, bool, type(None))
_CONTAINERS: Final = (list, dict, tuple, set, frozenset)


def fitted(value: Any, kind: type[T], path: str = "data") -> T:
    """
    Make a value of a type of what JSON says.

    Args:
        kind: a dataclass, TypedDict, model of pydantic, struct of msgspec, enumeration, or what those hold:
            ``str``, ``int``, ``float``, ``bool``, ``None``, ``Any``, ``Literal``, unions, and ``list``, ``tuple``,
            NamedTuple, ``set``, ``frozenset`` and ``dict`` of them; or a type that is written as text: ``datetime``,
            ``date`` and ``time`` in ISO 8601, ``UUID``, ``Decimal`` and ``Path``; or ``timedelta``, written as a
            number of seconds. Of other types, models know more.
        path: what errors call the value.

    Raises:
        DataMismatch: it does not fit; the message names the place, such as ``data['to'][0]``.
        InvalidArgument: an annotation of a class names what there is not.
    """
    return cast("T", _fit(value, kind, path))


def _refuse(path: str, value: Any, fault: str) -> NoReturn:
    raise DataMismatch(f"{path} {fault}: {shown(value)}", argument=path, value=value)


def _fit(value: Any, kind: Any, path: str) -> Any:
    kind = unnamed(kind)
    if kind is Any or kind is object:
        return value
    if kind is None:
        kind = type(None)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind in _SCALARS or kind is float:
        return value if type(value) is kind else _refuse(path, value, f"must be {_name(kind)}")
    origin = get_origin(kind)
    if origin is not None:
        return _fit_generic(value, kind, origin, path)
    if isinstance(kind, type):
        return _fit_class(value, kind, path)
    _refuse(path, value, f"cannot be made a {kind}")


def _fit_class(value: Any, kind: Any, path: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return _fit_dataclass(value, kind, path)
    if typing.is_typeddict(kind):
        return _fit_fields(value, field_types(kind), _required_keys(kind), path)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _fit_named_tuple(value, kind, path)
    if kind in _CONTAINERS or kind.__module__ == "collections.abc":
        return _fit_generic(value, kind, kind, path)
    if (make := _maker(kind)) is not None:
        return _attempt(partial(make, value), value, path)
    return _fit_text(value, kind, path)


def _maker(kind: Any) -> Callable[[Any], Any] | None:
    """What a type has of its own to make a value of what JSON says."""
    if issubclass(kind, Enum):
        return partial(kind)
    if _is_of("pydantic", "BaseModel", kind):
        return cast("Callable[[Any], Any]", kind.model_validate)
    if _is_of("msgspec", "Struct", kind):
        return partial(_make_struct, kind)
    return None


def _make_struct(kind: Any, value: Any) -> Any:
    try:
        return sys.modules["msgspec"].convert(value, type=kind)
    except NameError:
        field_types(kind)  # which tells where the name stands
        raise


def _fit_text(value: Any, kind: Any, path: str) -> Any:
    written = written_as(kind)
    if written is None:
        _refuse(path, value, f"cannot be made a {kind.__qualname__}, which is no type of data")
    fault = f"must be {written.name}"
    if type(value) not in written.forms:
        _refuse(path, value, fault)
    try:
        return written.read(kind, value)
    except (ValueError, ArithmeticError) as error:
        message = f"{path} {fault}: {shown(value)}"
        raise DataMismatch(message, argument=path, value=value) from error


def _required_keys(kind: Any) -> set[str]:
    """The keys that a TypedDict must have, also where its annotations are texts."""
    marks = {key: get_origin(hint) for key, hint in field_types(kind, include_extras=True).items()}
    return {
        key
        for key, mark in marks.items()
        if mark is typing.Required
        or (key in kind.__required_keys__ and mark is not typing.NotRequired)
    }


def _attempt(make: Callable[[], Any], value: Any, path: str) -> Any:
    try:
        return make()
    except ValueError as error:  # those of pydantic and msgspec are such
        place, found, fault = _first_fault(error, path, value)
        message = f"{place} does not fit: {fault}"
        raise DataMismatch(message, argument=place, value=found) from error


def _first_fault(error: Any, path: str, value: Any) -> tuple[str, Any, str]:
    """Where it is, what stands there, and what is wrong with it."""
    if not hasattr(error, "errors"):
        return path, value, str(error)
    first = error.errors(include_url=False)[0]  # a model of pydantic knows
    place = path + "".join(f"[{key!r}]" for key in first["loc"])
    # what a validator has raised says more than what is made of it
    return place, first["input"], str(first.get("ctx", {}).get("error") or first["msg"])


def _fit_dataclass(value: Any, kind: Any, path: str) -> Any:
    fields = [field for field in dataclasses.fields(kind) if field.init]
    missing = dataclasses.MISSING
    required = {
        field.name
        for field in fields
        if field.default is missing and field.default_factory is missing
    }
    hints = field_types(kind)
    known = {field.name: hints[field.name] for field in fields}
    return _attempt(lambda: kind(**_fit_fields(value, known, required, path)), value, path)


def _fit_fields(
    value: Any, hints: Mapping[str, Any], required: typing.AbstractSet[str], path: str
) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(path, value, "must be an object")
    if lacking := sorted(required - value.keys()):
        _refuse(path, value, f"lacks {', '.join(map(repr, lacking))}")
    if unknown := sorted(value.keys() - hints.keys()):
        _refuse(path, value, f"has no place for {', '.join(map(repr, unknown))}")
    return {key: _fit(member, hints[key], f"{path}[{key!r}]") for key, member in value.items()}


def _fit_generic(value: Any, kind: Any, origin: Any, path: str) -> Any:
    arguments = get_args(kind)
    if origin in (Union, types.UnionType):
        return _fit_union(value, arguments, path)
    if origin is Literal:
        if not any(value == choice and type(value) is type(choice) for choice in arguments):
            _refuse(path, value, f"must be one of {', '.join(map(repr, arguments))}")
        return value
    if origin in (typing.Annotated, typing.Required, typing.NotRequired):
        return _fit(value, arguments[0], path)
    if (made := _container(origin)) is None:
        _refuse(path, value, f"cannot be made a {kind}")
    if made is dict:
        return _fit_mapping(value, arguments, path)
    return _fit_items(value, made, arguments, path)


def _container(origin: Any) -> Any:
    """What is made for a type that may be abstract, such as a list for a Sequence."""
    if origin in _CONTAINERS:
        return origin
    if origin.__module__ != "collections.abc":
        return None
    if issubclass(origin, Mapping):
        return dict
    if issubclass(origin, collections.abc.Set):
        return set
    return list if issubclass(list, origin) else None


def _fit_union(value: Any, choices: tuple[Any, ...], path: str) -> Any:
    # a whole number is a float only where nothing closer is wanted
    for choice in sorted(choices, key=lambda choice: type(value) is not choice):
        try:
            return _fit(value, choice, path)
        except DataMismatch:
            continue
    _refuse(path, value, f"must be {' or '.join(map(_name, choices))}")


def _fit_mapping(value: Any, arguments: tuple[Any, ...], path: str) -> dict[Any, Any]:
    if not isinstance(value, dict):
        _refuse(path, value, "must be an object")
    key_kind, kind = arguments or (Any, Any)
    return {
        _fit_key(key, key_kind, path): _fit(member, kind, f"{path}[{key!r}]")
        for key, member in value.items()
    }


def _fit_key(key: str, kind: Any, path: str) -> Any:
    try:
        return _fit(key, kind, f"a key of {path}")
    except DataMismatch as error:
        raise DataMismatch(f"{error}; keys are text in JSON", argument=path, value=key) from error


def _fit_items(value: Any, made: Any, arguments: tuple[Any, ...], path: str) -> Any:
    if not isinstance(value, list):
        _refuse(path, value, "must be a list")
    items = [
        _fit(item, kind, f"{path}[{at}]")
        for at, (item, kind) in enumerate(
            zip(value, _item_kinds(value, made, arguments, path), strict=True)
        )
    ]
    try:
        return made(items)
    except TypeError:
        _refuse(path, value, "holds what cannot stand in a set")


def _item_kinds(value: list[Any], made: Any, arguments: tuple[Any, ...], path: str) -> list[Any]:
    if made is not tuple or not arguments or arguments[-1] is Ellipsis:
        return [arguments[0] if arguments else Any] * len(value)
    if len(arguments) != len(value):
        _refuse(path, value, f"must be a list of {len(arguments)}")
    return list(arguments)


def _fit_named_tuple(value: Any, kind: Any, path: str) -> Any:
    hints = field_types(kind)
    kinds = [hints.get(name, Any) for name in kind._fields]
    if not isinstance(value, list):
        _refuse(path, value, "must be a list")
    if not len(kinds) - len(kind._field_defaults) <= len(value) <= len(kinds):
        _refuse(path, value, f"must be a list of {', '.join(kind._fields)}")
    items = zip(value, kinds, strict=False)
    return kind(*(_fit(item, hint, f"{path}[{at}]") for at, (item, hint) in enumerate(items)))


def _is_of(module: str, name: str, kind: type) -> bool:
    base = getattr(sys.modules.get(module), name, None)
    return base is not None and issubclass(kind, base)


def _name(kind: Any) -> str:
    return "null" if kind in (None, type(None)) else getattr(kind, "__name__", str(kind))
