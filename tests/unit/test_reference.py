# SPDX-License-Identifier: MIT
"""What programs use is documented, and as it is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api_reference import PAGES, Page, function_of, members, public


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_page_is_current(page: Page) -> None:
    told = page.path.read_text(encoding="utf-8")
    assert told == page.text, "run python -m tests.api_reference"


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_public_name_has_a_section(page: Page) -> None:
    told = page.path.read_text(encoding="utf-8")
    sections = {*re.findall(r"^## (\w+)$", told, re.MULTILINE)}
    twins = {*re.findall(r"`(Async\w+)`", told.partition("## For asyncio")[2])}
    assert {name for name, _ in public(page)} <= sections | twins


def callables(page: Page) -> Iterator[tuple[str, Any]]:
    for name, what in public(page):
        if inspect.isclass(what) or inspect.isfunction(what):
            yield name, what
        for method, member in members(what) if inspect.isclass(what) else ():
            if not isinstance(member, property):
                yield f"{name}.{method}", function_of(member)


def arguments_told(what: Any) -> set[str]:
    section = (inspect.getdoc(what) or "").partition("Args:\n")[2].partition("\n\n")[0]
    return {*re.findall(r"^    (\w+):", section, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_the_arguments_that_are_told_are_there(page: Page) -> None:
    told = {name: (arguments_told(what), what) for name, what in callables(page)}
    assert any(arguments for arguments, _ in told.values())
    wrong = [
        (name, argument)
        for name, (arguments, what) in told.items()
        for argument in arguments - {*(inspect.signature(what).parameters if arguments else ())}
    ]
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_everything_public_says_what_it_does(page: Page) -> None:
    silent = [name for name, what in callables(page) if not inspect.getdoc(what)]
    assert silent == []
