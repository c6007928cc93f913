# SPDX-License-Identifier: MIT
"""What the doctor makes of what a server says of itself; the texts are those of real servers."""

from __future__ import annotations

from typing import Any

import pytest

from pyqless.doctor.report import Verdict
from pyqless.doctor.roles import Role
from pyqless.doctor.scripting import scripting
from pyqless.doctor.server import Facts, clock, cluster, identity, replication
from pyqless.doctor.settings import settings
from pyqless.storage.redis.protocol import ServerError


def facts(hello: dict[str, Any] | None = None, *, save: str | None = "", **info: str) -> Facts:
    return Facts(hello or {}, info, "" if info else "NOPERM no permissions to run 'info'", save)


class Told:
    """A session on which a server says what a test wants it to."""

    def __init__(self, **replies: Any) -> None:
        self.replies = replies

    def ask(self, *commands: tuple[Any, ...]) -> list[Any]:
        return [self.ask_one(*command) for command in commands]

    def ask_one(self, *command: Any) -> Any:
        name = command[1] if command[0] == "ACL" else command[0]
        return self.replies.get(name, ServerError("NOPERM no"))


@pytest.mark.parametrize(
    ("known", "verdict", "seen"),
    [
        (facts({"server": "redis", "version": "6.2.14"}), "ok", "Redis 6.2.14"),
        (facts({"server": "redis", "version": "6.0.16"}), "failure", "Redis 6.0.16"),
        (facts({"server": "valkey", "version": "9.1.2"}), "ok", "Valkey 9.1.2"),
        # as Valkey answers HELLO where it is told to pass for Redis
        (
            facts({"server": "redis", "version": "7.2.4"}, valkey_version="8.0.1"),
            "ok",
            "Valkey 8.0.1",
        ),
        (facts(redis_version="7.2.4", redict_version="7.3.6"), "ok", "Redict 7.3.6"),
        (facts(redis_version="5.0.12"), "failure", "Redis 5.0.12"),
        (facts({"server": "other", "version": "1.0"}), "ok", "other 1.0"),
        (facts(), "unknown", "it tells neither kind nor version"),
    ],
)
def test_identity(known: Facts, verdict: str, seen: str) -> None:
    check = identity(known)
    assert (check.verdict, check.seen) == (verdict, seen)


@pytest.mark.parametrize(
    ("known", "name", "verdict", "seen"),
    [
        (facts(maxmemory_policy="noeviction"), "eviction", "ok", "noeviction"),
        (facts(maxmemory_policy="allkeys-lru"), "eviction", "warning", "allkeys-lru"),
        (facts(maxmemory_policy="volatile-ttl"), "eviction", "warning", "volatile-ttl"),
        (facts(used_memory="1"), "eviction", "unknown", "the server does not tell"),
        (facts(used_memory="1048576", maxmemory="0"), "memory", "ok", "1.0 MiB used, no limit set"),
        (facts(used_memory="89", maxmemory="100"), "memory", "ok", "0.0 MiB of 0.0 MiB used"),
        (facts(used_memory="90", maxmemory="100"), "memory", "warning", "0.0 MiB of 0.0 MiB used"),
        (facts(aof_enabled="1"), "persistence", "ok", "AOF"),
        (facts(save="3600 1", aof_enabled="1"), "persistence", "ok", "AOF and RDB (3600 1)"),
        (facts(save="3600 1", aof_enabled="0"), "persistence", "warning", "RDB alone: what came"),
        (facts(aof_enabled="0"), "persistence", "warning", "none"),
        (facts(save=None, aof_enabled="0"), "persistence", "unknown", "no AOF; the server does"),
        (
            facts(aof_enabled="1", aof_last_write_status="err"),
            "persistence",
            "warning",
            "AOF, and the last write failed (aof_last_write_status)",
        ),
        (
            facts(save="60 1", rdb_last_bgsave_status="err"),
            "persistence",
            "warning",
            "RDB (60 1), and the last write failed (rdb_last_bgsave_status)",
        ),
        (facts(), "settings", "unknown", "eviction, memory and persistence: NOPERM no perm"),
    ],
)
def test_settings(known: Facts, name: str, verdict: str, seen: str) -> None:
    (check,) = (check for check in settings(known) if check.name == name)
    assert check.verdict == verdict
    assert check.seen.startswith(seen)
    assert bool(check.advice) is (verdict == "warning" or name == "settings")


