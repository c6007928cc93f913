# SPDX-License-Identifier: MIT
"""Recovery: what became of a commit that was not answered."""

from __future__ import annotations

from pyqless.errors import OutcomeUnknown, StorageError
from pyqless.storage.redis.lane import Lane
from pyqless.storage.redis.protocol import ServerError
from pyqless.storage.redis.steps import LinkLost, Pause, Steps

__all__ = ["recover"]


def recover(lane: Lane) -> Steps[bool]:
    """
    Find out what became of the last commit, and see to it that it can take place no more.

    Returns:
        bool: whether it has taken place.

    Raises:
        OutcomeUnknown: the store cannot say.
    """
    lane.metrics.recoveries += 1
    reason: object = "it did not answer in time"
    pauses = lane.policy.patience(lane.policy.monotonic())
    seconds: float | None = 0.0
    while seconds is not None:
        try:
            replies = yield from lane.exchange(*lane.fence.questions())
        except (LinkLost, StorageError) as error:
            reason = error
        else:
            answer = lane.fence.tell(replies)
            if not isinstance(answer, ServerError):
                return answer
            reason = answer
            yield from lane.close()
        seconds = next(pauses, None)
        if seconds is not None:
            yield Pause(seconds)
    raise OutcomeUnknown(
        f"the connection broke during a commit, and the store cannot be asked: {reason};"
        " it may still take place, so a look at the job can come too early; the same call made again cannot",
        argument=lane.fence.key,
    )
