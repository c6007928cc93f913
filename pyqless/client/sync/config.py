# SPDX-License-Identifier: MIT
"""Settings, for the client that blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from pyqless.client.requests import settings as requests
from pyqless.client.requests.settings import Setting
from pyqless.client.views.part import Part

if TYPE_CHECKING:
    from pyqless.client.sync.client import Client

__all__ = ["Config"]


class Config(Part):
    """
    The settings, which all clients of the storage share.

    It works as a dict does, too: ``config["heartbeat"] = 120``; ``config[name]`` raises ``KeyError`` for
    what is neither set nor has a default, and ``del config[name]`` goes back to the default.
    """

    client: Client

    def get(self, name: str, default: Setting | None = None) -> Setting | None:
        """
        Look a setting up.

        Args:
            default: for what is neither set nor has a default of its own.

        Returns:
            str, int or float: a number where it reads as one.
        """
        value = self.client.storage.run(requests.get(name))
        return default if value is None else value

    def set(self, name: str, value: Setting | timedelta) -> None:
        """
        Set a setting; a span of time, such as ``heartbeat``, to seconds or to a timedelta.

        Raises:
            InvalidArgument: the value is no good; of settings that qless knows, their meaning counts.
        """
        self.client.storage.run(requests.set_(name, value))

    def unset(self, name: str) -> None:
        """Go back to a setting's default."""
        self.client.storage.run(requests.unset(name))

    def all(self) -> dict[str, Setting]:
        """Give all settings, defaults included."""
        return self.client.storage.run(requests.get_all())

    def __getitem__(self, name: str) -> Setting:
        value = self.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __setitem__(self, name: str, value: Setting | timedelta) -> None:
        self.set(name, value)

    def __delitem__(self, name: str) -> None:
        self.unset(name)

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())
