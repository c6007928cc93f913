# SPDX-License-Identifier: MIT
"""The ground that contestants meet on: a server, the cores it runs on, and the time it spends."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from tests import servers
from tests.servers import Kind, Server

__all__ = ["FULL", "ROOT", "Ground", "open_ground", "quantile"]

ROOT: Final = Path(__file__).parents[2]

#: how much is measured: all of it, or just enough to see that the benchmarks work
FULL: Final = os.environ.get("PYQLESS_BENCH") == "full"


@dataclass(frozen=True)
class Ground:
    """A server of this run's own, that persists nothing and forbids nothing."""

    server: Server
    #: where it listens beside its port
    socket: Path

    def url(self, database: int, *, unix: bool = False) -> str:
        """Where a contestant has a database to itself."""
        if unix:
            return f"unix://{self.socket}?db={database}"
        return f"redis://127.0.0.1:{self.server.port}/{database}"

    def flush(self) -> None:
        """Empty all databases, however long that takes."""
        with self.server.client(socket_timeout=None) as client:
            client.flushall()

    def cpu(self) -> int:
        """The time that the server's main thread has been running so far, nanoseconds."""
        return int(Path(f"/proc/{self.server.process.pid}/schedstat").read_text().split()[0])

    @property
    def name(self) -> str:
        """What the server is."""
        return f"{self.server.kind.rstrip('0123456789').title()} {self.server.version}"

    @contextmanager
    def pinned(self, cores: Sequence[int]) -> Iterator[None]:
        """Keep the server on the last of these cores, and this process on the first."""
        pids = {0: {cores[0]}, self.server.process.pid: {cores[-1]}}
        before = {pid: os.sched_getaffinity(pid) for pid in pids}
        try:
            for pid, core in pids.items():
                os.sched_setaffinity(pid, core)
            yield
        finally:
            for pid, everywhere in before.items():
                os.sched_setaffinity(pid, everywhere)


@contextmanager
def open_ground(kind: Kind, directory: Path, *options: str) -> Iterator[Ground]:
    """
    Start a server for a benchmark.

    Args:
        directory: for its socket; the path must be short.
        options: further ones of the server.
    """
    socket = directory / "s"
    with servers.start(kind, "plain", extra_args=["--unixsocket", str(socket), *options]) as server:
        yield Ground(server, socket)


def quantile(values: Collection[float], part: float) -> float:
    """The value below which this part of the values lies; NaN where there are none."""
    if not values:
        return float("nan")
    if part == 0.5:
        return median(values)
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]
