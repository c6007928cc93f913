# SPDX-License-Identifier: MIT
"""How a server is set up, and whether it keeps what it is given."""

from __future__ import annotations

from typing import Final

from pyqless.doctor.report import Check, Verdict
from pyqless.doctor.server import Facts

__all__ = ["settings"]

#: the part of maxmemory from which on there is cause for concern
NEARLY_FULL: Final = 0.9


def settings(facts: Facts) -> list[Check]:
    """Whether the server keeps what it is given."""
    if facts.info:
        return [_eviction(facts.info), _memory(facts.info), _persistence(facts)]
    seen = f"eviction, memory and persistence: {facts.refusal}"
    return [Check("settings", Verdict.UNKNOWN, seen, "run this as an administrator once")]


def _eviction(info: dict[str, str]) -> Check:
    policy = info.get("maxmemory_policy")
    if policy is None:
        return Check("eviction", Verdict.UNKNOWN, "the server does not tell")
    if policy == "noeviction":
        return Check("eviction", Verdict.OK, policy)
    advice = "CONFIG SET maxmemory-policy noeviction; otherwise jobs vanish when memory is short"
    return Check("eviction", Verdict.WARNING, policy, advice)


def _memory(info: dict[str, str]) -> Check:
    used, limit = int(info.get("used_memory", 0)), int(info.get("maxmemory", 0))
    if not limit:
        return Check("memory", Verdict.OK, f"{_mebibytes(used)} used, no limit set")
    seen = f"{_mebibytes(used)} of {_mebibytes(limit)} used"
    if used < NEARLY_FULL * limit:
        return Check("memory", Verdict.OK, seen)
    advice = (
        "raise maxmemory; once it is full, jobs can neither be put nor (before Redis 7.4) completed"
    )
    return Check("memory", Verdict.WARNING, seen, advice)


def _mebibytes(number: int) -> str:
    return f"{number / 2**20:.1f} MiB"


def _persistence(facts: Facts) -> Check:
    appends, save = facts.info.get("aof_enabled") == "1", facts.save
    ways = [*(["AOF"] if appends else []), *([f"RDB ({save})"] if save else [])]
    failed = [
        name
        for name in ("aof_last_write_status", "rdb_last_bgsave_status")
        if facts.info.get(name, "ok") != "ok"
    ]
    if failed:
        seen = f"{' and '.join(ways) or 'none'}, and the last write failed ({', '.join(failed)})"
        return Check("persistence", Verdict.WARNING, seen, "see the server's log, and its disk")
    if appends:
        return Check("persistence", Verdict.OK, " and ".join(ways))
    if save is None:
        return Check("persistence", Verdict.UNKNOWN, "no AOF; the server does not tell of RDB")
    advice = "CONFIG SET appendonly yes, should jobs outlive a crash of the server"
    seen = "RDB alone: what came since the last save is lost in a crash" if save else "none"
    return Check("persistence", Verdict.WARNING, seen, advice)
