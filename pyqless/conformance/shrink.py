# SPDX-License-Identifier: MIT
"""Make a sequence of calls that shows something as small as it can be while it still shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pyqless.conformance.protocol import Call

__all__ = ["shrink"]

#: whether calls, sent to an empty database, still show what they are to show
Shows = Callable[[list[Call]], bool]

#: plain words, to put in the place of others that are longer, or later in the alphabet
PLAIN: Final = ("0", "1", "{}", "j1", "w1", "K", "alpha", "1400000000")


def shrink(calls: list[Call], shows: Shows) -> list[Call]:
    """
    Leave out calls, first many at once, then one by one; then make the words of those left plainer.

    Args:
        calls: show it.
        shows: tells whether others do; it is asked often.

    Returns:
        calls that show it; without any one of them, or with any word plainer, they do not.
    """
    while True:
        fewer = _fewer(calls, shows)
        plainer = _plainer(fewer, shows)
        if plainer == calls:
            return calls
        calls = plainer


def _fewer(calls: list[Call], shows: Shows) -> list[Call]:
    chunk = max(len(calls) // 2, 1)
    while True:
        before = len(calls)
        start = 0
        while start < len(calls):
            rest = calls[:start] + calls[start + chunk :]
            if shows(rest):
                calls = rest
            else:
                start += chunk
        if chunk > 1:
            chunk //= 2
        elif len(calls) == before:
            return calls


def _plainer(calls: list[Call], shows: Shows) -> list[Call]:
    for index in range(len(calls)):
        while better := next(
            (
                changed
                for call in _plainer_calls(calls[index])
                if shows(changed := [*calls[:index], call, *calls[index + 1 :]])
            ),
            None,
        ):
            calls = better
    return calls


def _plainer_calls(call: Call) -> Iterator[Call]:
    """Give calls that are shorter, or of plainer words; none is ever reached from itself."""
    for length in (2, 1):  # options come in pairs
        for start in range(len(call) - length, 0, -1):
            yield call[:start] + call[start + length :]
    for place, word in enumerate(call[1:], 1):
        for plain in PLAIN:
            if (len(plain), plain) < (len(word), word):
                yield (*call[:place], plain, *call[place + 1 :])
