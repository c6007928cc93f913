# SPDX-License-Identifier: MIT
"""The fields of a job's or recurring job's hash, read with care: another program may have mangled them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from pyqless.core import lua
from pyqless.errors import CorruptedJob

__all__ = ["Fields", "Tags", "names_of", "with_more"]

#: What stands for a job's tags: a list of them, or an object, which the core takes for an empty list
#: but keeps, and shows, as it is.
Tags: TypeAlias = list[str | float] | dict[str, Any]


class Fields:
    """
    Typed access to a hash.

    Attributes:
        jid: whose it is.
        fields: the texts by name.

    Every method raises ``CorruptedJob`` where a field makes no sense.
    """

    __slots__ = ("fields", "jid")

    jid: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, jid: str, fields: Mapping[str, str]) -> Fields:
        """Some fields of a job."""
        self = cls()
        self.jid, self.fields = jid, fields
        return self

    def text(self, name: str) -> str:
        """A field that is always there."""
        text = self.fields.get(name)
        if text is None:
            raise self.corrupted(name)
        return text

    def number(self, name: str, default: float | None = None) -> float:
        """A field that holds a finite number; without a default, it is always there."""
        if default is not None and name not in self.fields:
            return default
        number = lua.to_number(self.fields.get(name))
        if number is None or not math.isfinite(number):
            raise self.corrupted(name)
        return number

    def whole(self, name: str) -> int:
        """A field that holds a whole number which the store can count up and down; 0 where it is absent."""
        number = lua.integer_text(self.fields.get(name, "0"))
        if number is None or abs(number) >= 2**63 - 1:
            raise self.corrupted(name)
        return number

    def json(self, name: str, default: str | None = None) -> Any:
        """A field that holds JSON which the core can show."""
        try:
            return lua.decode_writable(self.fields.get(name, default))
        except lua.JSONError as error:
            raise self.corrupted(name) from error

    def members(self, name: str, *members: str) -> list[str]:
        """Members of a field that holds a JSON object, as text; an empty one for each that is absent."""
        found = self.json(name, "{}")
        values = [found.get(each, "") if isinstance(found, dict) else "" for each in members]
        if not all(isinstance(value, str | float) for value in values):
            raise self.corrupted(name)
        return [lua.concat(value) for value in values]

    def kept_tags(self, default: str | None = None) -> Tags:
        """The field ``tags`` as it is to be kept."""
        tags = self.json("tags", default)
        if isinstance(tags, dict):
            return tags
        if not isinstance(tags, list) or not all(isinstance(tag, str | float) for tag in tags):
            raise self.corrupted("tags")
        return tags

    def tag_list(self, default: str | None = None) -> list[str | float]:
        """The tags that the field ``tags`` names."""
        if self.fields.get("tags", default) == "{}":
            return []
        return names_of(self.kept_tags(default))

    def corrupted(self, name: str) -> CorruptedJob:
        """The error that says that a field makes no sense."""
        value = self.fields.get(name)
        found = "is missing" if value is None else f"makes no sense: {value!r}"
        return CorruptedJob(
            f"job {self.jid}: the field {name!r} {found}", argument=name, value=value
        )


def names_of(tags: Tags) -> list[str | float]:
    """The tags that a job bears."""
    return [] if isinstance(tags, dict) else tags


def with_more(tags: Tags, new: Iterable[str]) -> Tags:
    """Tags and further ones; in an object these stand under their numbers, as Lua writes them."""
    if tags and isinstance(tags, dict):
        return tags | {str(number): tag for number, tag in enumerate(new, 1)}
    return [*names_of(tags), *new]
