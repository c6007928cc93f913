# SPDX-License-Identifier: MIT
"""Roles and their rights; what servers make of them is tested with real ones."""

from __future__ import annotations

import pytest

from pyqless.core.commands import COMMANDS
from pyqless.core.keyspace import READS, WRITES
from pyqless.doctor import RIGHTS, Role, acl_line
from pyqless.errors import InvalidArgument


def test_the_line() -> None:
    assert acl_line(Role.OBSERVER) == (
        "ACL SETUSER pyqless-observer on resetkeys ~ql:* resetchannels &ql:* &ql:w:* -@all"
        " +exec +hget +hgetall +hmget +llen +lrange +multi +ping +psubscribe +sismember +smembers"
        " +subscribe +unwatch +watch +zcard +zcount +zrange +zrangebyscore +zrevrange"
        " +zrevrangebyscore +zscore"
    )


def test_user_namespace_and_database() -> None:
    line = acl_line(Role.PRODUCER, user="app", namespace="{q}", database=3)
    assert line.startswith("ACL SETUSER app on resetkeys ~{q}:* resetchannels &{q}:* -@all +del ")
    assert " +select " in line
    assert " +select" not in acl_line(Role.PRODUCER)


@pytest.mark.parametrize("text", ["", "a b", "a*", "a?", "[a]", "a\\", 'a"', "a'", "a\n"])
@pytest.mark.parametrize("argument", ["user", "namespace"])
def test_names_that_would_mean_something_else(argument: str, text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        acl_line(Role.WORKER, **{argument: text})  # type: ignore[arg-type]
    assert (caught.value.argument, caught.value.value) == (argument, text)


def test_an_observer_has_no_right_to_write() -> None:
    commands = RIGHTS[Role.OBSERVER].commands
    assert commands.isdisjoint(WRITES)
    assert commands.isdisjoint({"EXPIRE", "PUBLISH"})
    assert not RIGHTS[Role.OBSERVER].write


def test_an_operator_may_do_everything() -> None:
    assert {name.split()[0] for name in RIGHTS[Role.OPERATOR].calls} == COMMANDS.keys()
    for role in Role:
        assert RIGHTS[role].calls <= RIGHTS[Role.OPERATOR].calls
        assert RIGHTS[role].commands <= RIGHTS[Role.OPERATOR].commands
        assert RIGHTS[role].calls


def test_no_role_may_do_what_pyqless_never_sends() -> None:
    control = {"WATCH", "UNWATCH", "MULTI", "EXEC", "DISCARD", "EXPIRE"}
    messages = {"PUBLISH", "SUBSCRIBE", "PSUBSCRIBE", "PING"}
    moving = {"SCAN", "TYPE", "GET", "SET"}
    sent = READS.keys() | WRITES.keys() | control | messages | moving
    assert RIGHTS[Role.OPERATOR].commands <= sent
