# SPDX-License-Identifier: MIT
"""Whatever is read, written or refused, the keyspace in memory and the one in a file agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyqless.core.keyspace import READS, Keyspace, WrongType
from pyqless.core.sortedset import SortedSet
from pyqless.storage.sqlite import keyspace as stored
from pyqless.storage.sqlite.connection import open_connection
from pyqless.storage.sqlite.keyspace import StoredKeyspace
from pyqless.storage.sqlite.packing import LIST, SET, SORTED_SET
from pyqless.storage.sqlite.patience import Patience
from tests.integration.test_keyspace_redis import COMMANDS, SETUP

Command = tuple[Any, ...]


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    path = tmp_path_factory.mktemp("keyspace") / "jobs.db"
    connection = open_connection(str(path), Patience(1.0))
    yield connection
    connection.close()


@pytest.fixture
def keyspace(connection: apsw.Connection) -> StoredKeyspace:
    """Give an empty one."""
    empty(connection)
    return StoredKeyspace(connection.cursor())


def empty(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM key; DELETE FROM member; DELETE FROM element")


def dump(keyspace: StoredKeyspace) -> dict[str, dict[str, Any]]:
    seen = Keyspace()
    for key, value in keyspace.items():
        seen.replace(key, value)
    return seen.dump()


def outcome(carry_out: Any, command: Command) -> Any:
    """Give the reply to a command, or the kind of error that it raises."""
    try:
        return carry_out(command)
    except (WrongType, ValueError) as error:
        return type(error)


#: how many elements fit in a row: all, so that only Python is asked; none, so that only SQL is;
#: and so many that values change from the one to the other
@pytest.mark.parametrize("fit", [1000, 0, 4])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(commands=st.lists(st.tuples(st.one_of(COMMANDS), st.booleans()), min_size=10, max_size=40))
def test_random_commands(
    connection: apsw.Connection,
    monkeypatch: pytest.MonkeyPatch,
    commands: list[tuple[Command, bool]],
    fit: int,
) -> None:
    with monkeypatch.context() as patched, connection:
        patched.setattr(stored, "_FIT", dict.fromkeys([LIST, SET, SORTED_SET], fit))
        empty(connection)
        model, keyspace = Keyspace(), StoredKeyspace(connection.cursor())
        for command, forgets in [*((command, True) for command in SETUP), *commands]:
            method = "read" if command[0] in READS else "write"
            found = outcome(getattr(keyspace, method), command)
            assert found == outcome(getattr(model, method), command)
            keyspace.save()
            if forgets:
                keyspace.forget()
            assert dump(keyspace) == model.dump()


@pytest.mark.parametrize("fit", [1000, 0])
def test_nothing_is_left_of_what_has_become_empty(
    connection: apsw.Connection,
    keyspace: StoredKeyspace,
    monkeypatch: pytest.MonkeyPatch,
    fit: int,
) -> None:
    monkeypatch.setattr(stored, "_FIT", dict.fromkeys([LIST, SET, SORTED_SET], fit))
    filling: list[Command] = [
        ("RPUSH", "list", "a", "b"),
        ("SADD", "set", "a", "b"),
        ("ZADD", "zset", 1.0, "a", 2.0, "b"),
        ("ZADD", "gone", 1.0, "a"),
        ("HSET", "hash", "a", "1"),
    ]
    for command in filling:
        keyspace.write(command)
    keyspace.save()
    emptying: list[Command] = [
        ("LTRIM", "list", 5, -1),
        ("SREM", "set", "a", "b"),
        ("ZREMRANGEBYSCORE", "zset", "-inf", "+inf"),
        ("DEL", "gone"),
        ("HDEL", "hash", "a"),
    ]
    for command in emptying:
        keyspace.write(command)
    keyspace.save()
    keyspace.drop_vacancies()
    for table in ("key", "member", "element"):
        assert connection.execute(f"SELECT count(*) FROM {table}").get == 0  # noqa: S608


def rows_of(connection: apsw.Connection) -> dict[bytes, tuple[int, int]]:
    """Give the id and the size of each key's row."""
    rows: list[Any] = connection.execute("SELECT name, id, size FROM key").fetchall()
    return {name: (key, size) for name, key, size in rows}


def test_a_sorted_set_that_becomes_empty_leaves_its_row_for_the_next_members(
    connection: apsw.Connection, keyspace: StoredKeyspace
) -> None:
    keyspace.write(("ZADD", "key", 1.0, "a"))
    keyspace.save()
    ((key, _),) = rows_of(connection).values()
    for forgets in (False, True):
        keyspace.write(("ZREM", "key", "a", "b"))
        keyspace.save()
        assert rows_of(connection) == {b"key": (key, 0)}
        if forgets:
            keyspace.forget()
        assert keyspace.read(("EXISTS", "key")) == 0
        assert keyspace.read(("HGETALL", "key")) == {}
        assert dump(keyspace) == {}
        keyspace.write(("ZADD", "key", 2.0, "a", 3.0, "b"))
        keyspace.save()
        assert rows_of(connection) == {b"key": (key, 2)}
        assert not keyspace.has_vacancies


def test_the_row_of_a_sorted_set_may_become_that_of_another_kind(
    connection: apsw.Connection, keyspace: StoredKeyspace
) -> None:
    for command in (("ZADD", "key", 1.0, "a"), ("ZREM", "key", "a"), ("HSET", "key", "a", "1")):
        keyspace.write(command)
        keyspace.save()
    keyspace.forget()
    assert dump(keyspace) == {"key": {"type": "hash", "value": {"a": "1"}}}
    keyspace.write(("DEL", "key"))
    keyspace.save()
    assert rows_of(connection) == {}


