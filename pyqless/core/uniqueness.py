# SPDX-License-Identifier: MIT
"""What happens to a job that is put, or a recurring one, under a jid that is taken; the core always replaces."""

from __future__ import annotations

from typing import Literal

from pyqless.core import recurring
from pyqless.core.effects import Transition
from pyqless.core.putting import JobSpec, put
from pyqless.core.recurring import RecurSpec
from pyqless.core.transaction import Transaction
from pyqless.errors import JobExists

__all__ = ["OnConflict", "put_unless_taken", "recur_unless_taken"]

#: ``replace``: as the core does; ``keep``: the old job stays, the new one is dropped; ``error``: JobExists;
#: ``replace_if_done``: an old job that is complete or failed is replaced, any other stays
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
    is_free = yield from _is_free(tx, jid, on_conflict)
    if is_free:
        yield from put(tx, worker, queue, jid, spec)
    return is_free


def recur_unless_taken(
    tx: Transaction, queue: str, jid: str, spec: RecurSpec, on_conflict: OnConflict
) -> Transition[bool]:
    """
    Let a queue make a job every so often, unless the jid is taken by a job or a recurring job.

    Returns:
        bool: whether it will.

    Raises:
        JobExists: the jid is taken, and that is to be an error.
    """
    is_free = yield from _is_free(tx, jid, on_conflict)
    if is_free:
        yield from recurring.recur(tx, queue, jid, spec)
    return is_free


def _is_free(tx: Transaction, jid: str, on_conflict: OnConflict) -> Transition[bool]:
    """Whether a jid may be taken; what says so is guarded."""
    keys = tx.keys
    state, recurs = yield from tx.read(
        ("HGET", keys.job(jid), "state"), ("HGET", keys.recurring_job(jid), "jid")
    )
    is_done = on_conflict == "replace_if_done" and state in _DONE
    is_taken = recurs is not None or not (state is None or is_done)
    if is_taken and on_conflict == "error":
        what = "recurring job" if recurs is not None else f"job ({state})"
        raise JobExists(f"there is a {what} {jid!r} already", argument="jid", value=jid)
    return on_conflict == "replace" or not is_taken
