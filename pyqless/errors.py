# SPDX-License-Identifier: MIT
"""
Every error that pyqless raises: one family, split by who is at fault.

``RequestError`` is the caller's: the call itself was wrong, or the job was not in a state that allows it.
``StorageError`` is the store's: it could not be reached, would not commit, or holds something that is no qless data.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "ClientClosed",
    "ConflictError",
    "CorruptedJob",
    "DamagedDump",
    "DanglingEntry",
    "DataMismatch",
    "DataTooLarge",
    "HasDependents",
    "InvalidArgument",
    "InvalidSetting",
    "JobExists",
    "JobLost",
    "JobNotFound",
    "NotDepending",
    "NotReplicated",
    "NotRunning",
    "OutcomeUnknown",
    "PrecisionWarning",
    "QlessError",
    "QueueFull",
    "QueueNotEmpty",
    "ReadOnlyClient",
    "RecurringJobNotFound",
    "RequestError",
    "StorageError",
    "StoreCorrupted",
    "StoreNotEmpty",
    "StoreRefused",
    "StoreUnavailable",
    "StoreUnsupported",
    "UnknownCommand",
    "WrongLoop",
    "WrongQueue",
]


class QlessError(Exception):
    """
    The root of the family.

    Attributes:
        code: a short stable name of the error, for machines.
        argument: the argument, key or setting at fault, or None.
        value: its value as it was given, or None.
        lua: the Lua core's own text for this error, or None where the core has none.
    """

    code = "error"

    def __init__(
        self,
        message: str,
        *,
        argument: str | None = None,
        value: Any = None,
        lua: str | None = None,
    ) -> None:
        super().__init__(message)
        self.argument = argument
        self.value = value
        self.lua = lua


class RequestError(QlessError):
    """The caller is at fault: the call cannot be carried out, and nothing was changed."""

    code = "request"


class InvalidArgument(RequestError):
    """An argument is missing, malformed or out of range."""

    code = "invalid_argument"


class DataTooLarge(InvalidArgument):
    """A job's data is longer than the client allows; ``value`` is its size as JSON, bytes."""

    code = "data_too_large"


class DataMismatch(InvalidArgument):
    """A job's data is not of the type that is wanted; ``argument`` names the place, ``value`` is what stands there."""

    code = "data_mismatch"


class UnknownCommand(RequestError):
    """The command table has no command of this name."""

    code = "unknown_command"


class JobNotFound(RequestError):
    """No job has this jid (any more); ``value`` is the jid."""

    code = "job_not_found"

    @property
    def jid(self) -> str:
        """The jid that no job has."""
        return str(self.value)


class RecurringJobNotFound(JobNotFound):
    """No recurring job has this jid (any more)."""

    code = "recurring_job_not_found"


class NotRunning(RequestError):
    """The job is not running, so nobody holds its lock; ``value`` is the state it is in."""

    code = "not_running"

    @property
    def state(self) -> str | None:
        """The state that the job is in."""
        return None if self.value is None else str(self.value)


class JobLost(RequestError):
    """Another worker holds the job's lock; ``value`` is that worker's name."""

    code = "job_lost"

    @property
    def owner(self) -> str:
        """The worker that holds the lock now."""
        return str(self.value)


class WrongQueue(RequestError):
    """The job runs in another queue than the one named; ``value`` is the job's queue."""

    code = "wrong_queue"

    @property
    def queue(self) -> str:
        """The queue that the job runs in."""
        return str(self.value)


class NotDepending(RequestError):
    """The job waits for no other job; ``value`` is the state it is in."""

    code = "not_depending"

    @property
    def state(self) -> str:
        """The state that the job is in."""
        return str(self.value)


class HasDependents(RequestError):
    """Other jobs wait for this one; ``value`` lists their jids."""

    code = "has_dependents"

    @property
    def jids(self) -> list[str]:
        """The jobs that wait."""
        return list(self.value)


class JobExists(RequestError):
    """A job with this jid exists already; ``value`` is the jid."""

    code = "job_exists"

    @property
    def jid(self) -> str:
        """The jid that is taken."""
        return str(self.value)


class QueueNotEmpty(RequestError):
    """The queue cannot be forgotten: there are jobs in it; ``value`` is their number."""

    code = "queue_not_empty"

    @property
    def jobs(self) -> int:
        """How many jobs are in it."""
        return int(self.value)


class QueueFull(RequestError):
    """As many jobs wait in the queue as may; ``value`` is their number."""

    code = "queue_full"

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return int(self.value)


class ReadOnlyClient(RequestError):
    """A client that only looks was asked to change something."""

    code = "read_only"


class ClientClosed(RequestError):
    """The client, or the storage, was closed before."""

    code = "client_closed"


class WrongLoop(RequestError):
    """A client for asyncio has connections in another loop than the one that runs now."""

    code = "wrong_loop"


class StoreNotEmpty(RequestError):
    """The store that a dump should go into holds qless data already."""

    code = "store_not_empty"


class DamagedDump(RequestError):
    """What should be a dump is none, or it is incomplete or damaged; ``value`` is what was found."""

    code = "damaged_dump"


class StorageError(QlessError):
    """The store is at fault."""

    code = "storage"


class InvalidSetting(StorageError):
    """A setting's text in the config hash cannot be used; ``argument`` names the setting."""

    code = "invalid_setting"


class StoreUnavailable(StorageError):
    """The store cannot be reached; nothing was changed."""

    code = "unavailable"


class StoreRefused(StorageError):
    """The store refused the transaction (rights, memory, a read-only replica); nothing was changed."""

    code = "refused"


class StoreUnsupported(StorageError):
    """The store lacks or forbids something that pyqless cannot do without; nothing was changed."""

    code = "unsupported"


class ConflictError(StorageError):
    """
    Others kept changing what this transaction had read, until its attempts or its time ran out.

    ``value`` maps each guarded key to True where a last look showed a change.
    """

    code = "conflict"


class OutcomeUnknown(StorageError):
    """The connection broke during the commit, and the store cannot say whether it took place."""

    code = "outcome_unknown"


class NotReplicated(StorageError):
    """
    The call was carried out, but fewer replicas than wanted have said in time that they have it.

    ``value`` is how many have, None where that is not known; ``result`` is what the call would have returned.
    """

    code = "not_replicated"
    result: Any = None


class StoreCorrupted(StorageError):
    """A key does not hold what qless keeps there; ``argument`` is the key, ``value`` what was found."""

    code = "corrupted"


class CorruptedJob(StoreCorrupted):
    """One job's stored fields are missing or make no sense."""

    code = "corrupted_job"


class DanglingEntry(StoreCorrupted):
    """A queue or a list names a job that is not there."""

    code = "dangling_entry"


class PrecisionWarning(UserWarning):
    """
    Data holds an integer that a Lua client would round: a number keeps 14 digits on its way through Lua.

    Large identifiers are safe as text.
    """