@pytest.mark.parametrize(
    ("known", "role", "verdict", "seen"),
    [
        (facts({"role": "master"}), Role.WORKER, "ok", "a primary"),
        (facts(role="master", connected_slaves="0"), Role.WORKER, "ok", "a primary"),
        (facts({"role": "replica"}), Role.WORKER, "failure", "a replica"),
        (facts(role="slave"), Role.PRODUCER, "failure", "a replica"),
        (
            facts(role="slave"),
            Role.OBSERVER,
            "ok",
            "a replica: what is seen may be a little late",
        ),
        (
            facts(role="master", connected_slaves="1"),
            Role.WORKER,
            "warning",
            "a primary with 1 replica",
        ),
        (
            facts(role="master", connected_slaves="2", min_slaves_good_slaves="2"),
            Role.WORKER,
            "ok",
            "a primary with 2 replicas",
        ),
        (facts(), Role.WORKER, "unknown", "the server does not tell"),
    ],
)
def test_replication(known: Facts, role: Role, verdict: str, seen: str) -> None:
    check = replication(known, role)
    assert (check.verdict, check.seen) == (verdict, seen)


@pytest.mark.parametrize(
    ("known", "namespace", "verdict", "advice"),
    [
        (facts({"mode": "standalone"}), "ql", "ok", ""),
        (facts(redis_mode="standalone"), "ql", "ok", ""),
        (facts({"mode": "cluster"}), "ql", "failure", "--namespace '{ql}'"),
        (facts(redis_mode="cluster"), "{}ql", "failure", "--namespace"),
        (facts({"mode": "cluster"}), "{ql}", "warning", "does not follow the slot"),
        (facts(), "ql", "unknown", ""),
    ],
)
def test_cluster(known: Facts, namespace: str, verdict: str, advice: str) -> None:
    check = cluster(known, namespace)
    assert check.verdict == verdict
    assert advice in check.advice


@pytest.mark.parametrize(
    ("told", "verdict", "seen"),
    [
        (["1000", "500000"], "ok", "as ours"),
        (["1001", "400000"], "ok", "as ours"),
        (["1004", "500000"], "warning", "4.0 s ahead of ours"),
        (["990", "500000"], "warning", "10.0 s behind ours"),
        (ServerError("NOPERM no"), "unknown", "NOPERM no"),
    ],
)
def test_clock(told: Any, verdict: str, seen: str) -> None:
    moments = iter((1000.25, 1000.75))
    check = clock(Told(TIME=told), lambda: next(moments))  # type: ignore[arg-type]
    assert (check.verdict, check.seen) == (verdict, seen)


EVAL = ["eval", -3, ["noscript"], 0, 0, 0]


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ({"COMMAND": [None]}, "the server has none"),
        ({"COMMAND": [EVAL]}, "whether it is allowed, the server does not tell"),
        ({}, "whether it is allowed, the server does not tell"),
        ({"WHOAMI": "me"}, "whether it is allowed, the server does not tell"),
        ({"WHOAMI": "me", "DRYRUN": "OK"}, "allowed, but not used"),
        ({"WHOAMI": "me", "DRYRUN": "User me has no permissions"}, "forbidden to this user"),
        (
            {"WHOAMI": "me", "GETUSER": ["flags", ["on"], "commands", "+@all -@scripting"]},
            "forbidden to this user",
        ),
        (
            {"WHOAMI": "me", "GETUSER": ["commands", "+@all -@scripting +eval"]},
            "allowed, but not used",
        ),
        ({"WHOAMI": "me", "GETUSER": {"commands": "-@all +get"}}, "forbidden to this user"),
        ({"WHOAMI": "me", "GETUSER": {"commands": "+@all"}}, "allowed, but not used"),
    ],
)
def test_scripting(told: dict[str, Any], seen: str) -> None:
    check = scripting(Told(**told))  # type: ignore[arg-type]
    assert (check.verdict, check.seen) == (Verdict.OK, f"not needed; {seen}")
