# SPDX-License-Identifier: MIT
"""How contestants are opened, each at a URL of its own."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import hiredis
import redis
import redis.asyncio

from pyqless import AsyncClient, Client
from tests.bench.contestants import RELEASE, AsyncLua, Contestant, Lua, Pyqless, Reqless, worker

__all__ = ["KINDS", "RawSocket", "loaded", "script"]


def script() -> str:
    """The text of the Lua core."""
    return (RELEASE / "reqless" / "lua" / "qless.lua").read_text()


def _pyqless(url: str) -> Pyqless:
    return Pyqless(Client(url, worker_name=worker()))


def _pyqless_asyncio(url: str) -> Pyqless:
    return Pyqless(AsyncClient(url, worker_name=worker()))


def _memory(_: str) -> Pyqless:
    return _pyqless("memory://")


def _evalsha(url: str) -> Lua:
    client = redis.Redis.from_url(url)
    return Lua(partial(client.evalsha, loaded(url), 0), client.close)


def _evalsha_asyncio(url: str) -> Lua:
    client = redis.asyncio.Redis.from_url(url)
    return AsyncLua(partial(client.evalsha, loaded(url), 0), client.aclose)


def _raw(url: str) -> Lua:
    connection = RawSocket(url)
    return Lua(partial(connection.call, b"EVALSHA", loaded(url), b"0"), connection.close)


def loaded(url: str) -> str:
    """Load the script; gives its digest."""
    with redis.Redis.from_url(url) as client:
        return str(client.script_load(script()))


class RawSocket:
    """The least that can stand between a program and a server."""

    def __init__(self, url: str) -> None:
        place = redis.ConnectionPool.from_url(url).connection_kwargs
        if "path" in place:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.connect(place["path"])
        else:
            self._socket = socket.create_connection((place["host"], place["port"]))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.close = self._socket.close
        self._reader = hiredis.Reader()
        self.call(b"SELECT", str(place["db"]))

    def call(self, *words: Any) -> Any:
        """Send a command; gives its reply."""
        self._socket.sendall(hiredis.pack_command(words))
        return self._reply()

    def exchange(self, packed: Sequence[bytes]) -> list[Any]:
        """Send commands in one packet; gives their replies."""
        self._socket.sendall(b"".join(packed))
        return [self._reply() for _ in packed]

    def _reply(self) -> Any:
        while (reply := self._reader.gets()) is False:
            self._reader.feed(self._socket.recv(65536))
        if isinstance(reply, hiredis.ReplyError):
            raise reply
        return reply


#: how each is opened at a URL of its own
KINDS: Final[dict[str, Callable[[str], Contestant]]] = {
    "pyqless": _pyqless,
    "pyqless asyncio": _pyqless_asyncio,
    "pyqless memory": _memory,
    "evalsha": _evalsha,
    "evalsha asyncio": _evalsha_asyncio,
    "raw socket": _raw,
    "reqless": Reqless,
}
