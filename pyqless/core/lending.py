# SPDX-License-Identifier: MIT
"""
Which transactions only lend: what they change, a worker takes with it when its machine goes down.

Where the store lies on the machine of all its workers, a power cut that undoes a hand-out does what an expired
lock does: the job waits again, and nobody is left who works on it. That is as good as what the call has promised,
except where it is the last run that the job may have, or where the worker has sent new data along.
"""

from __future__ import annotations

from typing import Final

from pyqless.core import lua
from pyqless.core.transaction import Transaction

__all__ = ["only_lends"]

#: the sets of a queue that only say where a job stands
_PLACES: Final = ("-locks", "-scheduled", "-work")


def only_lends(tx: Transaction) -> bool:
    """
    Whether what a transition has staged is no more than who has which job, and which workers were seen.

    What is not known to be that is work: so is any new kind of write.
    """
    keys = tx.keys
    hands, places, statistics = (f"{keys.prefix}{kind}:" for kind in "wqs")
    lent = {write[-1] for write in tx.writes if write[0] == "ZADD" and write[1].startswith(hands)}
    jobs, histories = set(map(keys.job, lent)), set(map(keys.history, lent))
    for name, key, *arguments in tx.writes:
        if name == "PUBLISH" or (name, key, *arguments[:1]) == ("ZADD", keys.workers, tx.now):
            continue
        if key in jobs and "data" not in arguments[::2]:
            continue
        if key in histories or (lent and key.startswith((hands, statistics))):
            continue
        if lent and key.startswith(places) and key.endswith(_PLACES):
            continue
        return False
    changed = tx.changed
    return all(_may_run_again(changed.get(job)) for job in jobs)


def _may_run_again(fields: object) -> bool:
    """Whether a job could be lent once more if this loan came to nothing."""
    if not isinstance(fields, dict) or fields.get("state") != "running":
        return False
    return (lua.to_number(fields.get("remaining")) or 0.0) > 0
