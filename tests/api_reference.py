# SPDX-License-Identifier: MIT
"""
The pages on the classes and functions that programs use, made of their docstrings and signatures.

Write them anew with ``python -m tests.api_reference``.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parent.parent / "docs" / "reference"

_NOTE: Final = "This page is made of docstrings: `python -m tests.api_reference` writes it anew."

#: how long a signature may be on one line, characters
_WIDTH: Final = 100

_FIELD: Final = re.compile(r"    ([^\W_]\w*)(?:: ([^=]+?))?(?: = (.*))?")

_SECTIONS: Final = ("Args", "Attributes", "Returns", "Raises", "Warns")


class Page(NamedTuple):
    """A page, and the modules whose public names it shows, in this order."""

    name: str
    title: str
    modules: tuple[str, ...]
    about: str

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.md"

    @property
    def text(self) -> str:
        """The page as it should be."""
        objects = list(public(self))
        blocking = [each for each in objects if not _is_twin(each, objects)]
        parts = [f"# {self.title}", self.about, _NOTE, *map(_described, blocking)]
        if twins := [each for each in objects if _is_twin(each, objects)]:
            parts += ["## For asyncio", _twins(twins, dict(objects))]
        return "\n\n".join(parts) + "\n"


PAGES: Final = (
    Page(
        "client",
        "Clients",
        ("pyqless.client",),
        "`from pyqless import Client`, or from `pyqless.client` what is not there. How it is used is told in\n"
        "[put jobs](../how-to/put-jobs.md) and the other guides; every error is listed in [errors](errors.md).",
    ),
    Page(
        "worker",
        "Workers",
        (
            "pyqless.worker",
            "pyqless.worker.middleware",
            "pyqless.worker.janitor",
            "pyqless.worker.log",
        ),
        "`from pyqless.worker import SerialWorker`; middleware, janitor and log are modules of their own.\n"
        "See [run workers](../how-to/run-workers.md).",
    ),
    Page(
        "testing",
        "Help for tests",
        ("pyqless.testing",),
        "`from pyqless.testing import drain`. See [test your jobs](../how-to/test-your-jobs.md) and\n"
        "[check a storage of your own](../how-to/check-a-storage.md).",
    ),
)

Named = tuple[str, Any]


def public(page: Page) -> Iterator[Named]:
    """The names that a page shows, and what they name."""
    for module in map(importlib.import_module, page.modules):
        for name in module.__all__:
            yield name, getattr(module, name)


def _is_twin(named: Named, objects: list[Named]) -> bool:
    name = named[0]
    return name.startswith("Async") and name.removeprefix("Async") in dict(objects)


# -- one class or function --------------------------------------------------------------------


def _described(named: Named) -> str:
    name, what = named
    parts = [f"## {name}"]
    if not (inspect.isclass(what) or inspect.isfunction(what)):
        parts.append(_value(what))
    elif _has_arguments(what):
        parts += [_signature(name, what), _prose(what)]
    else:
        parts += [_prose(what), "\n".join(_fields(what))]
    if inspect.isclass(what):
        parts += [_member(each) for each in members(what)]
    return "\n\n".join(part for part in parts if part)


def _value(what: Any) -> str:
    """The name of a type, or several things."""
    if isinstance(what, tuple):
        return "\n".join(f"- {each.name}" for each in what)
    return f"`{re.sub(r'(typing|contextlib|collections.abc)[.]', '', str(what))}`"


def _has_arguments(what: Any) -> bool:
    """Whether it is called with what has to be told; a dataclass may be, or else shows its fields."""
    if not inspect.isclass(what):
        return True
    is_record = hasattr(what, "__dataclass_fields__")
    return "__init__" in vars(what) and ("Args:" in (what.__doc__ or "") or not is_record)


def _fields(owner: Any) -> Iterator[str]:
    """What stands in a class: the fields of a record, or the values of an enumeration, and the comments above."""
    is_enumeration = issubclass(owner, Enum)
    if not (is_enumeration or hasattr(owner, "_fields") or hasattr(owner, "__annotations__")):
        return
    comment: list[str] = []
    for line in inspect.getsource(owner).splitlines():
        if line.startswith("    #: "):
            comment.append(line.removeprefix("    #: "))
        elif (found := _FIELD.fullmatch(line)) and (found[2] or is_enumeration):
            name, kind, value = found.groups()
            told = f": {_inline(' '.join(comment))}" if comment else ""
            yield f"- `{name}` (`{value if is_enumeration else kind}`){told}"
            comment = []


def members(owner: type) -> Iterator[Named]:
    """Its own public methods and properties, then those of the classes below it, of this package."""
    shown = set()
    for kind in owner.__mro__:
        for name, member in vars(kind).items() if kind.__module__.startswith("pyqless.") else ():
            is_told = isinstance(member, property | classmethod) or inspect.isfunction(member)
            if is_told and not name.startswith("_") and name not in shown:
                shown.add(name)
                yield name, member


def function_of(member: Any) -> Any:
    """What a method or class method calls."""
    return inspect.unwrap(getattr(member, "__func__", member))


def _member(named: Named) -> str:
    name, member = named
    if isinstance(member, property):
        ways = ["read"] + ["assigned"] * bool(member.fset) + ["deleted"] * bool(member.fdel)
        kind = inspect.signature(member.fget).return_annotation if member.fget else ""
        told = "" if ways == ["read"] else f", can be {' and '.join(ways[1:])}"
        return f"### {name}\n\n`{kind}`{told}\n\n{_prose(member)}"
    function = function_of(member)
    return f"### {name}\n\n{_signature(name, function)}\n\n{_prose(function)}"


def _signature(name: str, what: Any) -> str:
    signature = inspect.signature(what)
    parameters = [
        each for each in signature.parameters.values() if each.name not in ("self", "cls")
    ]
    bare = signature.replace(parameters=parameters)
    if inspect.isclass(what):
        bare = bare.replace(return_annotation=bare.empty)
    prefix = "async " if inspect.iscoroutinefunction(what) else ""
    line = prefix + name + re.sub(r"'([^']*)'", r"\1", str(_unquoted(bare)))
    return f"```\n{line if len(line) <= _WIDTH else _broken(prefix + name, _unquoted(bare))}\n```"


def _unquoted(signature: inspect.Signature) -> inspect.Signature:
    """With annotations as they are written, and defaults that Python cannot write by their names."""
    shown = []
    for each in signature.parameters.values():
        default = each.default
        if default is not each.empty and repr(default).startswith("<"):
            default = _Name(getattr(default, "__name__", "..."))
        shown.append(each.replace(annotation=_shown(each.annotation), default=default))
    return signature.replace(
        parameters=shown, return_annotation=_shown(signature.return_annotation)
    )


class _Name(str):
    """Shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _shown(annotation: Any) -> Any:
    return _Name(annotation) if isinstance(annotation, str) else annotation


