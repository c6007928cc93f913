# SPDX-License-Identifier: MIT
"""Both clients, on a store in memory and on a real server: what holds for one must hold for all."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from typing import Any, TypeAlias, TypeVar

import pytest

from pyqless import AsyncClient, Client
from pyqless.doctor import Role, acl_line
from tests.servers import Server

T = TypeVar("T")

UrlOf: TypeAlias = Callable[[Role], str]

_stores = count()


@pytest.fixture(params=["memory", "redis"])
def store_url(request: pytest.FixtureRequest) -> str:
    """Repeat the test on both; the store is empty."""
    if request.param == "memory":
        return f"memory://integration-{next(_stores)}"
    return str(request.getfixturevalue("one_redis_url"))


@pytest.fixture(params=[Client, AsyncClient], ids=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Any:
    """Repeat the test with both clients."""
    return request.param


@pytest.fixture
async def opened(store_url: str, kind: Any) -> AsyncIterator[Callable[..., Any]]:
    """Open clients of the store, of the kind under test, that are closed in the end."""
    clients: list[Any] = []

    def open_client(**options: Any) -> Any:
        clients.append(kind(store_url, **options))
        return clients[-1]

    yield open_client
    for client in clients:
        await got(client.close())


@pytest.fixture
def client(opened: Callable[..., Any]) -> Any:
    """Give a client of either kind; what it gives goes through ``got``."""
    return opened(worker_name="ann")


async def got(value: Awaitable[T] | T) -> T:
    """Take what either client gives, waited for or not."""
    return await value if inspect.isawaitable(value) else value


async def listed(values: Any) -> list[Any]:
    """Take all that an iterator of either kind gives."""
    if hasattr(values, "__aiter__"):
        return [value async for value in values]
    return list(values)


@pytest.fixture
def url_of(one_redis_server: Server) -> Iterator[UrlOf]:
    """Give a URL with exactly the rights of a role; in the end the server may have refused nothing."""
    with one_redis_server.client() as admin:
        admin.acl_log_reset()

        def url_of(role: Role) -> str:
            admin.execute_command(*acl_line(role).split(), ">pw")
            return one_redis_server.url.replace("//", f"//pyqless-{role}:pw@")

        yield url_of
        noted = {(entry["username"], entry["object"]) for entry in admin.acl_log()}
        admin.acl_deluser(*(f"pyqless-{role}" for role in Role))
    # by these redis-py tells its name where it may; Redis 6.2 notes no subcommand
    refused = {entry for entry in noted if entry[1] not in ("client", "client|setinfo")}
    # a connection has its fence made ready beside the first read, which whoever changes nothing can do without
    assert refused <= {(f"pyqless-{Role.OBSERVER}", command) for command in ("hset", "expire")}
