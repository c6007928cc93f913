# SPDX-License-Identifier: MIT
"""The check that a worker still holds a job's lock, which every call on a running job begins with."""

from __future__ import annotations

from typing import NamedTuple

from pyqless.core.records import StoredJob
from pyqless.errors import JobLost, JobNotFound, NotRunning

__all__ = ["COMPLETE", "FAIL", "HEARTBEAT", "RETRY", "require_lock"]


class _Texts(NamedTuple):
    """The core's words for one call, blemishes included."""

    call: str
    absent: str
    idle: str
    lost: str
    #: the field whose absence says that there is no such job
    witness: str = "worker"


COMPLETE = _Texts(
    "Complete",
    " does not exist",
    " is not currently running: ",
    " has been handed out to another worker: ",
)
FAIL = _Texts(
    "Fail",
    "does not exist",
    "not currently running: ",
    " running with another worker: ",
    witness="state",
)
HEARTBEAT = _Texts(
    "Heartbeat",
    " does not exist",
    " not currently running: ",
    " given out to another worker: ",
)
RETRY = _Texts(
    "Retry",
    " does not exist",
    " is not currently running: ",
    " has been given to another worker: ",
)


def require_lock(job: StoredJob, worker: str, texts: _Texts) -> None:
    """
    Refuse unless the worker holds the job's lock.

    Raises:
        JobNotFound: there is no such job.
        NotRunning: nobody holds its lock.
        JobLost: another worker does.
        CorruptedJob: its state or its worker is missing.
    """
    jid = job.jid
    lua = f"{texts.call}(): Job {jid}"
    if texts.witness not in job.fields:
        raise JobNotFound(
            f"there is no job {jid!r}", argument="jid", value=jid, lua=lua + texts.absent
        )
    state = job.text("state")
    if state != "running":
        raise NotRunning(
            f"job {jid!r} is not running but {state}",
            argument="state",
            value=state,
            lua=lua + texts.idle + state,
        )
    holder = job.text("worker")
    if holder != worker or (texts is HEARTBEAT and not holder):
        raise JobLost(
            f"job {jid!r} is held by another worker: {holder!r}",
            argument="worker",
            value=holder,
            lua=lua + texts.lost + holder,
        )
