# SPDX-License-Identifier: MIT
"""The key map: the only place that builds the name of a key or a channel."""

from __future__ import annotations

__all__ = ["RESERVED_SUFFIXES", "Keys"]

#: A jid with one of these endings would name another job's list or set.
RESERVED_SUFFIXES = ("-history", "-dependents", "-dependencies")


class Keys:
    """
    The keys and channels of one namespace.

    Args:
        namespace: what stands before the first colon of every key; ``ql`` is qless-core's own.
    """

    __slots__ = (
        "completed",
        "config",
        "failures",
        "letting_go",
        "namespace",
        "own",
        "paused",
        "pendings",
        "prefix",
        "queues",
        "tag_counts",
        "tracked",
        "workers",
    )

    def __init__(self, namespace: str = "ql") -> None:
        self.namespace = namespace
        self.prefix = prefix = namespace + ":"
        #: zset: completed jids by the moment they completed
        self.completed = prefix + "completed"
        #: hash: settings that differ from their defaults, all text
        self.config = prefix + "config"
        #: set: the groups that have failed jobs
        self.failures = prefix + "failures"
        #: prefix of the keys that only pyqless knows; Lua clients ignore them
        self.own = prefix + "py:"
        #: list: jobs that are to be let go, as JSON lists of texts: since when, the job that was completed, and
        #: the jids of those that waited for it; a chain is at work on them, or has been broken
        self.letting_go = self.own + "letting-go"
        #: set: names of paused queues
        self.paused = prefix + "paused_queues"
        #: set: the hashes of statistics that have had samples pending
        self.pendings = self.own + "pendings"
        #: zset: known queues by the moment they were first seen
        self.queues = prefix + "queues"
        #: zset: tags by the number of jobs that bear them
        self.tag_counts = prefix + "tags"
        #: zset: tracked jids by the moment tracking began
        self.tracked = prefix + "tracked"
        #: zset: workers by the moment they were last seen
        self.workers = prefix + "workers"

    def __repr__(self) -> str:
        return f"Keys({self.namespace!r})"

    def job(self, jid: str) -> str:
        """Hash: a job's fields."""
        return f"{self.prefix}j:{jid}"

    def history(self, jid: str) -> str:
        """List: a job's history, one JSON entry an event."""
        return f"{self.prefix}j:{jid}-history"

    def dependencies(self, jid: str) -> str:
        """Set: the jids that a job waits for."""
        return f"{self.prefix}j:{jid}-dependencies"

    def dependents(self, jid: str) -> str:
        """Set: the jids that wait for a job."""
        return f"{self.prefix}j:{jid}-dependents"

    def recurring_job(self, jid: str) -> str:
        """Hash: a recurring job's fields."""
        return f"{self.prefix}r:{jid}"

    def work(self, queue: str) -> str:
        """Zset: waiting jids of a queue; the highest score goes first."""
        return f"{self.prefix}q:{queue}-work"

    def locks(self, queue: str) -> str:
        """Zset: running jids of a queue by the moment their lock expires."""
        return f"{self.prefix}q:{queue}-locks"

    def scheduled(self, queue: str) -> str:
        """Zset: delayed jids of a queue by the moment they are due."""
        return f"{self.prefix}q:{queue}-scheduled"

    def depends(self, queue: str) -> str:
        """Zset: jids of a queue that wait for other jobs."""
        return f"{self.prefix}q:{queue}-depends"

    def recur(self, queue: str) -> str:
        """Zset: recurring jids of a queue by the moment of their next run."""
        return f"{self.prefix}q:{queue}-recur"

    def queue_of(self, key: str, *suffixes: str) -> str | None:
        """The queue whose sorted set of one of these endings a key is; else None."""
        prefix = self.prefix + "q:"
        for suffix in suffixes if key.startswith(prefix) else ():
            if key.endswith(suffix):
                return key.removeprefix(prefix).removesuffix(suffix)
        return None

    def failed(self, group: str) -> str:
        """List: the failed jids of a group, newest first."""
        return f"{self.prefix}f:{group}"

    def tag(self, tag: str) -> str:
        """Zset: the jids that bear a tag."""
        return f"{self.prefix}t:{tag}"

    def worker_jobs(self, worker: str) -> str:
        """Zset: the jids a worker has, by the moment their lock expires."""
        return f"{self.prefix}w:{worker}:jobs"

    def statistics(self, kind: str, day: str, queue: str) -> str:
        """Hash: ``wait`` or ``run`` times, or the ``stats`` counts, of a queue on a day."""
        return f"{self.prefix}s:{kind}:{day}:{queue}"

    def channel(self, name: str) -> str:
        """Channel: ``log``, or an event of tracked jobs such as ``popped``."""
        return self.prefix + name

    def worker_channel(self, worker: str) -> str:
        """Channel: what a worker has to know about its jobs."""
        return f"{self.prefix}w:{worker}"

    def wake(self, queue: str) -> str:
        """Channel: something that no other message tells of may have become ready in a queue."""
        return f"{self.own}wake:{queue}"

    def pending(self, statistics: str) -> str:
        """List: samples to be entered into a hash of statistics, seconds each."""
        return f"{self.own}pending:{statistics}"

    def turn(self, queue: str) -> str:
        """List: while many take jobs from a queue, the token of whose turn it is to try."""
        return f"{self.own}turn:{queue}"

    def fence(self, lane: str) -> str:
        """Hash: the sequence number of a connection's last transaction."""
        return f"{self.own}fence:{lane}"
