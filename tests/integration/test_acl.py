# SPDX-License-Identifier: MIT
"""With the rights that ``pyqless doctor --acl`` prints, each role can do its part, and needs every one of them."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, Final

import pytest
import redis

from pyqless.core.commands import call
from pyqless.core.effects import Command, Transition
from pyqless.core.explaining import explain
from pyqless.core.replies import Reply
from pyqless.core.transaction import Transaction
from pyqless.doctor import RIGHTS, Role, Verdict, acl_line, probe
from pyqless.errors import RequestError, StorageError, StoreUnsupported
from pyqless.storage import Storage, open_storage
from pyqless.storage.parts import Part
from pyqless.storage.redis import RedisStorage
from pyqless.storage.redis.steps import LinkLost
from tests.servers import Server

PASSWORD: Final = "s3cret"  # noqa: S105 - of a server that lives as long as the test

#: What each role does, call by call: ``>`` marks what others do in between, ``!`` what the rules refuse; ``move`` is to dump
#: and load all, and ``explain`` is no call of the core.
#: Together these are all calls of the role, and need all its rights.
PRODUCER: Final = """
    > config.set 0 max-job-history 3
    put 1 me q A klass {} 0 tags '["red"]' priority 5
    put 1 me q B klass {} 0 depends '["A"]'
    get 1 A
    multiget 1 A B
    explain A
    length 1 q
    config.get 1 heartbeat
    tag 2 add A blue
    tag 2 get blue 0 10
    tag 2 remove A blue
    ! priority 2 missing 3
    priority 2 A 7
    ! depends 2 A on B
    put 2 me q D klass {} 0
    depends 2 B on D
    depends 2 B off D
    track 3 track A
    track 3 untrack A
    log 4 A one
    log 4 A two
    log 4 A three
    requeue 5 me other A klass {} 0
    cancel 6 A B D
    put 7 me q C klass {} 0 retries 0
    > pop 8 q w 1
    > fail 8 C w group message
    put 9 me q C klass {} 0
    recur 10 q R klass {} interval 60 0 tags '["red"]'
    ! recur.update 10 missing queue other
    recur.get 10 R
    recur.tag 10 R blue
    recur.untag 10 R blue
    recur.update 10 R priority 3
    unrecur 10 R
"""
WORKER: Final = """
    > config.set 0 max-job-history 3
    > config.set 0 q-max-concurrency 9
    > put 0 me q A klass {} 0 priority 9
    > put 0 me q B klass {} 0 priority 8
    > put 0 me q C klass {} 0 priority 7
    > put 0 me q D klass {} 0 priority 6
    > recur 0 q R klass {} interval 1000 0 priority 1
    > pause 1 idle
    pop 1 idle w 1
    pop 1 q w 4
    peek 1 q 1
    config.get 1 heartbeat
    ! heartbeat 2 missing w
    heartbeat 2 A w
    ! complete 2 A other q {}
    length 2 q
    get 2 A
    multiget 2 A B
    log 3 A one
    log 3 A two
    log 3 A three
    put 3 w q S klass {} 0 tags '["red"]'
    put 3 w q T klass {} 0 depends '["S"]'
    requeue 3 w other S klass {} 0
    put 3 w q U klass {} 0
    depends 3 T on U
    depends 3 T off U
    priority 3 S 4
    tag 3 add S blue
    tag 3 get blue 0 10
    tag 3 remove S blue
    cancel 4 S T
    complete 5 A w q {} next q
    fail 6 B w group message
    put 6 w q B klass {} 0
    timeout 7 C
    pop 70 q w 1
    retry 71 D q w 0
    pop 72 q w 9
    complete 73 A w q {}
    worker.deregister 74 w
    pop 75 q w 1
    workers 75 w
    workers 100000
    listen ql:w:w
    listen ql:w:*
"""
OBSERVER: Final = """
    workers 0
    queues 0
    > put 0 me q A klass {} 0 tags '["red"]' priority 9
    > put 0 me q B klass {} 0 tags '["red"]'
    > put 0 me q S klass {} 1000
    > recur 0 q R klass {} interval 1000 0
    > track 0 track A
    > pop 1 q w 1
    > fail 1 A w group message
    > pop 2 q w 1
    config.get 3
    config.get 3 heartbeat
    failed 3
    failed 3 group 0 10
    get 3 A
    jobs 3 running q
    jobs 3 scheduled q
    jobs 3 complete
    length 3 q
    multiget 3 A B
    queues 3
    queues 3 q
    recur.get 3 R
    stats 3 q 3
    tag 3 get red 0 10
    tag 3 top 0 10
    track 3
    workers 3
    workers 3 w
    listen ql:log
    listen ql:*
