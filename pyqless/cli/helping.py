# SPDX-License-Identifier: MIT
"""How commands explain themselves: in plain columns, which are read in a narrow terminal, too."""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from textwrap import TextWrapper
from typing import Any, Final

__all__ = ["help_of", "notes", "usage"]

#: columns beyond which a line is hard to read, and below which nothing can be set
_WIDEST, _NARROWEST = 80, 40

#: characters of a name beside which its explanation stands; that of a longer one begins below it
_NAME: Final = 26

#: names of options, of modules and of hosts are typed again, and so stay in one piece
_Wrapper = partial(TextWrapper, break_on_hyphens=False, break_long_words=False)


def help_of(command: Any, ctx: Any) -> str:
    """All that is to be said of a command, no wider than the terminal."""
    width = max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns))
    told = [param for param in command.get_params(ctx) if not getattr(param, "hidden", False)]
    parts = (
        _Wrapper(width=width, subsequent_indent=" " * 7).fill(_usage_line(command, ctx)),
        *_paragraphs(command.help, width),
        _section("Arguments", map(_row, filter(_is_argument, told)), width),
        _section("Options", (_row(param) for param in told if not _is_argument(param)), width),
        _section("Commands", _commands(command), width),
        *_paragraphs(command.epilog, width),
    )
    return "\n\n".join(filter(None, parts))


def usage(params: Iterable[Any]) -> Iterator[str]:
    """What is typed behind the name of a command."""
    for param in filter(_is_argument, params):
        yield _name(param) if param.required else f"[{_name(param)}]"
    yield "[OPTION...]"


def notes(envvar: str | Sequence[str] | None, default: Any) -> str:
    """The variables that stand for a parameter, and its default; nothing of a flag's, which its name tells."""
    variables = [envvar] if isinstance(envvar, str) else envvar or []
    told = [f"variable {' or '.join(variables)}"] if variables else []
    if default and not isinstance(default, bool | tuple | list):
        told.append(f"default {f'{default:g}' if isinstance(default, float) else default}")
    return f" [{'; '.join(told)}]" if told else ""


def _usage_line(command: Any, ctx: Any) -> str:
    return f"Usage: {ctx.command_path} {' '.join(command.collect_usage_pieces(ctx))}"


def _paragraphs(text: str | None, width: int) -> Iterator[str]:
    """Paragraphs, whose lines in the source are of no account."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        yield _Wrapper(width=width).fill(paragraph)


def _section(title: str, rows: Iterable[tuple[str, str]], width: int) -> str:
    """A title and two columns; nothing if there are no rows."""
    found = list(rows)
    column = 4 + max((len(name) for name, _ in found if len(name) <= _NAME), default=0)
    lines = [line for name, text in found for line in _lines(name, text, column, width)]
    return "\n".join([f"{title}:", *lines]) if lines else ""


def _lines(name: str, text: str, column: int, width: int) -> list[str]:
    stands_alone = len(name) > _NAME
    first = " " * column if stands_alone else f"  {name}".ljust(column)
    wrapper = _Wrapper(width=width, initial_indent=first, subsequent_indent=" " * column)
    return [*([f"  {name}"] if stands_alone else []), *wrapper.wrap(text)]


def _commands(command: Any) -> Iterator[tuple[str, str]]:
    for name, below in getattr(command, "commands", {}).items():
        yield name, inspect.cleandoc(below.help or "").partition("\n\n")[0]


def _row(param: Any) -> tuple[str, str]:
    return _name(param), f"{param.help}{notes(param.envvar, param.default)}"


def _is_argument(param: Any) -> bool:
    return bool(param.param_type_name == "argument")


def _name(param: Any) -> str:
    """An argument, or an option with all its names, the shorter ones first, and what goes with them."""
    if _is_argument(param):
        return str(param.metavar)
    names = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    return f"{names} {param.metavar}" if param.metavar else names
