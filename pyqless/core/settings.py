# SPDX-License-Identifier: MIT
"""The settings in the config hash: their defaults, and how a rule reads them (config.lua)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from pyqless.core import lua
from pyqless.core.effects import Command, Transition
from pyqless.core.keys import Keys
from pyqless.core.messages import publish_log
from pyqless.core.transaction import Transaction
from pyqless.errors import InvalidSetting

__all__ = ["DEFAULTS", "Settings", "get", "get_all", "set_", "unset"]

#: what ``config.get`` shows for a setting that nobody has set
DEFAULTS: dict[str, str | int] = {
    "application": "qless",
    "heartbeat": 60,
    "grace-period": 10,
    "stats-history": 30,
    "histogram-history": 7,
    "jobs-history-count": 50000,
    "jobs-history": 604800,
}


#: how many entries a history may have unless ``max-job-history`` says otherwise; the core shows no default for it
_USUAL_HISTORY: Final = 100


class Settings:
    """
    Some settings, as one transaction saw them.

    ``Settings.read`` makes the read; the constructor takes the same names and its reply.
    """

    __slots__ = ("_texts",)

    def __init__(self, names: Iterable[str], texts: Iterable[str | None]) -> None:
        self._texts = dict(zip(names, texts, strict=True))

    @staticmethod
    def read(keys: Keys, names: Iterable[str]) -> Command:
        """The read whose reply the constructor wants."""
        return ("HMGET", keys.config, *names)

    @staticmethod
    def heartbeat_names(queue: str) -> tuple[str, str]:
        """The settings that ``heartbeat`` looks at."""
        return queue + "-heartbeat", "heartbeat"

    def number(self, name: str, default: float) -> float:
        """
        A setting as a number.

        Raises:
            InvalidSetting: its text is no finite number.
        """
        text = self._texts[name]
        if text is None:
            return default
        number = lua.to_number(text)
        if number is None or not math.isfinite(number):
            raise InvalidSetting(
                f"the setting {name!r} is not a finite number: {text!r}", argument=name, value=text
            )
        return number

    def heartbeat(self, queue: str) -> float:
        """For how many seconds a lock in this queue holds."""
        own, common = self.heartbeat_names(queue)
        return self.number(own if self._texts[own] is not None else common, 60.0)

    def history_limit(self) -> int:
        """
        How many entries a job's history may have; 0 and below: any number (history in job.lua).

        Raises:
            InvalidSetting: the setting is above 0 and not whole.
        """
        if self._texts["max-job-history"] is None:
            return _USUAL_HISTORY
        limit = self.number("max-job-history", _USUAL_HISTORY)
        if limit <= 0:
            return 0
        return self.whole("max-job-history", limit)

    def completed_count(self) -> int:
        """
        How many completed jobs are kept.

        Raises:
            InvalidSetting: the setting is not whole.
        """
        return self.whole("jobs-history-count", self.number("jobs-history-count", 50000.0))

    def whole(self, name: str, number: float) -> int:
        """
        A number that was computed from a setting, as the store takes it.

        Raises:
            InvalidSetting: it is not whole.
        """
        whole = lua.integer_argument(number)
        if whole is None:
            raise InvalidSetting(
                f"the setting {name!r} is not a whole number: {self._texts[name]!r}",
                argument=name,
                value=self._texts[name],
            )
        return whole


def get(tx: Transaction, name: str) -> Transition[str | int | None]:
    """A setting: its text where it is set, else its default, else None."""
    (text,) = yield from tx.snapshot(("HGET", tx.keys.config, name))
    return text if text is not None else DEFAULTS.get(name)


def get_all(tx: Transaction) -> Transition[dict[str, str | int]]:
    """Every setting that is set or has a default."""
    (texts,) = yield from tx.snapshot(("HGETALL", tx.keys.config))
    return {**DEFAULTS, **texts}


def set_(tx: Transaction, name: str, value: str) -> Transition[None]:
    """Set a setting; its text is not looked at until it is used."""
    publish_log(tx, event="config_set", option=name, value=value)
    tx.hset(tx.keys.config, name, value)
    return
    yield


def unset(tx: Transaction, name: str) -> Transition[None]:
    """Take a setting back to its default."""
    publish_log(tx, event="config_unset", option=name)
    tx.hdel(tx.keys.config, name)
    return
    yield
