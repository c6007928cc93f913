# SPDX-License-Identifier: MIT
"""Jobs that are put when a database transaction commits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import pyqless
from pyqless import AsyncClient, AsyncOnCommit, Client, OnCommit
from pyqless.errors import InvalidArgument


@pyqless.job(queue="mail", priority=3)
def greet(name: str) -> None:
    """Greet somebody."""


def waiting(client: Client) -> list[Any]:
    return sorted(job.data for job in client.queues["mail"].all())


def test_a_job_is_put_when_the_hook_is_called(client: Client) -> None:
    hooks: list[Callable[[], None]] = []
    puts = OnCommit(client, hooks.append)

    jid = puts.put("mail", "Send", {"n": 1}, tags=["t"])
    other = puts.call(greet, "ann")
    assert waiting(client) == []

    for hook in hooks:
        hook()
    assert client.jobs[jid].tags == ["t"]
    assert client.jobs[other].data == {"name": "ann"}
    assert client.jobs[other].priority == 3


async def test_a_job_is_put_when_the_hook_is_awaited(
    client: Client, async_client: AsyncClient
) -> None:
    hooks: list[Callable[[], Awaitable[None]]] = []
    puts = AsyncOnCommit(async_client, hooks.append)

    jid = puts.put("mail", "Send", {"n": 1}, tags=["t"])
    other = puts.call(greet, "ann")
    assert waiting(client) == []

    for hook in hooks:
        await hook()
    assert client.jobs[jid].tags == ["t"]
    assert client.jobs[other].data == {"name": "ann"}


@pytest.mark.parametrize(
    ("argument", "options"),
    [
        ("delay", {"delay": -1}),
        ("options", {"colour": "blue"}),
        ("data", {"data": b""}),
        ("name", {"queue": ""}),
    ],
)
def test_what_is_no_good_is_refused_before_the_commit(
    client: Client, async_client: AsyncClient, argument: str, options: dict[str, Any]
) -> None:
    hooks: list[Any] = []
    given: dict[str, Any] = {"queue": "mail", "klass": "Send", **options}
    for puts in (OnCommit(client, hooks.append), AsyncOnCommit(async_client, hooks.append)):
        with pytest.raises(InvalidArgument) as caught:
            puts.put(**given)
        assert caught.value.argument == argument
    assert hooks == []


@pytest.mark.parametrize(("kind", "other"), [(OnCommit, AsyncOnCommit), (AsyncOnCommit, OnCommit)])
def test_what_puts_is_checked(
    client: Client, async_client: AsyncClient, kind: Any, other: Any
) -> None:
    right, wrong = (client, async_client) if kind is OnCommit else (async_client, client)
    with pytest.raises(InvalidArgument, match=f"see {other.__name__}, too") as caught:
        kind(wrong, print)
    assert caught.value.argument == "client"
    with pytest.raises(InvalidArgument, match="register must be callable, not NoneType"):
        kind(right, None)
    with pytest.raises(InvalidArgument, match=r"session must be an? (Async)?Session"):
        kind.of_session(right, object())


# -- SQLAlchemy -------------------------------------------------------------------------------


@pytest.fixture
def session() -> Iterator[Any]:
    orm = pytest.importorskip("sqlalchemy.orm")
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine("sqlite://")
    with orm.Session(engine) as session:
        yield session
    engine.dispose()


def begin(session: Any) -> None:
    """Let the session open a transaction."""
    session.connection()


def test_a_session_that_commits_puts(client: Client, session: Any) -> None:
    puts = OnCommit.of_session(client, session)
    for number in (1, 2):
        begin(session)
        puts.put("mail", "Send", number)
        assert waiting(client) == list(range(1, number))
        session.commit()
        assert waiting(client) == list(range(1, number + 1))
    session.commit()
    assert waiting(client) == [1, 2]


def test_a_session_that_is_rolled_back_drops(client: Client, session: Any) -> None:
    puts = OnCommit.of_session(client, session)
    begin(session)
    puts.put("mail", "Send", 1)
    session.rollback()
    begin(session)
    OnCommit.of_session(client, session).put("mail", "Send", 2)
    session.commit()
    assert waiting(client) == [2]


def test_a_savepoint_that_is_rolled_back_drops_its_own(client: Client, session: Any) -> None:
    puts = OnCommit.of_session(client, session)
    begin(session)
    puts.put("mail", "Send", "outer")
    with session.begin_nested():
        puts.put("mail", "Send", "released")
    assert waiting(client) == []
    savepoint = session.begin_nested()
    puts.put("mail", "Send", "dropped")
    savepoint.rollback()
    puts.put("mail", "Send", "after")
    assert waiting(client) == []
    session.commit()
    assert waiting(client) == ["after", "outer", "released"]


def test_a_released_savepoint_goes_with_what_is_around_it(client: Client, session: Any) -> None:
    puts = OnCommit.of_session(client, session)
    begin(session)
    with session.begin_nested():
        puts.put("mail", "Send", "released")
    session.rollback()
    begin(session)
    session.commit()
    assert waiting(client) == []


def test_a_session_that_is_closed_drops(client: Client, session: Any) -> None:
    puts = OnCommit.of_session(client, session)
    begin(session)
    puts.put("mail", "Send", 1)
    session.close()
    begin(session)
    session.commit()
    assert waiting(client) == []


# -- SQLAlchemy for asyncio -------------------------------------------------------------------


@pytest.fixture
async def async_session() -> AsyncIterator[Any]:
    asyncio = pytest.importorskip("sqlalchemy.ext.asyncio")
    pytest.importorskip("aiosqlite")
    engine = asyncio.create_async_engine("sqlite+aiosqlite://")
    async with asyncio.AsyncSession(engine) as session:
        yield session
    await engine.dispose()


async def test_a_session_for_asyncio_puts_and_drops(
    client: Client, async_client: AsyncClient, async_session: Any
) -> None:
    puts = AsyncOnCommit.of_session(async_client, async_session)
    await async_session.connection()
    jid = puts.put("mail", "Send", "kept")
    async with async_session.begin_nested():
        puts.put("mail", "Send", "released")
    savepoint = await async_session.begin_nested()
    puts.put("mail", "Send", "dropped with its savepoint")
    await savepoint.rollback()
    assert waiting(client) == []
    await async_session.commit()
    assert waiting(client) == ["kept", "released"]
    assert client.jobs[jid].data == "kept"

    await async_session.connection()
    puts.put("mail", "Send", "rolled back")
    await async_session.rollback()
    await async_session.connection()
    await async_session.commit()
    assert waiting(client) == ["kept", "released"]


async def test_a_blocking_client_goes_with_a_session_for_asyncio(
    client: Client, async_session: Any
) -> None:
    puts = OnCommit.of_session(client, async_session)
    await async_session.connection()
    puts.put("mail", "Send", 1)
    assert waiting(client) == []
    await async_session.commit()
    assert waiting(client) == [1]


# -- Django -----------------------------------------------------------------------------------


def test_django_puts_on_commit(client: Client, tmp_path: Path) -> None:
    django = pytest.importorskip("django")
    from django.conf import settings  # noqa: PLC0415 - only where it is installed
    from django.db import connection, transaction  # noqa: PLC0415

    database = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "db")}
    settings.configure(DATABASES={"default": database})
    django.setup()
    puts = OnCommit(client, transaction.on_commit)

    with transaction.atomic():
        puts.put("mail", "Send", 1)
        assert waiting(client) == []
    assert waiting(client) == [1]
    with transaction.atomic():
        puts.put("mail", "Send", 2)
        transaction.set_rollback(True)
    assert waiting(client) == [1]
    connection.close()
