# SPDX-License-Identifier: MIT
"""A password is never shown: not by a storage or a client, not in an error or its traceback, not in the log."""

from __future__ import annotations

import logging
import shlex
import traceback
from collections.abc import Callable
from typing import Final

import pytest
import redis

from pyqless import Client
from pyqless.core.commands import call
from pyqless.errors import InvalidArgument, QlessError
from pyqless.storage import open_async_storage, open_storage
from pyqless.storage.redis import Policy
from pyqless.storage.redis.pools import redacted
from tests.servers import Server

SECRET: Final = "hunter2"  # noqa: S105

#: where a password can stand; for HOST, the address of a server
URLS: Final = [
    f"redis://:{SECRET}@HOST/0",
    f"redis://someone:{SECRET}@HOST/0",
    f"redis://someone:%68unter2{SECRET}@HOST/0",
    f"redis://a@b:{SECRET}@HOST/0",
    f"redis://HOST/0?password={SECRET}",
    f"redis://HOST/0?username=someone&password={SECRET}",
    f"rediss://someone:{SECRET}@HOST/0?ssl_password={SECRET}&socket_timeout=0.1",
    f"unix://someone:{SECRET}@/nowhere?db=0",
]
#: likewise, but the URL itself is wrong
WRONG: Final = [
    f"redis://:{SECRET}@HOST/0?no_such_option=1",
    f"redis://:{SECRET}@host:port/0",
    f"nosuch://:{SECRET}@HOST/0",
    f":{SECRET}@HOST",
    f"redis://:{SECRET}",
    f"redis://someone:1/{SECRET}@HOST",
    f"redis://someone:1?{SECRET}@HOST",
    f"redis://someone:1#{SECRET}@HOST",
    f"redis://someone:/{SECRET}@HOST",
    f"redis://[someone:{SECRET}@HOST",
]


def use(url: str) -> None:
    with open_storage(url, policy=Policy(deadline=0.0)) as storage:
        words = call(shlex.split("put 1 me q J klass {} 0"))
        storage.run(words.transition, words.now)


def subscribe(url: str) -> None:
    with open_storage(url) as storage:
        storage.subscribe("a")


def dump(url: str) -> None:
    with open_storage(url) as storage:
        storage.dump()


USES: Final = [use, subscribe, dump]


def shown(error: BaseException) -> str:
    """All that is ever shown of an error, its causes included; and its attributes."""
    attributes = " ".join(
        repr(vars(fault)) for fault in (error, error.__cause__, error.__context__) if fault
    )
    return "".join(traceback.format_exception(error)) + repr(error) + attributes


@pytest.fixture
def host(one_redis_server: Server) -> str:
    return f"127.0.0.1:{one_redis_server.port}"


@pytest.mark.parametrize("url", URLS)
def test_what_has_the_password_does_not_show_it(url: str, host: str) -> None:
    storage = open_storage(url.replace("HOST", host))
    client = Client(url.replace("HOST", host))
    for thing in (
        storage,
        client,
        client.queues["q"],
        client.jobs,
        storage.metrics,
    ):
        assert SECRET not in f"{thing!r} {thing} "
    assert SECRET not in storage.url
    assert "***" in storage.url
    assert storage.url.startswith(url.partition("://")[0])
    client.close()
    storage.close()


# not each supported redis-py takes this option for asyncio
@pytest.mark.parametrize("url", [url for url in URLS if "ssl_password" not in url])
async def test_nor_for_asyncio(url: str, host: str) -> None:
    async with open_async_storage(url.replace("HOST", host)) as storage:
        assert SECRET not in f"{storage!r} {storage.url}"


@pytest.mark.parametrize("attempt", USES)
@pytest.mark.parametrize("url", URLS)
def test_errors_do_not_show_it(
    url: str, host: str, attempt: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(QlessError) as caught:
        attempt(url.replace("HOST", host))
    assert SECRET not in shown(caught.value)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("url", [*URLS, *WRONG])
def test_errors_where_nobody_listens(url: str) -> None:
    with pytest.raises(QlessError) as caught:
        use(url.replace("HOST", "127.0.0.1:1"))
    assert SECRET not in shown(caught.value)


@pytest.mark.parametrize("url", WRONG)
def test_urls_that_make_no_sense(url: str, host: str) -> None:
    with pytest.raises(QlessError) as caught:
        open_storage(url.replace("HOST", host))
    assert SECRET not in shown(caught.value)


def test_connections_of_others(host: str) -> None:
    with redis.Redis.from_url(f"redis://someone:{SECRET}@{host}/0") as connection:
        storage = open_storage(connection=connection)
        assert storage.url == f"redis://{host}/0"
        assert SECRET not in repr(storage)
        with pytest.raises(QlessError) as caught:
            storage.dump()
        assert SECRET not in shown(caught.value)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://host:1/2", "redis://host:1/2"),
        ("redis://u:p@host:1/2?a=b", "redis://u:***@host:1/2?a=b"),
        ("redis://:p@host", "redis://:***@host"),
        ("redis://u:p@q@host", "redis://u:***@host"),
        ("redis://h/?password=p&db=1", "redis://h/?password=***&db=1"),
        ("redis://h/?Password=p", "redis://h/?Password=***"),
        ("rediss://h/?ssl_password=p", "rediss://h/?ssl_password=***"),
        ("unix://u:p@/a/b?db=1", "unix://u:***@/a/b?db=1"),
        ("unix:///a@b/c", "unix:///a@b/c"),
    ],
)
def test_urls_without_their_passwords(url: str, expected: str) -> None:
    assert redacted(url) == expected


def test_a_mistyped_url_of_a_file_shows_no_password() -> None:
    with pytest.raises(InvalidArgument) as refused:
        Client("sqlite://ann:s3cr3t@host/queue.db")
    assert "s3cr3t" not in f"{refused.value!r} {refused.value} {refused.value.value}"


@pytest.mark.parametrize("name", ["abc", "0/1", "-1"])
def test_a_database_is_named_by_its_number(name: str) -> None:
    with pytest.raises(InvalidArgument, match="by number"):
        Client(f"redis://localhost/{name}")
