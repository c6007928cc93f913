# SPDX-License-Identifier: MIT
"""A gate before a server on loopback, in one thread, so that what comes late can land while nothing else gets through."""

from __future__ import annotations

import contextlib
import math
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Self

__all__ = ["PATIENCE", "Gate", "Link", "say"]

#: how long anything may take on loopback, seconds
PATIENCE: Final = 30.0

_CHUNK: Final = 2**20


@dataclass(eq=False, slots=True)
class Link:
    """A client's connection and the one to the server that belongs to it."""

    #: whose it is
    number: int
    #: None once the client has gone, or was sent away
    client: socket.socket | None
    server: socket.socket
    #: what the server is to get later
    rest: bytes = b""
    #: after how many further EXECs of this client that lands; the next recovery, or EXEC, lets 0 land
    wait: float = 0
    #: after how many bytes of replies the client is sent away
    limit: float = math.inf
    #: the client has asked the server what became of its last EXEC
    asks: bool = False


class Gate:
    """
    A gate; as a context manager it lets everything land at the end of the block.

    Args:
        port: the server's.
        clients: how many there are.

    Attributes:
        ports: one for each client.
    """

    def __init__(self, port: int, clients: int) -> None:
        self._port = port
        self._listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(clients)]
        self.ports: Sequence[int] = [place.getsockname()[1] for place in self._listeners]
        self._links: set[Link] = set()
        #: what is to happen when, on the monotonic clock
        self._timers: list[tuple[float, Callable[[], None]]] = []
        self._ended, self._end = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.close()
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the gate does not come to its end"

    # -- what may go wrong ------------------------------------------------------------------------

    def admits(self, number: int) -> bool:
        """Whether a client gets a new connection."""
        return True

    def pass_on(self, link: Link, data: bytes) -> None:
        """Let the server have what a client has sent."""
        say(link.server, data)

    def before_reply(self, link: Link) -> None:
        """Let something happen before a client hears what the server says."""

    def settle(self) -> None:
        """Let the server have all that it has not had yet."""

    # -- the thread -------------------------------------------------------------------------------

    def _serve(self) -> None:
        with selectors.DefaultSelector() as self._selector:
            self._watch(self._ended, partial(self._selector.unregister, self._ended))
            for number, listener in enumerate(self._listeners):
                self._watch(listener, partial(self._accept, number, listener))
            while self._ended in self._selector.get_map():
                for key, _ in self._selector.select(self._until_next()):
                    # it may have been closed in another's turn
                    if self._selector.get_map().get(key.fd) is key:
                        key.data()
                self._ring(time.monotonic())
            self._close()

    def _close(self) -> None:
        self._ring(math.inf)
        self.settle()
        for link in list(self._links):
            self.send_away(link)
            self.finish(link)
        for source in (*self._listeners, self._ended):
            source.close()

    def _watch(self, source: socket.socket, act: Callable[[], object]) -> None:
        self._selector.register(source, selectors.EVENT_READ, act)

    def later(self, seconds: float, act: Callable[[], None]) -> None:
        """Let something happen after a while."""
        self._timers.append((time.monotonic() + seconds, act))

    def _until_next(self) -> float | None:
        if not self._timers:
            return None
        return max(0.0, min(when for when, _ in self._timers) - time.monotonic())

    def _ring(self, now: float) -> None:
        due = [act for when, act in self._timers if when <= now]
        self._timers = [timer for timer in self._timers if timer[0] > now]
        for act in due:
            act()

    # -- what passes ------------------------------------------------------------------------------

    def _accept(self, number: int, listener: socket.socket) -> None:
        client, _ = listener.accept()
        if not self.admits(number):
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self._port))
        for side in (client, server):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = Link(number, client, server)
        self._links.add(link)
        self._watch(client, partial(self._ask, link, client))
        self._watch(server, partial(self._answer, link))

    def _ask(self, link: Link, client: socket.socket) -> None:
        if data := _received(client):
            self.pass_on(link, data)
            return
        self.send_away(link)
        if not link.rest:
            say(link.server, b"", last=True)

    def _answer(self, link: Link) -> None:
        data = _received(link.server)
        if not data:
            self.send_away(link)
            self.finish(link)
            return
        self.before_reply(link)
        if link.client is None:
            return
        passing = data[: int(min(link.limit, len(data)))]
        link.limit -= len(passing)
        say(link.client, passing)
        if link.limit <= 0:
            self.send_away(link)

    def send_away(self, link: Link, *, abruptly: bool = False) -> None:
        """Close a client's connection; abruptly, by a reset."""
        if link.client is None:
            return
        self._selector.unregister(link.client)
        if abruptly:
            link.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        link.client.close()
        link.client = None

    def finish(self, link: Link) -> bytes:
        """Say the last word to the server, and hear what it still has to say."""
        self._links.discard(link)
        self._selector.unregister(link.server)
        said = b""
        with link.server as server, contextlib.suppress(ConnectionError):
            say(server, b"", last=True)
            server.settimeout(PATIENCE)
            while data := server.recv(_CHUNK):
                said += data
        return said


def say(sink: socket.socket, data: bytes, *, last: bool = False) -> None:
    """Send something, unless the other side has gone."""
    with contextlib.suppress(OSError):
        sink.sendall(data)
        if last:
            sink.shutdown(socket.SHUT_WR)


def _received(source: socket.socket) -> bytes:
    """What has come; empty at the end, whichever way that came."""
    try:
        return source.recv(_CHUNK)
    except OSError:
        return b""
