# SPDX-License-Identifier: MIT
"""Requests about settings."""

from __future__ import annotations

import math
from datetime import timedelta
from functools import partial
from typing import Final

from pyqless.client import checks
from pyqless.client.plain import plain_number
from pyqless.core import lua, settings
from pyqless.core.effects import Factory, Transition
from pyqless.core.settings import Settings
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidArgument

__all__ = ["Setting", "get", "get_all", "get_number", "get_whole", "set_", "unset"]

#: what a setting holds: whole numbers come as int
Setting = str | float

_WHOLE: Final = ("jobs-history-count", "max-job-history")
#: seconds, and days
_SPANS: Final = ("grace-period", "jobs-history", "max-worker-age")
_DAYS: Final = ("histogram-history", "stats-history")
#: these end the settings of single queues, too
_HEARTBEAT: Final = "heartbeat"
_LIMITS: Final = ("-max-concurrency", "-max-waiting")


def get(name: str) -> Factory[Setting | None]:
    """See ``Config.get``."""
    checked = checks.name("name", name)

    def begin(tx: Transaction) -> Transition[Setting | None]:
        value = yield from settings.get(tx, checked)
        return None if value is None else _shown(value)

    return begin


def get_all() -> Factory[dict[str, Setting]]:
    """See ``Config.all``."""

    def begin(tx: Transaction) -> Transition[dict[str, Setting]]:
        values = yield from settings.get_all(tx)
        return {name: _shown(value) for name, value in values.items()}

    return begin


def get_number(name: str) -> Factory[float | None]:
    """
    A setting that holds a number; None where it is not set.

    Raises:
        InvalidSetting: it holds something else.
    """

    def begin(tx: Transaction) -> Transition[float | None]:
        (text,) = yield from tx.snapshot(("HGET", tx.keys.config, name))
        return (
            None if text is None else plain_number(Settings([name], [text]).number(name, math.nan))
        )

    return begin


def get_whole(name: str) -> Factory[int | None]:
    """As ``get_number``, for a setting that counts something."""

    def begin(tx: Transaction) -> Transition[int | None]:
        number = yield from get_number(name)(tx)
        return None if number is None else int(number)

    return begin


def set_(name: str, value: Setting | timedelta, unset: str = "unset()") -> Factory[None]:
    """
    See ``Config.set``.

    Args:
        unset: what goes back to the default, as None, which a setting reads where it has none, does not.
    """
    checked = checks.name("name", name)
    if value is None:
        message = f"{name} cannot be None: {unset} goes back to its default"
        raise InvalidArgument(message, argument=name)
    return partial(settings.set_, name=checked, value=_text(name, value))


def unset(name: str) -> Factory[None]:
    """See ``Config.unset``."""
    return partial(settings.unset, name=checks.name("name", name))


def _text(name: str, value: Setting | timedelta) -> str:
    """A setting as text; one whose meaning is known is checked for it."""
    if name.endswith(_HEARTBEAT):
        return str(plain_number(checks.positive_span(name, value)))
    if name in _WHOLE or name.endswith(_LIMITS):
        return str(checks.whole(name, value))
    if name in _SPANS:
        return str(plain_number(checks.span(name, value)))
    if name in _DAYS:
        return str(plain_number(checks.number(name, value, least=0)))
    return checks.text(name, value) if isinstance(value, str) else str(checks.number(name, value))


def _shown(value: str | int) -> Setting:
    number = lua.to_number(value)
    return value if number is None or not math.isfinite(number) else plain_number(number)
