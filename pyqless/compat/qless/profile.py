# SPDX-License-Identifier: MIT
"""What a server does for a program, and how long that takes; told by its slow log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    import redis

    from pyqless.compat.qless.client import Client

__all__ = ["Profiler"]

#: how many commands are kept
LENGTH: Final = 100_000

#: every command is slow enough to be kept
_ALL: Final = {"slowlog-max-len": LENGTH, "slowlog-log-slower-than": 0}


class Profiler:
    """
    Times all commands that a server gets from anybody; it needs the right to change the server's settings.

    qless-py sums them up for each script as well; here there is none.
    """

    def __init__(self, client: Client) -> None:
        self._client: Any = self.clone(client)
        self._settings: dict[str, str] = {}
        self._timings: defaultdict[str, list[int]] = defaultdict(list)

    @staticmethod
    def clone(client: Client) -> redis.Redis:
        """Give the client of redis-py that reads the slow log."""
        return client.redis

    @staticmethod
    def pretty(timings: Mapping[str, Sequence[float]], label: str) -> None:
        """Print how often each command came and how long it took, microseconds; what took most first."""
        rows = sorted(
            ((sum(times), len(times), command) for command, times in timings.items()), reverse=True
        )
        print(label, "=" * 65, sep="\n")
        print(f"{'Command':>20} => {'Average':>13} | {'# Calls':>8} | {'Total time':>13}")
        print("-" * 65)
        for total, calls, command in rows:
            print(f"{command:>20} => {total / calls:10.5f} us | {calls:8} | {total:10.0f} us")

    def start(self) -> None:
        """Keep every command from now on."""
        self._settings = self._client.config_get("slowlog-*")
        for name, value in _ALL.items():
            self._client.config_set(name, value)
        self._client.slowlog_reset()

    def stop(self) -> None:
        """Put the server's settings back, and collect what was kept."""
        kept = self._client.slowlog_get(LENGTH)
        for name, value in self._settings.items():
            self._client.config_set(name, value)
        for entry in kept:
            words = entry["command"]
            text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
            command = text.partition(" ")[0].lower()
            if command not in ("config", "slowlog"):
                self._timings[command].append(entry["duration"])

    def display(self) -> None:
        """Print what was collected."""
        self.pretty(self._timings, "Raw Redis Commands")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.display()
