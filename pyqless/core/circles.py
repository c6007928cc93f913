# SPDX-License-Identifier: MIT
"""Jobs that wait for each other in a circle, and so for ever: neither the core nor we forbid it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction

__all__ = ["find_circle"]

#: how far is looked: so many jobs, and so many round trips
_JOBS: Final = 1000
_STEPS: Final = 20


def find_circle(tx: Transaction, jid: str, others: Iterable[str]) -> Transition[tuple[str, ...]]:
    """
    Look for a circle that a job waits for, or stands in.

    Args:
        others: the jids that it waits for.

    Returns:
        tuple: jids, each waiting for the next and the last one for the first; none if there is no circle near.
    """
    waits = {jid: sorted(others)}
    level = waits[jid]
    for _ in range(_STEPS):
        new = [name for name in dict.fromkeys(level) if name not in waits][: _JOBS - len(waits)]
        if not new:
            break
        reads = [("SMEMBERS", tx.keys.dependencies(name)) for name in new]
        found = [sorted(members) for members in (yield from tx.snapshot(*reads))]
        waits.update(zip(new, found, strict=True))
        level = [name for names in found for name in names]
    return _circle_in(waits, jid)


def _circle_in(waits: Mapping[str, list[str]], start: str) -> tuple[str, ...]:
    bound = dict(waits)
    while free := [name for name in bound if bound.keys().isdisjoint(bound[name])]:
        for name in free:
            del bound[name]
    if start not in bound:
        return ()
    # each of these waits for another of them, so whoever goes on and on comes round
    path: list[str] = []
    name = start
    while name not in path:
        path.append(name)
        name = next(other for other in bound[name] if other in bound)
    return tuple(path[path.index(name) :])
