# SPDX-License-Identifier: MIT
"""The settings, which all clients of the store share."""

from __future__ import annotations

import json
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyqless.compat.qless.client import Client

__all__ = ["Config"]


class Config:
    """The settings as a dict: ``config[name]`` reads a number as one, and is None for what nobody has set."""

    def __init__(self, client: Client) -> None:
        self._client = client

    @property
    def all(self) -> dict[str, Any]:
        """All settings, the defaults included; those that were set are text."""
        settings: dict[str, Any] = self._client.read("config.get")
        return settings

    def __len__(self) -> int:
        return len(self.all)

    def __getitem__(self, option: str) -> Any:
        value = self._client("config.get", option)
        if not value:
            return None
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError:  # qless-py breaks on text; it may as well be given
            return value

    def __setitem__(self, option: str, value: Any) -> None:
        self._client("config.set", option, value)

    def __delitem__(self, option: str) -> None:
        self._client("config.unset", option)

    def __contains__(self, option: object) -> bool:
        return option in self.all

    def __iter__(self) -> Iterator[str]:
        return iter(self.all)

    def clear(self) -> None:
        """Go back to the defaults."""
        for option in self.all:
            del self[option]

    def get(self, option: str, default: Any = None) -> Any:
        """Give a setting, or a default where nobody has set it."""
        value = self[option]
        return default if value is None else value

    def items(self) -> ItemsView[str, Any]:
        """See ``dict.items``."""
        return self.all.items()

    def keys(self) -> KeysView[str]:
        """See ``dict.keys``."""
        return self.all.keys()

    def pop(self, option: str, default: Any = None) -> Any:
        """Unset a setting and give what it was."""
        value = self.get(option, default)
        del self[option]
        return value

    def update(
        self, other: Mapping[str, Any] | Iterable[tuple[str, Any]] = (), **kwargs: Any
    ) -> None:
        """See ``dict.update``."""
        for option, value in {**kwargs, **dict(other)}.items():
            self[option] = value

    def values(self) -> ValuesView[Any]:
        """See ``dict.values``."""
        return self.all.values()
