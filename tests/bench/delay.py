# SPDX-License-Identifier: MIT
"""
A network between a program and a server on loopback: ``python -m tests.bench.delay PORT SECONDS``.

Prints the port on which it listens. What comes in goes out later by the given time, in either direction, and waits for
nothing that came before it.
"""

from __future__ import annotations

import asyncio
import gc
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from tests.bench.ground import ROOT

__all__ = ["delayed"]


@contextmanager
def delayed(port: int, seconds: float) -> Iterator[int]:
    """Put a network in front of a server's port; gives the port at its other end."""
    words = [sys.executable, "-m", "tests.bench.delay", str(port), str(seconds)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as network:
        assert network.stdout is not None
        yield int(network.stdout.readline())
        network.communicate("")


class Side(asyncio.Protocol):
    """One end of a connection through the network."""

    transport: asyncio.Transport
    other: Side

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        known: socket.socket = transport.get_extra_info("socket")
        known.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        asyncio.get_running_loop().call_later(self.seconds, self.other.transport.write, data)

    def connection_lost(self, exc: Exception | None) -> None:
        asyncio.get_running_loop().call_later(self.seconds, self.other.transport.close)


class Entrance(Side):
    """The end at which the program comes in; what it says at once waits for the server's end."""

    def __init__(self, port: int, seconds: float) -> None:
        super().__init__(seconds)
        self.port = port

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.pause_reading()
        self.opening = asyncio.ensure_future(self._open())

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        _, self.other = await loop.create_connection(
            lambda: Side(self.seconds), "127.0.0.1", self.port
        )
        self.other.other = self
        self.transport.resume_reading()


async def serve(port: int, seconds: float) -> None:
    """Carry until the end of standard input."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Entrance(port, seconds), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    gc.freeze()
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    # epoll would wait in whole milliseconds
    with asyncio.Runner(
        loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())
    ) as runner:
        runner.run(serve(int(sys.argv[1]), float(sys.argv[2])))