def test_few_rows_are_left_by_however_many_that_become_empty(
    connection: apsw.Connection, keyspace: StoredKeyspace
) -> None:
    for number in range(300):
        keyspace.write(("ZADD", str(number), 1.0, "a"))
        keyspace.save()
        keyspace.write(("ZREM", str(number), "a"))
        keyspace.save()
        if number % 100 == 0:
            keyspace.forget()
    left = rows_of(connection)
    assert 0 < len(left) <= 64
    assert b"299" in left
    keyspace.write(("ZADD", "299", 1.0, "a"))
    keyspace.write(("ZADD", "0", 1.0, "a"))
    keyspace.save()
    keyspace.drop_vacancies()
    assert {name: size for name, (_, size) in rows_of(connection).items()} == {b"299": 1, b"0": 1}
    assert dump(keyspace).keys() == {"0", "299"}


def test_a_row_that_another_has_filled_again_is_not_dropped(
    connection: apsw.Connection, keyspace: StoredKeyspace
) -> None:
    keyspace.write(("ZADD", "key", 1.0, "a"))
    keyspace.save()
    keyspace.write(("ZREM", "key", "a"))
    keyspace.save()
    other = StoredKeyspace(connection.cursor())
    other.write(("ZADD", "key", 2.0, "b"))
    other.save()
    keyspace.forget()
    keyspace.drop_vacancies()
    assert keyspace.read(("ZSCORE", "key", "b")) == 2.0


def test_a_row_that_was_undone_is_not_dropped_where_another_has_its_id(
    connection: apsw.Connection, keyspace: StoredKeyspace
) -> None:
    def fill_and_empty(name: str) -> None:
        keyspace.write(("ZADD", name, 1.0, "a"))
        keyspace.save()
        keyspace.write(("ZREM", name, "a"))
        keyspace.save()

    with connection:
        connection.execute("SAVEPOINT task")
        fill_and_empty("undone")
        connection.execute("ROLLBACK TO task")
        keyspace.forget()
        for number in range(40):
            fill_and_empty(str(number))
        for number in range(40, 80):
            fill_and_empty("0")
            fill_and_empty(str(number))
        keyspace.write(("ZADD", "0", 1.0, "a"))
        keyspace.save()
        keyspace.forget()
        assert keyspace.read(("ZSCORE", "0", "a")) == 1.0


def test_text_that_is_no_utf_8_is_kept_as_it_is(keyspace: StoredKeyspace) -> None:
    strange = b"\xff\xfe a".decode("utf-8", "surrogateescape")
    for _ in range(2):
        keyspace.write(("HSET", "hash", "field", strange))
        keyspace.write(("HSET", "other", "field", "text"))
        keyspace.save()
        keyspace.forget()
        assert keyspace.read(("HGET", "hash", "field")) == strange
        assert keyspace.read(("HGET", "other", "field")) == "text"


def test_a_key_may_change_its_kind_within_a_transaction(
    connection: apsw.Connection, keyspace: StoredKeyspace
) -> None:
    many = [str(number) for number in range(500)]
    keyspace.write(("SADD", "key", *many))
    keyspace.save()
    keyspace.write(("DEL", "key"))
    keyspace.write(("RPUSH", "key", *many))
    keyspace.save()
    keyspace.forget()
    assert keyspace.read(("LRANGE", "key", 0, -1)) == many
    keyspace.set("key", "text")
    keyspace.save()
    keyspace.forget()
    assert dump(keyspace) == {"key": {"type": "string", "value": "text"}}
    keyspace.set("key", "")
    keyspace.save()
    assert connection.execute("SELECT count(*) FROM key").get == 0


def test_an_image_goes_into_the_row_but_not_over_elements_in_rows(
    keyspace: StoredKeyspace,
) -> None:
    assert keyspace.replace("small", {"a"})
    assert keyspace.replace("large", {str(number) for number in range(500)})
    keyspace.save()
    assert keyspace.replace("small", set())
    assert not keyspace.replace("large", set())
    keyspace.save()
    assert keyspace.read(("EXISTS", "small")) == 0
    assert keyspace.read(("SCARD", "large")) == 500


def test_what_is_large_is_remembered_for_one_transaction_only(keyspace: StoredKeyspace) -> None:
    keyspace.write(("HSET", "large", "data", "x" * 5000))
    keyspace.write(("HSET", "small", "data", "x"))
    keyspace.save()
    keyspace.tidy()
    assert keyspace._entries.keys() == {"small"}
    keyspace.write(("HSET", "large", "more", "x"))
    assert keyspace.read(("HLEN", "large")) == 2
    keyspace.tidy()
    assert keyspace._entries.keys() == {"small"}


def test_no_more_than_some_keys_are_remembered(keyspace: StoredKeyspace) -> None:
    for number in range(5000):
        keyspace.tidy()
        keyspace.read(("EXISTS", str(number)))
    assert 0 < len(keyspace._entries) <= 2049


@given(
    scores=st.dictionaries(
        st.text(max_size=3), st.floats(allow_nan=False), min_size=20, max_size=40
    )
)
def test_scores_are_exact_in_rows_and_in_the_key_s_row(
    connection: apsw.Connection, scores: dict[str, float]
) -> None:
    with connection:
        empty(connection)
        keyspace = StoredKeyspace(connection.cursor())
        few = dict(list(scores.items())[:10])
        for key, pairs in (("few", few), ("many", scores)):
            for member, score in pairs.items():
                keyspace.write(("ZADD", key, score, member))
        keyspace.save()
        keyspace.forget()
        for key, pairs in (("few", few), ("many", scores)):
            found = keyspace.read(("ZRANGE", key, 0, -1, "WITHSCORES"))
            assert [(member, repr(score)) for member, score in found] == [
                (member, repr(score)) for member, score in SortedSet(pairs.items()).items()
            ]
