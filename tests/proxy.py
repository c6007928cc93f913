# SPDX-License-Identifier: MIT
"""A proxy in front of a server on loopback that looks at the bytes, and fails at a chosen one."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, NamedTuple, Self

__all__ = ["Direction", "Fault", "Proxy", "proxied"]

#: ``request``: from the client to the server; ``reply``: back
Direction = Literal["request", "reply"]

#: ``cut``: both sides are closed.
#: ``lose``: the client sees the connection end, the server gets all that the client has sent.
#: ``park``: likewise, but the server gets the rest only later.
#: ``stall``: nothing more arrives; once the client has given up, the server gets the rest.
Action = Literal["cut", "lose", "park", "stall"]

#: how long anything may take on loopback, seconds
PATIENCE = 10.0


class Fault(NamedTuple):
    """What goes wrong with a connection."""

    action: Action
    direction: Direction
    #: behind so many bytes
    at: int
    #: after how many seconds a parked rest goes on; None: when ``Proxy.release`` is called
    seconds: float | None = None


class _Link:
    """A client's connection and the one to the server that belongs to it."""

    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        #: the client gets nothing more
        self.deaf = False
        #: the rest is to be parked, once the client has closed the connection
        self.parks = False
        #: what the server shall get later
        self.parked: bytes | None = None
        self.is_parked = threading.Event()
        #: the server has said its last word
        self.over = threading.Event()

    def close(self) -> None:
        for side in (self.client, self.server):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)

    def deliver(self, rest: bytes) -> None:
        """Give the server the rest, and wait until it has done with it."""
        with contextlib.suppress(OSError):
            self.server.sendall(rest)
            self.server.shutdown(socket.SHUT_WR)
        assert self.over.wait(PATIENCE), "the server does not end the connection"


class Proxy:
    """
    A proxy on a port of its own.

    Args:
        port: the server's.
    """

    def __init__(self, port: int) -> None:
        #: the server's port; connections that are made later go to the one that it is set to
        self.target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        #: what has passed since ``watch``: a run of bytes in one direction, then one in the other, ...
        self.runs: list[tuple[Direction, bytes]] = []
        #: chooses what goes wrong with some bytes; the fault counts from the first of them
        self.choose: Callable[[Direction, bytes], Fault | None] = lambda direction, data: None
        #: how many bytes are passed on at once, and how long it then waits, seconds
        self.piece = 65536
        self.pace = 0.0
        self._lock = threading.Lock()
        self._links: list[_Link] = []
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def watch(self) -> None:
        """Forget what has passed."""
        with self._lock:
            self.runs = []

    def arm(self, fault: Fault) -> None:
        """Let the connection fail behind the given byte, counted from now on."""
        left = fault.at

        def choose(direction: Direction, data: bytes) -> Fault | None:
            nonlocal left
            if direction != fault.direction:
                return None
            before, left = left, left - len(data)
            if not 0 <= before <= len(data):
                return None
            left = -1
            return fault._replace(at=before)

        self.choose = choose

    def calm(self) -> None:
        """Let nothing go wrong any more."""
        self.choose = lambda direction, data: None

    def release(self) -> None:
        """Let the server have what is parked, and wait until it has done with it."""
        for link in self._links:
            if link.parks:
                assert link.is_parked.wait(PATIENCE), "the client keeps the connection"
            if link.parked is not None:
                rest, link.parked = link.parked, None
                link.deliver(rest)

    def wait(self) -> None:
        """Wait until the first connection is over."""
        assert self._links[0].over.wait(PATIENCE), "it goes on"

    def close(self) -> None:
        """Close everything."""
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for link in self._links:
            link.close()
        for thread in self._threads:
            thread.join(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- threads ----------------------------------------------------------------------------------

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.target))
                except OSError:
                    client.close()
                    continue
                for side in (client, server):
                    side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                link = _Link(client, server)
                self._links.append(link)
                self._start(self._requests, link)
                self._start(self._replies, link)

    def _requests(self, link: _Link) -> None:
        with link.client, contextlib.suppress(OSError):
            with contextlib.suppress(ConnectionResetError):
                while data := link.client.recv(65536):
                    fault = self._pass("request", data, link.server)
                    if fault:
                        self._fail(link, fault, data[fault.at :])
                        return
            link.server.shutdown(socket.SHUT_WR)

    def _replies(self, link: _Link) -> None:
        with link.server, contextlib.suppress(OSError):
            while data := link.server.recv(65536):
                if link.deaf:
                    self._note("reply", data)
                    continue
                with contextlib.suppress(OSError):  # the client may be gone, or deaf since just now
                    self._reply(link, data)
        link.over.set()
        with contextlib.suppress(OSError):
            link.client.shutdown(socket.SHUT_WR)

    def _reply(self, link: _Link, data: bytes) -> None:
        fault = self._pass("reply", data, link.client)
        if fault is None:
            return
        link.deaf = True
        if fault.action == "cut":
            link.close()
        elif fault.action != "stall":
            link.client.shutdown(socket.SHUT_WR)

    def _pass(self, direction: Direction, data: bytes, sink: socket.socket) -> Fault | None:
        self._note(direction, data)
        with self._lock:
            fault = self.choose(direction, data)
        passing = data if fault is None else data[: fault.at]
        for at in range(0, len(passing), self.piece):
            sink.sendall(passing[at : at + self.piece])
            if self.pace:
                time.sleep(self.pace)
        return fault

    def _note(self, direction: Direction, data: bytes) -> None:
        with self._lock:
            if self.runs and self.runs[-1][0] == direction:
                self.runs[-1] = (direction, self.runs[-1][1] + data)
            else:
                self.runs.append((direction, data))

    def _fail(self, link: _Link, fault: Fault, rest: bytes) -> None:
        if fault.action == "cut":
            link.close()
            return
        link.deaf = True
        link.parks = fault.action == "park" and fault.seconds is None
        if fault.action != "stall":
            link.client.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            while data := link.client.recv(65536):
                rest += data
        if link.parks:
            link.parked = rest
            link.is_parked.set()
            return
        time.sleep(fault.seconds or 0.0)
        link.deliver(rest)


@contextmanager
def proxied(url: str) -> Iterator[tuple[Proxy, str]]:
    """Put a proxy in front of the server of a URL; gives it, and its URL."""
    port = int(url.rpartition(":")[2].partition("/")[0])
    with Proxy(port) as proxy:
        yield proxy, url.replace(f":{port}", f":{proxy.port}")