"""
OPERATOR: Final = """
    config.set 0 grace-period 5
    config.unset 0 grace-period
    put 0 me q A klass {} 0
    pause 1 q
    unpause 1 q
    pop 1 q w 1
    fail 1 A w group message
    unfail 2 q group 1
    queue.forget 2 q
    workers 100000
    move
"""
PARTS: Final[dict[Role, tuple[str, ...]]] = {
    Role.PRODUCER: (PRODUCER,),
    Role.WORKER: (WORKER,),
    Role.OBSERVER: (OBSERVER,),
    Role.OPERATOR: (OPERATOR, PRODUCER, WORKER, OBSERVER),
}

#: What a role should not do, on a store where there is something to do it to.
FORBIDDEN: Final = {
    Role.PRODUCER: (
        "pop 5 q w 1",
        "peek 5 q 1",
        "failed 5 group 0 9",
        "workers 5",
        "tag 5 top",
    ),
    Role.WORKER: (
        "failed 5 group 0 9",
        "unfail 5 q group 1",
        "track 5 track A",
    ),
    Role.OBSERVER: (
        "put 5 me q X klass {} 0",
        "pop 5 q w 1",
        "cancel 5 A",
        "config.set 5 grace-period 1",
        "complete 5 A w q {}",
        "pause 5 q",
        "tag 5 add A blue",
        "track 5 track A",
        # views that first have to put something in order
        "queues 5000",
        "queues 5000 q",
        "jobs 5000 scheduled q",
        "peek 5000 q 9",
        "workers 99999",
        "workers 99999 w",
    ),
}


@pytest.fixture
def users(redis_server: Server) -> Iterator[Callable[..., str]]:
    """Give a role's user the rights of its line, or others; the result is the URL for it."""
    redis_server.flush()
    with redis_server.client() as admin:

        def give(role: Role, *more: str, namespace: str = "ql", database: int = 0) -> str:
            line = acl_line(role, namespace=namespace, database=database)
            admin.execute_command(*line.split(), f">{PASSWORD}", *more)
            return redis_server.url.replace("//", f"//pyqless-{role}:{PASSWORD}@")

        yield give
        for role in Role:
            admin.acl_deluser(f"pyqless-{role}")


def do(storage: Storage, line: str) -> Reply:
    wanted = call(shlex.split(line))
    return wanted.render(storage.run(wanted.transition, wanted.now))


def announce(tx: Transaction, channel: str) -> Transition[None]:
    tx.publish(channel.replace("*", "all"), "hello")
    return
    yield


def act(part: str, own: Storage, others: Storage) -> None:
    """Do a part; raises what keeps the role from it."""
    for line in part.strip().splitlines():
        match line.split(maxsplit=1):
            case ["move"]:
                others.restore([Part("ql:text", "string", ("text",))])
                with closing(own.scan()) as parts:
                    own.restore(list(parts))
            case ["explain", jid]:
                assert own.run(partial(explain, jid=jid)).reason == "waiting"
            case ["listen", channel]:
                with own.subscribe(channel) as subscription:
                    others.run(partial(announce, channel=channel))
                    assert [message.data for message in subscription.drain()] == ["hello"]
            case [">", text]:
                do(others, text)
            case ["!", text]:
                with pytest.raises(RequestError):
                    do(own, text)
            case _:
                do(own, line.strip())


def act_all(role: Role, url: str, server: Server) -> None:
    with open_storage(server.url) as others:
        for part in PARTS[role]:
            others.flush()
            with open_storage(url) as own:
                act(part, own, others)


@pytest.mark.parametrize("role", Role)
def test_the_parts_below_are_all_that_a_role_may_call(role: Role) -> None:
    lines = [
        line.removeprefix("! ").split()
        for part in PARTS[role]
        for line in textwrap.dedent(part).strip().splitlines()
        if not line.startswith((">", "explain", "listen", "move"))
    ]
    # tag and track are several calls in one
    called = {
        f"{words[0]} {words[2]}" if words[0] in ("tag", "track") and words[2:] else words[0]
        for words in lines
    }
    assert called == RIGHTS[role].calls


@pytest.mark.parametrize("role", Role)
def test_a_role_can_do_its_part(
    role: Role, users: Callable[..., str], redis_server: Server
) -> None:
    act_all(role, users(role), redis_server)


@pytest.mark.parametrize("role", Role)
def test_a_role_needs_each_of_its_rights(
    role: Role, users: Callable[..., str], redis_server: Server
) -> None:
    for command in sorted(RIGHTS[role].commands):
        url = users(role, f"-{command.lower()}")
        with pytest.raises(StorageError) as caught:
            act_all(role, url, redis_server)
        assert command in f"{caught.value.argument} {caught.value}".upper()


