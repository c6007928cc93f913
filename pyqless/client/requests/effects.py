# SPDX-License-Identifier: MIT
"""What requests do with the core's transitions besides giving them their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar, cast

from pyqless.core.effects import Continue, Factory, FollowedBy, Transition
from pyqless.core.keys import Keys
from pyqless.core.looking import without_writes
from pyqless.core.transaction import Transaction

__all__ = ["Look", "end_channel", "giving", "settled", "telling", "telling_end"]

T = TypeVar("T")

#: what is left of a job that its own completion deletes, where no completed jobs are kept
_GONE: Final = {"state": "complete", "queue": "", "worker": "", "expires": "0"}


class Look(Generic[T]):
    """
    A request that asks for something, and may put something in order first, as in the core.

    Args:
        transition: what is asked for.
        bare: the same without a write, for clients that only look; unless given, the transition less what
            it would write.
    """

    def __init__(self, transition: Factory[T | Continue], bare: Factory[T] | None = None) -> None:
        self._transition = settled(transition)
        self.bare = without_writes(self._transition) if bare is None else bare

    def __call__(self, tx: Transaction) -> Transition[T]:
        """Begin it."""
        return self._transition(tx)


def settled(transition: Factory[T | Continue | FollowedBy]) -> Factory[T]:
    """Type a transition by what the storage makes of it: it carries out what is to follow."""
    return cast("Factory[T]", transition)


def giving(value: T, transition: Factory[object]) -> Factory[T]:
    """Let a transition give something else than it does."""

    def begin(tx: Transaction) -> Transition[T]:
        yield from transition(tx)
        return value

    return begin


def end_channel(keys: Keys, jid: str) -> str:
    """Where pyqless tells of an end that the core is silent about, that of a job whose retries are spent."""
    return keys.channel(f"py:end:{jid}")


def telling_end(jid: str, retry: Factory[int]) -> Factory[int]:
    """Let a retry tell those who wait for the job's end if it has failed."""

    def begin(tx: Transaction) -> Transition[int]:
        remaining = yield from retry(tx)
        if remaining < 0:
            tx.publish(end_channel(tx.keys, jid), "")
        return remaining

    return begin


def telling(
    key: Callable[[Keys, str], str], jid: str, transition: Factory[T | Continue | FollowedBy]
) -> Factory[tuple[T, dict[str, str]]]:
    """
    Let a transition tell, beside its value, how it leaves the job.

    Args:
        key: where the key map has the job's hash; a transition of one link has read it whole, so that the look at
            it costs nothing.
    """

    def begin(tx: Transaction) -> Transition[tuple[T, dict[str, str]] | Continue | FollowedBy]:
        value = yield from transition(tx)
        if isinstance(value, Continue):
            return Continue(telling(key, jid, value.rest))
        name = key(tx.keys, jid)
        image = tx.image(name)
        if image is None:
            (image,) = yield from tx.read(("HGETALL", name))
        fields = dict(image) or dict(_GONE)
        if isinstance(value, FollowedBy):
            return FollowedBy((value.value, fields), value.rest)
        return value, fields

    return settled(begin)
