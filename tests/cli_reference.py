# SPDX-License-Identifier: MIT
"""
The page docs/reference/cli.md, made of what the commands say of themselves.

Write it anew with ``python -m tests.cli_reference``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Signature, getdoc, signature
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo, OptionInfo

from pyqless.cli.app import app
from pyqless.cli.helping import notes

PAGE: Final = Path(__file__).parent.parent / "docs" / "reference" / "cli.md"

#: options that most commands have, by the names of their parameters
_SHARED: Final = {"url": "--url", "namespace": "--namespace", "as_json": "--json"}

_HEAD: Final = """\
# Command line

`pyqless COMMAND [ARGUMENT...] [OPTION...]`; it comes with the extra `cli`: `pip install 'pyqless[cli]'`.

This page is made of the commands' own help: `python -m tests.cli_reference` writes it anew.

**The store** is named by `--url`, and for `doctor`, `dump`, `load` and `diff` by the argument `URL`. If it is not, the
commands choose as programs do, see [URLs](urls.md): by the variable `PYQLESS_URL`, or else `REDIS_URL`, or else it is a
file in the user's state directory, and they say so on stderr. Commands that only look change nothing, so that a user
without the right to write may use them.

`--namespace` gives what stands before the first colon of every key, `ql` unless given.

**Times** are spans: `90` or `90s`, `15m`, `2h`, `7d`, `1w`; a number alone is one of seconds. The **size** that
`--max-memory` takes is `500M` or `2G`; a number alone is one of MiB.

**A value that begins with a minus**, such as `-5`, is one where an argument is expected, and so is any text for a setting
or a tag. In front of others, and of those that begin with two, stands `--`, behind which nothing is an option:
`pyqless job -- -x`.

**Output**: on a terminal tables with colours, which leave out tags and data where there is little room, and show what a
row tells a line a column where there is too little; elsewhere plain columns, in which characters that steer a terminal
are shown as escapes. `--json` prints one document, but for `put` and `events`, which print a line each, and `janitor`,
which prints one line. Names in documents stay as they are. Commands that answer nothing know no `--json`.

**Errors** are told on stderr in one line; exit statuses are in [a table of their own](exit-codes.md).

**Many jobs at once**: `cancel`, `retry` and `move` take either the jids of jobs, and then act at once, or filters. With
filters they show how many jobs are meant, and some of them, and do nothing unless `--yes` is given. Each job is looked
at again before anything is done to it: one that fits the filters no more is kept as it is.

**Completion** of commands and options: `pyqless --install-completion` for the shell in use, `pyqless --show-completion`
to look at it first.
"""


class Parameter(NamedTuple):
    """An argument or an option, as a command's function declares it."""

    name: str
    kind: Any
    info: ArgumentInfo | OptionInfo
    default: Any

    @property
    def is_option(self) -> bool:
        return isinstance(self.info, OptionInfo)

    @property
    def switch(self) -> str:
        """What is typed: the name of an argument, or an option's names and its value."""
        if not self.is_option:
            name = self.info.metavar or self.name.upper()
            return name if self.default is Signature.empty else f"[{name}]"
        # typer takes the first of them for a default at first
        given = [self.info.default, *(self.info.param_decls or ())]
        names = ", ".join(name.replace("/", ", ") for name in given if isinstance(name, str))
        return f"{names} {self.info.metavar}" if self.info.metavar else names

    @property
    def notes(self) -> str:
        """The variables that stand for it, and its default."""
        return notes(self.info.envvar, None if self.default is Signature.empty else self.default)

    @property
    def is_shared(self) -> bool:
        """Whether it is told once for all commands."""
        return self.is_option and self.name in _SHARED


def commands(
    group: Typer = app, *names: str
) -> Iterator[tuple[tuple[str, ...], Callable[..., Any]]]:
    """Walk through all commands that do something: their names and functions."""
    for command in group.registered_commands:
        assert command.callback is not None
        yield (*names, command.name or command.callback.__name__), command.callback
    for below in group.registered_groups:
        assert below.typer_instance is not None
        yield from commands(below.typer_instance, *names, str(below.name))


def parameters(function: Callable[..., Any]) -> Iterator[Parameter]:
    """What a command takes."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in signature(function).parameters.items():
        kind, info = get_args(hints[name])[:2]
        yield Parameter(name, kind, info, parameter.default)


def page() -> str:
    """The page as it should be."""
    return "\n".join([_HEAD, *(_section(names, function) for names, function in commands())])


def _section(names: tuple[str, ...], function: Callable[..., Any]) -> str:
    found = sorted(parameters(function), key=lambda each: each.is_option)
    arguments = [each.switch for each in found if not each.is_option]
    usage = " ".join(["pyqless", *names, *arguments, "[OPTION...]"])
    rows = [_row(each) for each in found if not each.is_shared]
    shared = ", ".join(f"`{_SHARED[each.name]}`" for each in found if each.is_shared)
    parts = [f"## {' '.join(names)}", f"`{usage}`", _escaped(getdoc(function))]
    if rows:
        parts.append("\n".join(["| | |", "| --- | --- |", *rows]))
    if shared:
        parts.append(f"And {shared}.")
    return "\n\n".join(parts) + "\n"


def _row(parameter: Parameter) -> str:
    return f"| `{parameter.switch}` | {_escaped(parameter.info.help)}{parameter.notes} |"


def _escaped(text: str | None) -> str:
    return (text or "").strip().replace("|", "\\|").replace("*", "\\*").replace("<", "\\<")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
