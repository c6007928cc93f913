# SPDX-License-Identifier: MIT
"""URLs and options that are misspelt: what is told of them, and what never is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import redis

from pyqless.errors import InvalidArgument
from pyqless.storage import open_async_storage, open_storage
from pyqless.storage.redis.clock import StoreClock
from pyqless.storage.redis.policy import Replication


def fault(url: Any = None, **options: Any) -> InvalidArgument:
    """What both ways to open a storage say."""
    with pytest.raises(InvalidArgument) as caught:
        open_storage(url, **options)
    with pytest.raises(InvalidArgument) as also:
        open_async_storage(url, **options)
    assert str(also.value) == str(caught.value)
    return caught.value


@pytest.mark.parametrize("port", ["abc", "99999", "6379:0", "0", "-1"])
@pytest.mark.parametrize("before", ["redis://host:", "rediss://ann:secret@host:"])
def test_a_port_is_a_number(before: str, port: str) -> None:
    error = fault(f"{before}{port}/0")
    assert "url must name its port by a number up to 65535" in str(error)
    assert "secret" not in f"{error} {error.value}"
    assert error.argument == "url"


@pytest.mark.parametrize(
    ("url", "beginning"),
    [
        ("redis:localhost:6379", "redis://"),
        ("redis:/localhost:6379", "redis://"),
        ("unix:/run/redis", "unix://"),
        ("sqlite:/jobs.db", "sqlite://"),
        ("memory:", "memory://"),
        (" redis://localhost", "redis://"),
        ("localhost:6379", "one of memory://, redis://"),
        ("http://localhost", "one of memory://, redis://"),
        ("", "one of memory://, redis://"),
    ],
)
def test_a_url_begins_with_a_scheme_and_two_slashes(url: str, beginning: str) -> None:
    assert str(fault(url)).startswith(f"url must begin with {beginning}")


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (None, "url must be text, not NoneType"),
        (5, "url must be text, not int"),
        (b"memory://", "url must be text, not bytes"),
        ("redis://[host", "url makes no sense: Invalid IPv6 URL"),
        ("unix://", "url must hold the path of a socket"),
        ("unix://socket", "url must hold the path of a socket"),
        ("memory://name/0", "url must be memory:// or memory://NAME"),
        ("memory://?timeout=5", "url must be memory:// or memory://NAME"),
        ("fakeredis://name?db=1", "url must be fakeredis:// or fakeredis://NAME"),
        ("redis://ann:pass/word@host:1/0", "a password in it must be percent-encoded"),
        ("redis://ann:pass?word@host:1/0", "a password in it must be percent-encoded"),
        ("redis://host/jobs", "url must name its database by number, not 'jobs'"),
    ],
)
def test_what_stands_in_the_wrong_place_is_told(url: Any, told: str) -> None:
    error = fault(url)
    assert told in str(error)
    assert "word" not in str(error).replace("password", "")


@pytest.mark.parametrize("url", ["MEMORY://", "Memory://", "memory://"])
def test_the_scheme_is_read_in_letters_of_any_size(url: str) -> None:
    with open_storage(url) as storage:
        assert storage.url == "memory://"


def test_only_the_scheme_is_made_small() -> None:
    with open_storage("REDIS://Ann:Secret@Host:1/0") as storage:
        assert storage.url == "redis://Ann:***@Host:1/0"
    with open_storage("UNIX:///Run/Redis?db=1") as storage:
        assert storage.url == "unix:///Run/Redis?db=1"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("redis://localhost?passwrod=secret", {}),
        ("rediss://localhost", {"passwrod": "secret"}),
        ("unix:///socket", {"passwrod": "secret"}),
        ("memory://", {"passwrod": "secret"}),
        ("fakeredis://", {"passwrod": "secret"}),
        ("sqlite:///a.db", {"passwrod": "secret"}),
    ],
)
def test_an_option_that_there_is_none_of_is_named(url: str, options: dict[str, Any]) -> None:
    error = fault(url, **options)
    assert str(error) == f"{url.partition(':')[0]}:// knows no option 'passwrod'"
    assert (error.argument, error.value) == ("passwrod", None)


def test_options_of_a_connection_are_its_own() -> None:
    connection = redis.Redis()
    with pytest.raises(InvalidArgument, match="socket_timeout goes with a url") as caught:
        open_storage(connection=connection, socket_timeout=5)
    assert caught.value.argument == "socket_timeout"
    other = redis.asyncio.Redis()
    with pytest.raises(InvalidArgument, match="socket_timeout goes with a url"):
        open_async_storage(connection=other, socket_timeout=5)
    asyncio.run(other.aclose())
    connection.close()


def opened(url: str, **options: Any) -> tuple[Any, Any]:
    """Give the storages that both ways open."""
    blocking, for_asyncio = open_storage(url, **options), open_async_storage(url, **options)
    blocking.close()
    asyncio.run(for_asyncio.close())
    return blocking, for_asyncio


@pytest.mark.parametrize("url", ["redis://host:1/0", "rediss://host", "unix:///socket"])
def test_a_url_says_what_can_be_said_as_text(url: str) -> None:
    said = f"{url}?clock=store&socket_timeout=7&durability=replicated&headroom=0.25"
    for storage in opened(said):
        assert isinstance(storage.clock, StoreClock)
        assert storage.replication == Replication()
        assert storage.headroom == 0.25
        assert storage.pool.connection_kwargs["socket_timeout"] == 7
        assert storage.url == f"{url}?socket_timeout=7"


def test_a_url_that_says_no_more_is_what_is_left() -> None:
    for storage in opened("redis://ann:a%2Fb@host:1/0?clock=store"):
        assert storage.url == "redis://ann:***@host:1/0"
        assert storage.pool.connection_kwargs["password"] == "a/b"  # noqa: S105 - it is a test's
        assert storage.headroom == 0.0


def test_the_url_counts_for_more_than_an_argument() -> None:
    for storage in opened("redis://host?headroom=0.5", headroom=0.1):
        assert storage.headroom == 0.5


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("clock=server", "clock must be store where"),
        ("clock=", "clock must be store where"),
        ("clock", "clock must be store where"),
        ("clock=store&clock=word", "clock must be store where"),
        ("durability=full", "durability must be replicated where"),
        ("headroom=much", "headroom must be a number from 0 up to 1"),
        ("headroom=1", "headroom must be a number from 0 up to 1"),
        ("headroom=nan", "headroom must be a number from 0 up to 1"),
        ("headroom=-0.1", "headroom must be a number from 0 up to 1"),
        ("headroom=word@host", "headroom must be a number from 0 up to 1"),
    ],
)
def test_what_a_url_says_wrongly_is_named_and_not_repeated(query: str, told: str) -> None:
    error = fault(f"redis://ann:word@host:1/0?{query}")
    assert str(error).startswith(told)
    assert "word" not in f"{error} {error.value}"
    assert error.argument == query.partition("=")[0]


@pytest.mark.parametrize("name", ["policy", "namespace", "lanes", "worker_name", "read_only"])
@pytest.mark.parametrize("url", ["redis://host", "rediss://host", "unix:///a", "sqlite:///a.db"])
def test_what_is_an_argument_only_is_told(url: str, name: str) -> None:
    error = fault(f"{url}?{name}=secret")
    assert str(error).startswith(f"{name} cannot be said in a url, but only as an argument")
    assert (error.argument, error.value) == (name, None)
