# SPDX-License-Identifier: MIT
"""Classes and their names; those of this package go by the names that they have in qless-py."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Final

__all__ = ["class_name", "import_class", "module_of"]

#: what stands before the names of qless-py here
_PREFIX: Final = __name__.removesuffix("qless.util")


def class_name(klass: str | type) -> str:
    """The dotted name under which workers find a class; a name is given back as it is."""
    if isinstance(klass, str):
        return klass
    return f"{klass.__module__.removeprefix(_PREFIX)}.{klass.__name__}"


def module_of(name: str) -> ModuleType:
    """
    Import the module that a class's dotted name begins with.

    Raises:
        ImportError: there is no such module.
        ValueError: the name has no dot.
    """
    module = name.rpartition(".")[0]
    is_own = module.partition(".")[0] == "qless"
    return import_module(_PREFIX + module if is_own else module)


def import_class(klass: str) -> Any:
    """Import a class by its dotted name."""
    return getattr(module_of(klass), klass.rpartition(".")[2])