def _broken(name: str, signature: inspect.Signature) -> str:
    """A signature with a line for each parameter."""
    lines = []
    kinds = inspect.Parameter
    starred = False
    for each in signature.parameters.values():
        if each.kind is kinds.KEYWORD_ONLY and not starred:
            lines.append("    *,")
            starred = True
        starred |= each.kind is kinds.VAR_POSITIONAL
        lines.append(f"    {each},")
    returned = signature.return_annotation
    arrow = "" if returned is signature.empty else f" -> {returned}"
    return "\n".join([f"{name}(", *lines, f"){arrow}"])


# -- docstrings -------------------------------------------------------------------------------


def _prose(what: Any) -> str:
    """A docstring, its sections as lists."""
    lines: list[str] = []
    for line in (inspect.getdoc(what) or "").splitlines():
        section = line.removesuffix(":")
        if line.endswith(":") and section in _SECTIONS:
            lines.append(f"{section}:\n")
        elif line.startswith("        "):
            lines[-1] += f" {line.strip()}"
        elif line.startswith("    "):
            lines.append(f"- {_entry(line.strip())}")
        else:
            lines.append(line)
    return _inline("\n".join(lines)).strip()


def _entry(text: str) -> str:
    """What stands before the first colon is a name, or several."""
    found = re.match(r"([\w, ]+): (.*)", text)
    if found is None:
        return text
    names = ", ".join(f"`{name}`" for name in found[1].split(", "))
    return f"{names}: {found[2]}"


def _inline(text: str) -> str:
    return text.replace("``", "`").replace("<", "\\<")


# -- the twins for asyncio --------------------------------------------------------------------


def _twins(twins: list[Named], objects: dict[str, Any]) -> str:
    rows = [_twin(name, twin, objects[name.removeprefix("Async")]) for name, twin in twins]
    names = ", ".join(f"`{name}`" for name, _ in twins)
    told = "have the same methods, to be awaited; see [use asyncio](../how-to/use-asyncio.md). What differs:"
    return "\n\n".join([f"{names}\n{told}", *filter(None, rows)])


def _twin(name: str, twin: type, blocking: type) -> str:
    ours, theirs = dict(members(blocking)), dict(members(twin))
    gone = ", ".join(f"`{each}`" for each in ours if each not in theirs)
    new = ", ".join(f"`{each}`" for each in theirs if each not in ours)
    return f"- `{name}` has {new} instead of {gone}" if gone or new else ""


if __name__ == "__main__":
    for each_page in PAGES:
        each_page.path.write_text(each_page.text, encoding="utf-8")
