# SPDX-License-Identifier: MIT
"""As ``wire``, where a connection has no socket, as fakeredis's: redis-py reads the replies, one by one."""

from __future__ import annotations

from typing import Any

from redis.exceptions import ExecAbortError, NoPermissionError, RedisError, ResponseError

from pyqless.core.effects import Command
from pyqless.storage.redis.protocol import ServerError, pack
from pyqless.storage.redis.steps import LinkLost

__all__ = ["AsyncPiecemealWire", "PiecemealWire"]


def _text(reply: Any) -> Any:
    """A reply as our own reader gives it."""
    if isinstance(reply, bytes):
        return reply.decode("utf-8", "surrogateescape")
    if isinstance(reply, list):
        return [_text(item) for item in reply]
    if isinstance(reply, set):
        return {_text(item) for item in reply}
    if isinstance(reply, dict):
        return {_text(key): _text(value) for key, value in reply.items()}
    return _server_error(reply) if isinstance(reply, ResponseError) else reply


#: error classes that redis-py strips the code from
_CODES = {NoPermissionError: "NOPERM", ExecAbortError: "EXECABORT"}


def _server_error(error: ResponseError) -> ServerError:
    code = _CODES.get(type(error))
    return ServerError(f"{code} {error}" if code else str(error))


class PiecemealWire:
    """
    A connection that only redis-py can read.

    Args:
        pool: it was borrowed from.
    """

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection

    def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        """As ``Wire.exchange``."""
        try:
            self._connection.send_packed_command([pack(commands)], check_health=False)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=False) from error
        return [self._receive() for _ in commands]

    def _receive(self) -> Any:
        try:
            return _text(self._connection.read_response(disable_decoding=True))
        except ResponseError as error:
            return _server_error(error)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=True) from error

    def close(self) -> None:
        """As ``Wire.close``."""
        self._connection.disconnect()
        self._pool.release(self._connection)


class AsyncPiecemealWire:
    """As ``PiecemealWire``, of redis.asyncio."""

    def __init__(self, pool: Any, connection: Any) -> None:
        self._pool = pool
        self._connection = connection

    async def exchange(self, commands: tuple[Command, ...]) -> list[Any]:
        """As ``AsyncWire.exchange``."""
        try:
            await self._connection.send_packed_command([pack(commands)], check_health=False)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=False) from error
        return [await self._receive() for _ in commands]

    async def _receive(self) -> Any:
        try:
            return _text(await self._connection.read_response(disable_decoding=True))
        except ResponseError as error:
            return _server_error(error)
        except (RedisError, OSError) as error:
            raise LinkLost(error, sent=True) from error

    async def close(self) -> None:
        """As ``AsyncWire.close``."""
        await self._connection.disconnect(nowait=True)
        await self._pool.release(self._connection)
