# SPDX-License-Identifier: MIT
"""The runner of ``pyqless worker``: one of the user's own, or one for the modules that are named."""

from __future__ import annotations

import importlib
import sys

import typer

from pyqless.errors import InvalidArgument
from pyqless.worker import Finder, Runner
from pyqless.worker.middleware import time_limit

__all__ = ["import_anew", "runner_of"]


def runner_of(
    named: str | None, modules: list[str], limit: float | None, *, compat: bool, keep_results: bool
) -> Runner:
    """
    The runner that is named, or else one for modules.

    Args:
        named: ``MODULE:NAME``.
        limit: how long a job may run, seconds.

    Raises:
        InvalidArgument: a module cannot be imported.
        typer.BadParameter: neither is given, or what is named is no runner, or something is given that it says for itself.
    """
    if named is not None:
        given = {
            "--module": bool(modules),
            "--time-limit": limit is not None,
            "--compat": compat,
            "--keep-results": keep_results,
        }
        for option in filter(given.get, given):
            raise typer.BadParameter("does not go with --runner", param_hint=option)
        return _import(named)
    if not modules:
        text = "missing; say what jobs may name, or give --runner"
        raise typer.BadParameter(text, param_hint="--module")
    middleware = () if limit is None else (time_limit(limit),)
    finder = Finder(modules)
    finder.preload()
    return Runner(finder=finder, middleware=middleware, compat=compat, keeps_results=keep_results)


def _import(named: str) -> Runner:
    module, _, attribute = named.partition(":")
    if not module or not attribute:
        raise typer.BadParameter(f"{named!r} is no MODULE:NAME", param_hint="--runner")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # a module may raise anything while it is imported
        reason = f"{type(error).__name__}: {error}"
        text = f"runner: {named!r} cannot be imported: {reason}"
        raise InvalidArgument(text, argument="runner", value=named) from error
    if not isinstance(found, Runner):
        text = f"{named} is no pyqless.worker.Runner"
        raise typer.BadParameter(text, param_hint="--runner")
    return found


def import_anew(named: str) -> Runner:
    """
    The runner that is named, as its module and those of its functions are now.

    Raises as ``runner_of`` does; then all modules stay as they were, for processes that are yet to come, too.
    """
    finder, old = _import(named).finder, dict(sys.modules)
    finder.forget()
    sys.modules.pop(named.partition(":")[0], None)
    try:
        return _import(named)
    except Exception:
        sys.modules.update(old)
        raise
