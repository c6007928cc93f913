# SPDX-License-Identifier: MIT
"""What is wrong with a command line, told by the names and the values that its user has typed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from pyqless.cli.dashes import told_apart, url_in_place
from pyqless.cli.helping import help_of, usage
from pyqless.cli.status import Status
from pyqless.client import checks
from pyqless.core.wording import counted
from pyqless.errors import InvalidArgument

__all__ = ["Command", "Group", "adopt"]

#: what the library calls an argument, and what commands call it, where the two are not the same
_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "name": ("queue", "to", "names"),
    "worker_name": ("worker", "name"),
    "jid": ("jids",),
    "interval": ("every",),
    "seconds": ("limit",),
    "processes": ("count",),
    "threads": ("count",),
    "concurrency": ("count",),
    "jobs": ("max_jobs",),
    "memory": ("max_memory",),
}


#: what is wrong with a number, by the name that typer's validator has for it
_FAULTS: Final[Mapping[str, str]] = {
    "float_parsing": "is no number",
    "int_parsing": "is no whole number",
    "int_parsing_size": "has too many figures",
    "greater_than_equal": "is less than {ge:,}",
    "less_than_equal": "is greater than {le:,}",
}


def adopt(app: typer.Typer) -> None:
    """Make all commands of an app, and of those below it, such as are described here."""
    app.info.cls = Group
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            adopt(group.typer_instance)


class Group(TyperGroup):
    """Commands below a common name."""

    def get_help(self, ctx: Any) -> str:
        """See ``help_of``."""
        return help_of(self, ctx)

    def collect_usage_pieces(self, _ctx: Any) -> list[str]:
        """What is typed behind the name."""
        return ["COMMAND", "[ARGUMENT...]", "[OPTION...]"]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer does; the name alone is answered by the help."""
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            raise typer.Exit(Status.USAGE)
        return super().parse_args(ctx, args)


class Command(TyperCommand):
    """A command whose errors name argument and value."""

    def get_help(self, ctx: Any) -> str:
        """See ``help_of``."""
        return help_of(self, ctx)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What is typed behind the name."""
        return [*usage(self.get_params(ctx))]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As typer does; a value that is no good is shown, with the one name that it has come by."""
        ctx.allow_extra_args = True  # they are told below
        try:
            params = self.get_params(ctx)
            rest = super().parse_args(ctx, told_apart(params, url_in_place(params, args)))
        except typer.BadParameter as fault:
            fault.message = _text(fault)
            if getattr(fault.param, "envvar", None):
                fault.param_hint = _origin(ctx, fault.param)
            raise
        if rest and not ctx.resilient_parsing:
            ctx.fail(f"{counted(len(rest), 'argument')} too many: {' '.join(rest)}")
        return rest

    def invoke(self, ctx: Any) -> Any:
        """As typer does; of what the library refuses, the option or the argument is told."""
        try:
            return super().invoke(ctx)
        except InvalidArgument as fault:
            name, text = str(fault.argument), str(fault)
            param = _typed(ctx, name, fault.value)
            if param is not None and text.startswith(name):
                fault.args = (_label(param) + text.removeprefix(name),)
            raise


def _text(fault: typer.BadParameter) -> str:
    """The message, with the value."""
    text = fault.message.removeprefix("Value error, ")
    # typer tells the value in the error of its validator alone, and earlier versions in the message
    errors: list[dict[str, Any]] = getattr(fault.__cause__, "errors", list)()
    for error in errors[:1]:
        value = checks.shown(error["input"])
        if (told := _FAULTS.get(error["type"])) is not None:
            return f"{value} {told.format_map(error.get('ctx', {}))}"
        if value not in text:
            return f"{text}: {value}"
    return text


def _origin(ctx: Any, param: Any) -> str:
    """The option, or else the variable of the environment, that has said it."""
    if _is_typed(ctx, param):
        return f"'{_label(param)}'"
    variables = [param.envvar] if isinstance(param.envvar, str) else param.envvar
    return next((name for name in variables if os.environ.get(name)), _label(param))


def _typed(ctx: Any, argument: str, value: Any) -> Any:
    """The parameter that has brought an argument of the library; None if none was typed."""
    names = (argument, *_ALIASES.get(argument, ()))
    found = [param for param in ctx.command.params if param.name in names and _is_typed(ctx, param)]
    return min(found, key=lambda param: not _holds(ctx.params[param.name], value), default=None)


def _holds(given: Any, value: Any) -> bool:
    return bool(given == value) or (isinstance(given, list | tuple) and value in given)


def _is_typed(ctx: Any, param: Any) -> bool:
    return getattr(ctx.get_parameter_source(param.name), "name", None) == "COMMANDLINE"


def _label(param: Any) -> str:
    """A parameter as the help shows it."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name).removesuffix("...")
    return str(max(param.opts, key=len))
