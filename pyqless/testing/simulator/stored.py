# SPDX-License-Identifier: MIT
"""What must be true of a store, whatever has happened: places, dependencies, counters."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from pyqless.core.effects import Command
from pyqless.testing.simulator.history import Commit

__all__ = ["Dump", "dependencies", "differences", "places", "statistics"]

#: every key, with its ``type`` and ``value``
Dump: TypeAlias = Mapping[str, Mapping[str, Any]]

#: the list of samples that have not been entered yet, of waiting or running times
_PENDING: Final = re.compile("ql:py:pending:ql:s:(wait|run):")

#: the set of its queue in which a job in a state may stand; elsewhere are those without one
_PLACES: Final = {
    "waiting": {"work", "scheduled"},
    "scheduled": {"scheduled"},
    "depends": {"depends"},
    "running": {"locks"},
    "stalled": {"work"},
    "failed": {"failed"},
    "complete": {"completed"},
}


def differences(expected: Dump, found: Dump) -> Iterator[str]:
    """Two stores hold the same, but for what only pyqless knows, and what is others'."""
    names = (key for key in expected.keys() | found.keys() if key.startswith("ql:"))
    for key in sorted(key for key in names if not key.startswith("ql:py:")):
        one, other = (dump.get(key, {}).get("value") for dump in (expected, found))
        if one != other:
            yield f"{key} holds {other!r}, not {one!r}"


def places(dump: Dump) -> Iterator[str]:
    """Each job stands in one place, one that its state allows."""
    standing: dict[str, list[str]] = {}
    for key, entry in dump.items():
        for member in _members(key, entry["value"]):
            standing.setdefault(member, []).append(key)
    for jid, fields in _jobs(dump).items():
        sets = standing.pop(jid, [])
        kinds, state = [_kind(key) for key in sets], fields.get("state", "nothing")
        if len(kinds) != 1 or kinds[0] not in _PLACES.get(state, ()):
            yield f"job {jid} is {state}, and stands in {sets}"
    for jid, sets in standing.items():
        yield f"no job {jid} is there, but it stands in {sets}"


def _jobs(dump: Dump) -> dict[str, dict[str, str]]:
    return {
        key.removeprefix("ql:j:"): entry["value"]
        for key, entry in dump.items()
        if key.startswith("ql:j:") and entry["type"] == "hash"
    }


def _kind(key: str) -> str:
    if key.startswith("ql:q:"):
        return key.rpartition("-")[2]
    return "completed" if key == "ql:completed" else "failed" if key.startswith("ql:f:") else ""


def _members(key: str, value: Any) -> list[str]:
    if _kind(key) in ("", "recur"):
        return []
    return list(value) if key.startswith("ql:f:") else [member for member, _ in value]


def dependencies(dump: Dump) -> Iterator[str]:
    """Who waits is awaited, by jobs that can still end."""
    jobs = _jobs(dump)
    waits = set(_pairs(dump, "-dependencies")) - set(_to_be_let_go(dump))
    awaited = {(waiting, other) for other, waiting in _pairs(dump, "-dependents")}
    if waits != awaited:
        yield f"some wait and are not awaited, or are awaited and do not wait: {waits ^ awaited}"
    for jid, other in sorted(waits):
        if jobs.get(other, {}).get("state", "complete") == "complete":
            yield f"job {jid} waits for {other}, which has ended"
    for jid, fields in jobs.items():
        if fields.get("state") == "depends" and f"ql:j:{jid}-dependencies" not in dump:
            yield f"job {jid} waits for nobody"


def _to_be_let_go(dump: Dump) -> Iterator[tuple[str, str]]:
    """Who waits still for a job that is complete, in a chain that was broken."""
    for entry in dump.get("ql:py:letting-go", {"value": ()})["value"]:
        _, parent, *children = json.loads(entry)
        yield from ((child, parent) for child in children)


def _pairs(dump: Dump, suffix: str) -> Iterator[tuple[str, str]]:
    for key, entry in dump.items():
        if key.startswith("ql:j:") and key.endswith(suffix):
            jid = key.removeprefix("ql:j:").removesuffix(suffix)
            yield from ((jid, other) for other in entry["value"])


# -- what is counted --------------------------------------------------------------------------


def statistics(commits: Iterable[Commit], dump: Dump) -> Iterator[str]:
    """Counters count what has happened, and histograms hold as many samples as are counted."""
    done: Counter[str] = Counter()
    for commit in commits:
        for write in commit.writes:
            done[_counted(write)] += 1
    counted: Counter[str] = Counter()
    for key, entry in dump.items():
        kind = key.removeprefix("ql:s:").partition(":")[0] if key.startswith("ql:s:") else ""
        if kind in ("wait", "run"):
            total = int(float(entry["value"]["total"]))
            counted[kind] += total
            bins = sum(
                int(count)
                for name, count in entry["value"].items()
                if name[1:].lstrip("-").isdigit()
            )
            if bins != total:
                yield f"{key} counts {total} samples, and holds {bins}"
        elif kind == "stats":
            counted["failures"] += int(entry["value"].get("failures", 0))
        elif match := _PENDING.match(key):
            counted[match[1]] += len(entry["value"])
    for kind in ("wait", "run", "failures"):
        if done[kind] != counted[kind]:
            yield f"{kind}: {done[kind]} have happened, {counted[kind]} are counted"


def _counted(write: Command) -> str:
    """What a write tells of, in the words of the counters."""
    if write[0] == "RPUSH" and write[1].endswith("-history"):
        if '"popped"' in write[2]:
            return "wait"
        if '"done"' in write[2]:
            return "run"
    if write[0] == "LPUSH" and write[1].startswith("ql:f:"):
        return "failures"
    return ""
