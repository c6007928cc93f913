# SPDX-License-Identifier: MIT
"""What a server says of itself, and what that means for the jobs on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from pyqless.doctor.report import Check, Verdict
from pyqless.doctor.roles import RIGHTS, Role
from pyqless.doctor.session import Session
from pyqless.storage.described import Clock
from pyqless.storage.redis.protocol import ServerError

__all__ = ["Facts", "clock", "cluster", "identity", "learn_facts", "replication"]

#: the oldest Redis whose transactions abort when a watched key expires, and that has all commands
FLOOR: Final = (6, 2)
#: seconds by which clocks may differ without a warning, beside half a round trip
TOLERANCE: Final = 1.0

_NAMES: Final = {"redis": "Redis", "valkey": "Valkey", "redict": "Redict"}


class Facts(NamedTuple):
    """What a server says."""

    #: the reply to HELLO, which every user may send; empty on a server before Redis 6
    hello: dict[str, Any]
    #: the reply to INFO; empty where it is refused
    info: dict[str, str]
    #: why INFO is refused
    refusal: str
    #: the setting ``save``, or None where nobody tells
    save: str | None

    @property
    def in_process(self) -> bool:
        """Whether it is no server at all, but fakeredis."""
        return self.hello.get("server") == "fakeredis"


def learn_facts(session: Session) -> Facts:
    """Ask a server about itself."""
    hello, info, save = session.ask(("HELLO",), ("INFO",), ("CONFIG", "GET", "save"))
    return Facts(
        hello=_paired(hello),
        info=dict(_lines(info)) if isinstance(info, str) else {},
        refusal=str(info) if isinstance(info, ServerError) else "",
        save=_paired(save).get("save"),
    )


def _paired(reply: Any) -> dict[str, Any]:
    """A map, which comes as a list of names and values in protocol 2; an error says nothing."""
    if isinstance(reply, list):
        return dict(zip(reply[::2], reply[1::2], strict=True))
    return reply if isinstance(reply, dict) else {}


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name, value


# -- who it is --------------------------------------------------------------------------------


def identity(facts: Facts) -> Check:
    """The kind of store and its version; kin of Redis give the version of Redis that they are like, too."""
    kind, version = facts.hello.get("server"), facts.hello.get("version")
    for kin in ("valkey", "redict"):
        if own := facts.info.get(f"{kin}_version"):
            kind, version = kin, own
    if kind is None:
        kind, version = "redis", facts.info.get("redis_version")
    if version is None:
        return Check("server", Verdict.UNKNOWN, "it tells neither kind nor version")
    seen = f"{_NAMES.get(kind, kind)} {version}"
    if kind == "redis" and _numbers(version) < FLOOR:
        return Check("server", Verdict.FAILURE, seen, "use Redis 6.2 or later, or Valkey")
    return Check("server", Verdict.OK, seen)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


# -- whom it belongs with ---------------------------------------------------------------------


def replication(facts: Facts, role: Role) -> Check:
    """Whether this is the primary, and whether its replicas keep up."""
    part = facts.info.get("role") or facts.hello.get("role")
    if part is None:
        return Check("replication", Verdict.UNKNOWN, "the server does not tell")
    if part not in ("master", "primary"):
        if RIGHTS[role].write:
            return Check("replication", Verdict.FAILURE, "a replica", "use the primary's URL")
        return Check("replication", Verdict.OK, "a replica: what is seen may be a little late")
    replicas = int(facts.info.get("connected_slaves", 0))
    if not replicas:
        return Check("replication", Verdict.OK, "a primary")
    seen = f"a primary with {replicas} replica" + ("s" if replicas > 1 else "")
    if "min_slaves_good_slaves" in facts.info:
        return Check("replication", Verdict.OK, seen)
    advice = (
        "CONFIG SET min-replicas-to-write 1 and min-replicas-max-lag 2;"
        " otherwise a failover loses what the old primary took in meanwhile"
    )
    return Check("replication", Verdict.WARNING, seen, advice)


def cluster(facts: Facts, namespace: str) -> Check:
    """Whether the keys of a namespace can lie on one node."""
    modes = (facts.hello.get("mode"), facts.info.get("redis_mode"))
    if "cluster" not in modes:
        verdict = Verdict.OK if any(modes) else Verdict.UNKNOWN
        return Check("cluster", verdict, "none" if any(modes) else "the server does not tell")
    if re.search(r"\{[^}]+\}", namespace):
        seen = f"a node of a cluster; {namespace!r} has all keys in one slot"
        return Check("cluster", Verdict.WARNING, seen, "mind that pyqless does not follow the slot")
    advice = f"a namespace in braces keeps all keys in one slot: --namespace '{{{namespace}}}'"
    seen = f"a node of a cluster; the keys of {namespace!r} lie on many"
    return Check("cluster", Verdict.FAILURE, seen, advice)


def clock(session: Session, local: Clock) -> Check:
    """
    Compare the server's clock with ours.

    Args:
        local: gives Unix time, seconds.
    """
    before = local()
    told = session.ask_one("TIME")
    after = local()
    if isinstance(told, ServerError):
        return Check("clock", Verdict.UNKNOWN, str(told))
    seconds, microseconds = map(int, told)
    ahead = seconds + microseconds / 1e6 - (before + after) / 2
    if abs(ahead) <= TOLERANCE + (after - before) / 2:
        return Check("clock", Verdict.OK, "as ours")
    seen = f"{abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} ours"
    advice = (
        "set the clocks by NTP: locks of workers whose clocks differ expire too early or too late"
    )
    return Check("clock", Verdict.WARNING, seen, advice)
