# SPDX-License-Identifier: MIT
"""
Which commands a store has, and the user may send, found out without carrying any out.

A server checks a command when it is queued behind MULTI: whether it is there, allowed, and possible at all.
DISCARD then drops it.
"""

from __future__ import annotations

from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.core.keys import Keys
from pyqless.core.keyspace import WRITES
from pyqless.doctor.report import Check, Verdict
from pyqless.doctor.roles import RIGHTS, Role
from pyqless.doctor.session import Session
from pyqless.errors import StorageError, StoreUnsupported
from pyqless.storage.redis.protocol import ServerError, fault_of

__all__ = ["commands", "learn_faults", "suffices_for"]

#: arguments that a server takes for each command on a key
_ARGUMENTS: Final[dict[str, tuple[Any, ...]]] = {
    "DEL": (),
    "EXISTS": (),
    "EXPIRE": (60,),
    "GET": (),
    "HDEL": ("field",),
    "HGET": ("field",),
    "HGETALL": (),
    "HINCRBY": ("field", 1),
    "HMGET": ("field",),
    "HSET": ("field", "text"),
    "LLEN": (),
    "LPOP": (),
    "LPUSH": ("text",),
    "LRANGE": (0, -1),
    "LREM": (0, "text"),
    "LTRIM": (0, -1),
    "RPUSH": ("text",),
    "SADD": ("member",),
    "SET": ("text",),
    "SISMEMBER": ("member",),
    "SMEMBERS": (),
    "SREM": ("member",),
    "TYPE": (),
    "ZADD": (1, "member"),
    "ZCARD": (),
    "ZCOUNT": (0, 1),
    "ZINCRBY": (1, "member"),
    "ZRANGE": (0, -1),
    "ZRANGEBYSCORE": (0, 1),
    "ZREM": ("member",),
    "ZREMRANGEBYSCORE": (0, 1),
    "ZREVRANGE": (0, -1),
    "ZREVRANGEBYSCORE": (1, 0),
    "ZSCORE": ("member",),
}


def _samples(keys: Keys, name: str) -> tuple[list[Command], list[Command]]:
    """One call of each command that can be queued: the harmless ones, and those that would write."""
    on_keys: list[Command] = [(word, name, *rest) for word, rest in _ARGUMENTS.items()]
    writes = [sample for sample in on_keys if sample[0] in {*WRITES, "EXPIRE", "SET"}]
    reads = [("SCAN", "0"), *(sample for sample in on_keys if sample not in writes)]
    listening: list[Command] = [
        ("PING",),
        ("SUBSCRIBE", name),
        ("PSUBSCRIBE", keys.channel("*"), keys.worker_channel("*")),
        ("PUBLISH", name, "text"),
    ]
    return reads, [*writes, *listening]


class _Inquiry:
    """Questions about commands, and what the server says against them."""

    def __init__(self) -> None:
        self.faults: dict[str, StorageError] = {}

    def ask(self, session: Session, *asked: Command, wanted: str | None = None) -> bool:
        """Send commands and note the faults; returns whether there was none."""
        faultless = True
        for command, reply in zip(asked, session.ask(*asked), strict=True):
            if isinstance(reply, ServerError):
                self.faults[command[0]] = fault_of(reply, command[0])
                faultless = False
            elif wanted is not None and reply != wanted:
                raise StoreUnsupported(
                    f"the store answers {command[0]} with {reply!r}, where it should say {wanted}"
                )
        return faultless


def learn_faults(pool: Any, keys: Keys, name: str) -> dict[str, StorageError]:
    """
    Ask for every command that pyqless may send.

    Args:
        pool: of redis-py.
        name: of a key and a channel of the examiner's own, which stay untouched.

    Returns:
        dict: what stands against a command, by its name.

    Raises:
        StorageError: the connection broke, or the server does not queue what it should.
    """
    inquiry = _Inquiry()
    with Session(pool) as session:
        inquiry.ask(session, ("WATCH", name), ("UNWATCH",))
        # nothing may follow a MULTI that was refused: it would be carried out
        if not inquiry.ask(session, ("MULTI",), wanted="OK"):
            return inquiry.faults
        for samples in _samples(keys, name):
            inquiry.ask(session, *samples, wanted="QUEUED")
        inquiry.ask(session, ("DISCARD",), wanted="OK")
    with Session(pool) as session:  # where DISCARD is refused, the samples are still queued above
        inquiry.ask(session, ("MULTI",))
        inquiry.ask(session, ("EXEC",))
    return inquiry.faults


def suffices_for(faults: dict[str, StorageError]) -> list[Role]:
    """The roles that need no command with a fault."""
    return [role for role in Role if RIGHTS[role].commands.isdisjoint(faults)]


def commands(role: Role, faults: dict[str, StorageError]) -> Check:
    """Judge whether a role has all that it needs, in the words of the error that pyqless would raise."""
    needed = sorted(RIGHTS[role].commands)
    against = {command: faults[command] for command in needed if command in faults}
    if not against:
        return Check("commands", Verdict.OK, f"the {len(needed)} that pyqless needs as {role}")
    fault = next(iter(against.values()))
    others = [command for command in against if command != fault.argument]
    seen = f"{fault} (likewise {', '.join(others)})" if others else str(fault)
    return Check("commands", Verdict.FAILURE, seen, _advice(role, fault, suffices_for(faults)))


def _advice(role: Role, fault: StorageError, roles: list[Role]) -> str:
    if fault.value == "NOPERM":
        enough = f"; they are enough for: {', '.join(roles)}" if roles else ""
        return f"give the user the rights that `pyqless doctor --acl {role}` prints{enough}"
    if isinstance(fault, StoreUnsupported):
        return "use a store that has these commands, such as Redis from 6.2 on or Valkey"
    return _REMEDIES.get(fault.value, "put right what the store complains of")


_REMEDIES: Final = {
    "NOAUTH": "put user and password into the URL: redis://USER:PASSWORD@HOST",
    "OOM": "raise maxmemory, or remove what takes the room; jobs cannot even be completed",
    "READONLY": "use the primary's URL; on a replica only an observer can work (--role observer)",
    "MISCONF": "make room on the server's disk, or see its log for why it cannot save",
    "NOREPLICAS": "bring the replicas back, or lower min-replicas-to-write",
    "MOVED": "pyqless does not follow a cluster's slots: use the URL of the node that has this one",
}
