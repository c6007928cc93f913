# SPDX-License-Identifier: MIT
"""
The rights that a part in the work needs: which commands of the store it sends, and no more.

A store grants rights by command and by key, not by rule. So a role's rights let pyqless do what belongs to
the role; what needs a further command is refused, what needs none is not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyqless.core.keys import Keys
from pyqless.errors import InvalidArgument

__all__ = ["RIGHTS", "Rights", "Role", "acl_line"]


class Role(StrEnum):
    """A part in the work."""

    #: makes jobs, ordinary and recurring ones, changes and cancels them
    PRODUCER = "producer"
    #: does jobs, and all that jobs themselves may want: make further ones, tag, log
    WORKER = "worker"
    #: looks at everything and listens, but changes nothing
    OBSERVER = "observer"
    #: does everything there is
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Rights:
    """What a role may do, and what of the store it takes."""

    #: commands of the core by their wire names, with the subcommand where it matters
    calls: frozenset[str]
    #: commands of the store
    commands: frozenset[str]
    #: further ones that make it faster, but can be done without
    faster: frozenset[str] = frozenset()

    @property
    def write(self) -> bool:
        """Whether they allow to change anything."""
        return "HSET" in self.commands


def _rights(calls: str, commands: str, faster: str = "") -> Rights:
    names = (name.replace("_", " ") for name in calls.split())
    return Rights(frozenset(names), frozenset(commands.split()), frozenset(faster.split()))


#: what any look takes: a view of several reads is a transaction, too
_LOOK: Final = "EXEC HGET HGETALL HMGET LRANGE MULTI SMEMBERS UNWATCH WATCH ZCARD ZRANGE ZSCORE"
#: what telling why a job is not running takes
_EXPLAIN: Final = "SISMEMBER ZCOUNT"
#: what looking into queues takes
_QUEUES: Final = f"{_EXPLAIN} ZRANGEBYSCORE ZREVRANGE"
#: what looking at workers takes: at those that have died, by those that are to see to what they had in hand
_WORKERS: Final = "ZREVRANGEBYSCORE"
#: what dropping workers that were not seen for long takes, as a look at workers does where it may write
_DROP: Final = "ZREMRANGEBYSCORE"
#: what hearing of a job's end takes; by PING a subscription asks whether all has arrived
_HEAR: Final = "PING SUBSCRIBE"
#: what listening takes
_LISTEN: Final = f"{_HEAR} PSUBSCRIBE"
#: what a commit takes: DISCARD where one is broken off, HSET and EXPIRE for the connection's fence,
#: HGET and HINCRBY to find out what became of a commit whose reply was lost
_COMMIT: Final = "DISCARD EXPIRE HINCRBY HSET PUBLISH"
#: what making a job takes, and clearing away what had its place before
_MAKE: Final = "DEL LPOP LPUSH LREM LTRIM RPUSH SADD SREM ZADD ZINCRBY ZREM"
#: what waiting for one's turn takes, where many workers pop from one queue
_TURNS: Final = "BLPOP"
#: what moving a whole store takes, and the janitor's look at all keys; SCAN tells the names of others' keys, too
_MOVE: Final = "GET SCAN SET TYPE"

_JOBS: Final = (
    "cancel config.get depends get length log multiget priority put requeue"
    " tag_add tag_get tag_remove"
)
_RECURRING: Final = "recur recur.get recur.tag recur.untag recur.update unrecur"
_TRACKING: Final = "track_track track_untrack"
_WORK: Final = "complete fail heartbeat peek pop retry timeout worker.deregister workers"
_VIEWS: Final = "config.get failed get jobs length multiget queues recur.get stats tag_get tag_top track workers"
_OPERATION: Final = "config.set config.unset pause queue.forget unfail unpause"

RIGHTS: Final[dict[Role, Rights]] = {
    Role.PRODUCER: _rights(
        f"{_JOBS} {_RECURRING} {_TRACKING}",
        f"{_LOOK} {_EXPLAIN} {_COMMIT} {_MAKE} EXISTS",
        faster=_HEAR,
    ),
    Role.WORKER: _rights(
        f"{_JOBS} {_WORK}",
        f"{_LOOK} {_QUEUES} {_WORKERS} {_DROP} {_LISTEN} {_COMMIT} {_MAKE} HDEL",
        faster=_TURNS,
    ),
    Role.OBSERVER: _rights(
        _VIEWS,
        f"{_LOOK} {_QUEUES} {_WORKERS} {_LISTEN} LLEN",
    ),
    Role.OPERATOR: _rights(
        f"{_JOBS} {_RECURRING} {_TRACKING} {_WORK} {_VIEWS} {_OPERATION}",
        f"{_LOOK} {_QUEUES} {_WORKERS} {_DROP} {_LISTEN} {_COMMIT} {_MAKE} {_MOVE}"
        " EXISTS HDEL LLEN",
        faster=_TURNS,
    ),
}

_NAME: Final = re.compile(r"[^\s*?\[\]\\\"'\x00-\x1f]+")


def acl_line(
    role: Role, *, user: str | None = None, namespace: str = "ql", database: int = 0
) -> str:
    """
    Write the command that gives a user a role's rights, and takes all others away.

    It is the same for all servers from Redis 6.2 on, which is why a user's selectors, new in Redis 7, stay as
    they are. So do its passwords. Patterns of channels stand there one by one: a server subscribes nobody to a pattern
    because a wider one is allowed.

    Args:
        user: its name; ``pyqless-`` and the role unless given.
        namespace: what stands before the first colon of every key.
        database: a number other than 0 takes the right to change over to it.

    Raises:
        InvalidArgument: a name holds what would mean something else in such a command.
    """
    name = _plain("user", f"pyqless-{role}" if user is None else user)
    prefix = _plain("namespace", namespace) + ":*"
    every_worker = Keys(namespace).worker_channel("*")
    rights = RIGHTS[role]
    commands = sorted(rights.commands | rights.faster | ({"SELECT"} if database else set()))
    granted = " ".join(f"+{command.lower()}" for command in commands)
    channels = f"&{prefix}" + (f" &{every_worker}" if "PSUBSCRIBE" in commands else "")
    return f"ACL SETUSER {name} on resetkeys ~{prefix} resetchannels {channels} -@all {granted}"


def _plain(argument: str, value: str) -> str:
    if _NAME.fullmatch(value):
        return value
    text = f"{argument} must have no spaces, quotes and wildcards to stand in an ACL, not {value!r}"
    raise InvalidArgument(text, argument=argument, value=value)
