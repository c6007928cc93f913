# SPDX-License-Identifier: MIT
"""What happens to a job that is put under a jid which is taken already; the core itself always replaces."""

from __future__ import annotations

from typing import Literal

from pyqless.core.effects import Transition
from pyqless.core.putting import JobSpec, put
from pyqless.core.transaction import Transaction
from pyqless.errors import JobExists

__all__ = ["OnConflict", "put_unless_taken"]

#: ``replace``: as the core does; ``keep``: the old job stays, the new one is dropped; ``error``: JobExists;
#: ``replace_if_done``: the old job is replaced if it is complete or failed, and stays otherwise
OnConflict = Literal["replace", "keep", "error", "replace_if_done"]

_DONE = ("complete", "failed")


def put_unless_taken(
    tx: Transaction, worker: str, queue: str, jid: str, spec: JobSpec, on_conflict: OnConflict
) -> Transition[bool]:
    """
    Put a job, unless its jid is taken by a job or a recurring job.

    Returns:
        bool: whether it was put.

    Raises:
        JobExists: the jid is taken, and that is to be an error.
    """
    keys = tx.keys
    state, recurs = yield from tx.read(
        ("HGET", keys.job(jid), "state"), ("HGET", keys.recurring_job(jid), "jid")
    )
    is_taken = recurs is not None or (
        state is not None and not (on_conflict == "replace_if_done" and state in _DONE)
    )
    if is_taken and on_conflict == "error":
        what = "recurring job" if recurs is not None else f"job ({state})"
        raise JobExists(f"there is a {what} {jid!r} already", argument="jid", value=jid)
    if is_taken and on_conflict != "replace":
        return False
    yield from put(tx, worker, queue, jid, spec)
    return True