@pytest.mark.parametrize("role", FORBIDDEN)
def test_what_a_role_should_not_do_is_refused_and_changes_nothing(
    role: Role, users: Callable[..., str], redis_server: Server
) -> None:
    with open_storage(redis_server.url) as others, open_storage(users(role)) as own:
        for line in (
            "put 0 me q A klass {} 0",
            "put 1 me q B klass {} 0",
            "put 1 me q S klass {} 1000",
            "pop 2 q w 1",
        ):
            do(others, line)
        before = others.dump()
        for line in FORBIDDEN[role]:
            with pytest.raises(
                StoreUnsupported,
                match=r"the store lacks or forbids .*`pyqless doctor --acl ROLE` prints",
            ):
                do(own, line)
            assert others.dump() == before


@pytest.mark.parametrize("role", Role)
def test_a_role_has_no_rights_beyond_the_namespace(role: Role, users: Callable[..., str]) -> None:
    with redis.Redis.from_url(users(role), protocol=2) as client:
        for command in (
            ("HGETALL", "other:j:A"),
            ("HGETALL", "qlx"),
            ("PUBLISH", "other", "text"),
            ("SUBSCRIBE", "other"),
            ("EVAL", "return 1", "0"),
            ("SCRIPT", "LOAD", "return 1"),
            ("ACL", "WHOAMI"),
            ("CONFIG", "GET", "*"),
            ("FLUSHDB",),
            ("KEYS", "*"),
        ):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*command)


def lose_the_next_commit(storage: RedisStorage) -> None:
    """Let the reply to the next EXEC get lost on the way."""
    wire = storage._free[-1]._wire
    assert wire is not None
    exchange = wire.exchange

    def lossy(commands: tuple[Command, ...]) -> list[Any]:
        replies = exchange(commands)
        if commands[-1][0] == "EXEC":
            raise LinkLost("the reply is lost", sent=True)
        return replies

    wire.exchange = lossy  # type: ignore[method-assign]


@pytest.mark.parametrize("role", [role for role in Role if RIGHTS[role].write])
def test_a_role_can_find_out_what_became_of_a_commit(role: Role, users: Callable[..., str]) -> None:
    with open_storage(users(role)) as own:
        assert isinstance(own, RedisStorage)
        do(own, "put 0 me q A klass {} 0")
        lose_the_next_commit(own)
        assert do(own, "put 1 me q B klass {} 0") == "B"
        assert own.metrics.recoveries == 1
        assert do(own, "length 2 q") == 2


def test_another_namespace_and_another_database(users: Callable[..., str]) -> None:
    url = users(Role.PRODUCER, namespace="{app}", database=2).replace("/0", "/2")
    with open_storage(url, namespace="{app}") as own:
        assert do(own, "put 0 me q A klass {} 0") == "A"
    with (
        open_storage(url) as foreign,
        pytest.raises(StoreUnsupported, match="lacks or forbids WATCH"),
    ):
        do(foreign, "put 0 me q A klass {} 0")


def test_a_line_given_anew_leaves_the_password(
    users: Callable[..., str], redis_server: Server
) -> None:
    url = users(Role.OBSERVER, "+flushall")
    with redis_server.client() as admin, redis.Redis.from_url(url) as own:
        admin.execute_command(*acl_line(Role.OBSERVER).split())
        assert own.hgetall("ql:config") == {}
        with pytest.raises(redis.exceptions.NoPermissionError):
            own.flushall()


@pytest.mark.parametrize("role", Role)
def test_the_doctor_finds_the_rights_enough(
    role: Role, users: Callable[..., str], redis_server: Server
) -> None:
    report = probe(users(role), role=role)
    assert report.usable, report
    assert {check.name: check.verdict for check in report.checks}["transactions"] is Verdict.OK
    with redis_server.client() as admin:
        assert admin.keys("*") == []


@pytest.mark.parametrize("role", Role)
def test_the_doctor_misses_each_single_right(role: Role, users: Callable[..., str]) -> None:
    for command in sorted(RIGHTS[role].commands):
        report = probe(users(role, f"-{command.lower()}"), role=role)
        (check,) = (check for check in report.checks if check.name == "commands")
        assert check.verdict is Verdict.FAILURE
        assert command in check.seen


def test_the_doctor_tells_what_rights_are_enough_for(users: Callable[..., str]) -> None:
    report = probe(users(Role.PRODUCER), role=Role.WORKER)
    (check,) = (check for check in report.checks if check.name == "commands")
    assert not report.usable
    assert check.seen.startswith("the store lacks or forbids HDEL, which pyqless needs: NOPERM")
    assert check.seen.endswith(
        "(likewise PSUBSCRIBE, ZRANGEBYSCORE, ZREMRANGEBYSCORE, ZREVRANGE, ZREVRANGEBYSCORE)"
    )
    assert check.advice.endswith("they are enough for: producer")
