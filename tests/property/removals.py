# SPDX-License-Identifier: MIT
"""Guards and safeguards that are taken away, and runs in which that shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from pyqless.core.effects import Command
from pyqless.core.keyspace import READS
from pyqless.storage.redis.steps import LinkLost
from pyqless.testing.simulator import Call, Faults, Link, Scenario, Unguarded

__all__ = ["GUARDS", "SAFEGUARDS", "OldSizes", "Presuming", "Removal"]

JOB: Final = r"ql:j:[^-]+(-\d+)?"
HISTORY: Final = JOB + "-history"
DEPENDENTS: Final = JOB + "-dependents"
DEPENDENCIES: Final = JOB + "-dependencies"
RECURRING: Final = "ql:r:.*"
GROUP: Final = "ql:f:.*"
WAIT, RUN = "ql:s:wait:.*", "ql:s:run:.*"

#: locks are soon lost, and taken at once
HASTE: Final = (("config.set", "grace-period", "0"), ("config.set", "heartbeat", "3"))

#: connections that often break
LOSSY: Final = Faults(cut=0.03, lost_request=0.03, lost_reply=0.15, torn=0.2)
FLEETING: Final = Faults(vanishing=1.0, lost_reply=0.3)
FAILING_OVER: Final = Faults(failover=1.0, lost_reply=0.05)
REFUSING: Final = Faults(refused_control=0.05)


@dataclass(frozen=True)
class Removal:
    """Something that is taken away."""

    title: str
    #: what the clients do, see ``Scenario``
    weights: Mapping[str, int]
    #: the guards that are forgotten
    unguarded: Unguarded | None = None
    #: what the driver then gets and sends
    link: type[Link] = Link
    given: tuple[tuple[str, ...], ...] = HASTE
    faults: Faults = field(default_factory=Faults)
    clients: int = 4
    overwrites: bool = False
    #: how many copies the store has; who acknowledges waits for one of them
    replicas: int = 0

    def scenario(self) -> Scenario:
        """The runs in which it shows."""
        return Scenario(
            clients=self.clients,
            calls=10,
            weights=self.weights,
            given=self.given,
            faults=self.faults,
            overwrites=self.overwrites,
            replicas=self.replicas,
            is_durable=self.replicas > 0,
        )


def keys(calls: str, *patterns: str) -> Unguarded:
    """The guards of some calls on some keys."""
    names, wanted = re.compile(calls), re.compile("|".join(patterns))

    def forgotten(call: Call, read: Command) -> bool:
        return bool(names.fullmatch(call.name) and wanted.fullmatch(read[1]))

    return forgotten


def reads(calls: str, of: Callable[[Call, Command], bool]) -> Unguarded:
    """The guards of some calls by what they read."""
    names = re.compile(calls)
    return lambda call, read: bool(names.fullmatch(call.name)) and of(call, read)


def a_place(_call: Call, read: Command) -> bool:
    return bool(read[0] == "ZSCORE" and read[1].startswith("ql:q:"))


def a_state(_call: Call, read: Command) -> bool:
    return bool(read[0] == "HGET" and read[2] == "state")


def tags(_call: Call, read: Command) -> bool:
    return bool(read[0] == "HGET" and read[2] == "tags")


def another_job(call: Call, read: Command) -> bool:
    return bool(read[0] == "HGETALL" and re.fullmatch(JOB, read[1])) and read[1] != (
        f"ql:j:{call.words[2]}"
    )


#: a parent, and a child that waits for it
FAMILY: Final = {
    "put ME q a klass {} 0": 2,
    """put ME q c klass {} 0 depends '["a"]'""": 3,
    "pop q ME 1": 3,
    "complete": 5,
}

#: jobs that fail
FAILING: Final = {
    "put ME q a klass {} 0": 2,
    "put ME q b klass {} 0": 2,
    "put ME q c klass {} 0": 2,
    "pop q ME 1": 5,
    "fail": 7,
}

#: a parent that comes and goes, but for its end
CAREER: Final = {"put ME of-a a klass {} 0": 2, "pop of-a ME 1": 3}

#: three parents in queues of their own, and a child of each two of them
PARENTS: Final = (
    *(("put", "me", f"of-{parent}", parent, "klass", "{}", "0") for parent in "abd"),
    *(
        ("put", "me", "q", child, "klass", "{}", "0", "depends", f'["{one}", "{two}"]')
        for child, one, two in ("cab", "ead", "fbd")
    ),
)
POPS: Final = {"pop of-a ME 1": 1, "pop of-b ME 1": 1, "pop of-d ME 1": 1}

#: Each guard that decides, and those with it that would stop the same races.
GUARDS: Final = [
    Removal(
        "job, history and times in pop: two pops, one job",
        {"put": 2, "pop": 4},
        keys("pop", JOB, HISTORY, WAIT),
    ),
    Removal(
        "job in pop: a heartbeat that comes just in time",
        {"put": 2, "pop": 5, "heartbeat": 7},
        keys("pop", JOB),
        given=(("config.set", "grace-period", "0"), ("config.set", "heartbeat", "1")),
    ),
    Removal("place in pop", {"put": 2, "pop": 4, "retry": 4}, reads("pop", a_place)),
    Removal(
        "job and history in complete",
        {"put": 2, "pop": 4, "complete": 4},
        keys("complete", JOB, HISTORY),
    ),
    Removal("job and history in fail", {"put": 2, "pop": 4, "fail": 4}, keys("fail", JOB, HISTORY)),
    Removal(
        "job and history in retry", {"put": 2, "pop": 4, "retry": 4}, keys("retry", JOB, HISTORY)
    ),
    Removal(
        "job and history in log, where nobody deletes them but they vanish",
        {"put ME q a klass {} 0": 1, "log a text": 4},
        keys("log", JOB, HISTORY),
        given=(),
        faults=Faults(vanishing=1.0, slow=0.1),
    ),
    Removal("job in heartbeat", {"put": 2, "pop": 4, "heartbeat": 4}, keys("heartbeat", JOB)),
    Removal(
        "dependents in complete",
        CAREER
        | {f"""put ME q {child} klass {{}} 0 depends '["a"]'""": 2 for child in "cef"}
        | {"complete a ME of-a {}": 4},
        keys("complete", DEPENDENTS),
    ),
    Removal(
        "a child's dependencies in complete",
        POPS | {"complete": 5},
        keys("complete", DEPENDENCIES),
        given=PARENTS,
    ),
    Removal(
        "a child in complete",
        FAMILY | {"put ME other c klass {} 0": 4},
        reads("complete", another_job),
    ),
    Removal("a parent in put", {"put": 4, "pop": 4, "complete": 4}, reads("put", a_state)),
    Removal(
        "a parent in depends on",
        CAREER | {"complete a ME of-a {}": 4, "depends f on a": 5},
        reads("depends", a_state),
        given=PARENTS,
    ),
    Removal(
        "a parent in complete with next",
        {
            "put ME other a klass {} 0": 3,
            "cancel a": 3,
            """put ME q b klass {} 0 depends '["nobody"]'""": 3,
            "pop q ME 1": 3,
            """complete b ME q {} next other depends '["a"]'""": 5,
        },
        reads("complete", a_state),
    ),
    Removal(
        "dependencies in put",
        {
            "put ME other a klass {} 0": 1,
            "put ME other b klass {} 0": 1,
            """put ME q c klass {} 0 depends '["b"]'""": 1,
            """put ME q c klass {} 0 depends '["nobody"]'""": 3,
            "depends c on a": 3,
        },
        keys("put", DEPENDENCIES),
    ),
    Removal(
        "dependencies in depends off",
        POPS | {"complete": 4, "depends c off a": 1, "depends c off b": 1},
        keys("depends", DEPENDENCIES),
        given=PARENTS,
    ),
    Removal("dependents in cancel", {"put": 4, "cancel": 4}, keys("cancel", DEPENDENTS)),
    Removal(
        "dependencies in cancel",
        {"cancel c": 1, "cancel e": 1, "cancel f": 1}
        | {f"depends {child} on {parent}": 1 for child in "cef" for parent in "abd"},
        keys("cancel", DEPENDENCIES),
        given=PARENTS,
    ),
    Removal("job in cancel", {"put": 4, "cancel": 4, "pop": 3}, keys("cancel", JOB)),
    Removal("group in unfail", {"put": 4, "pop": 4, "fail": 4, "unfail": 3}, keys("unfail", GROUP)),
    Removal(
        "group in cancel",
        FAILING | {"cancel a": 2, "cancel b": 2, "cancel c": 2},
        keys("cancel", GROUP),
        given=(),
        clients=8,
    ),
    Removal("group in put", FAILING, keys("put", GROUP), given=()),
    Removal(
        "an old job in complete",
        {"put": 4, "pop": 4, "complete": 4},
        reads("complete", tags),
        given=(*HASTE, ("config.set", "jobs-history-count", "1")),
    ),
    Removal(
        "recurring job in pop and peek",
        {"pop": 4, "peek": 2, "put": 1},
        keys("pop|peek", RECURRING),
        given=(("recur", "q", "R", "klass", "{}", "interval", "1", "0"),),
    ),
    Removal(
        "the job that a recurring one makes, in pop and peek",
        {"pop": 4, "put ME other R-1 klass {} 0": 2, "cancel R-1": 2, "log R-1 text": 2, "put": 1},
        keys("pop|peek", r"ql:j:R-\d+(-history)?"),
        given=(
            ("config.set", "max-job-history", "3"),
            ("recur", "q", "R", "klass", "{}", "interval", "1", "0"),
        ),
        overwrites=True,
    ),
    Removal(
        "locks in pop, where their number is limited",
        {"put": 4, "pop": 4, "complete": 2},
        keys("pop", "ql:q:.*-locks"),
        given=(("config.set", "q-max-concurrency", "1"),),
    ),
    Removal("times in pop", {"put": 4, "pop": 4}, keys("pop", WAIT), given=()),
    Removal("times in complete", {"put": 4, "pop": 4, "complete": 4}, keys("complete", RUN)),
    *(
        Removal(f"job in {name}", {"put": 4, name: 4, "cancel": 4}, keys(name, JOB, *others))
        for name, others in (("track", ()), ("log", (HISTORY,)), ("tag", ()), ("priority", ()))
    ),
    Removal(
        "history where nothing has to be trimmed",
        {"put": 4, "pop": 4, "log": 4, "complete": 2},
        keys("pop|complete|put|log", HISTORY),
        given=(("config.set", "max-job-history", "3"),),
    ),
    Removal(
        "a worker's list in workers",
        {"put": 4, "pop": 4, "workers": 5},
        keys("workers", "ql:w:.*:jobs"),
        given=(("config.set", "max-worker-age", "1"),),
    ),
    Removal("paused queues in pop", {"put": 4, "pop": 4, "pause": 2}, keys("pop", "ql:paused.*")),
    Removal("settings in pop", {"put": 4, "pop": 4, "config": 3}, keys("pop", "ql:config")),
]


# -- what a driver without a safeguard would get, and send ------------------------------------------


class NoFence(Link):
    """Transactions do not guard their fence."""

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        return tuple(_without_fence(each) if each[0] == "WATCH" else each for each in commands)


def _without_fence(watch: Command) -> Command:
    kept = tuple(key for key in watch if ":fence:" not in key)
    return kept if len(kept) > 1 else ("WATCH", "nothing")


class NoBump(Link):
    """Who asks what became of a commit does not write to the fence."""

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        return tuple(
            ("HGET", *each[1:3]) if each[0] == "HINCRBY" and ":fence:" in each[1] else each
            for each in commands
        )


class LateBump(Link):
    """Who asks writes to the fence only after it has read it."""

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        return _swapped(commands) if _asks(commands[0], "HINCRBY") else commands

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        return list(_swapped(replies)) if _asks(commands[0], "HGET") else replies


def _asks(command: Command, name: str) -> bool:
    return bool(command[0] == name and ":fence:" in command[1])


def _swapped(pair: Any) -> Any:
    return (pair[1], pair[0], *pair[2:])


class NeverSent(Link):
    """A connection that breaks is taken to have sent nothing."""

    def exchange(
        self, commands: tuple[Command, ...], origin: Any, then: Callable[[Any], None]
    ) -> None:
        def told(found: Any) -> None:
            is_lost = isinstance(found, LinkLost)
            then(LinkLost("nothing was sent", sent=False) if is_lost else found)

        super().exchange(commands, origin, told)


class Unclosed(Link):
    """A connection that broke in the middle of something is used again."""

    @classmethod
    def opened(cls, *world: Any) -> Link:
        *new, previous = world
        return previous if previous is not None and previous.session.is_open else cls(*new)

    def close(self) -> None:
        self.abandon()


class Deaf(Link):
    """It is not looked at whether guards were set."""

    control = "WATCH"

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        return [
            "OK" if command[0] == self.control else reply
            for command, reply in zip(commands, replies, strict=True)
        ]


class DeafToMulti(Deaf):
    """Nor whether the transaction was begun."""

    control = "MULTI"


class Hasty(Link):
    """MULTI goes out in one packet with the writes, and is not waited for."""

    _is_held = _is_sent = False

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        self._is_sent, self._is_held = self._is_held, commands[-1] == ("MULTI",)
        packet = commands[:-1] if self._is_held else commands
        return (("MULTI",), *packet) if self._is_sent else packet or (("PING",),)

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        found = replies[1:] if self._is_sent else replies
        if commands == (("PING",),):
            return ["OK"]
        return [*found, "OK"] if self._is_held else found


class Unconfirmed(Link):
    """What several batches have read is not confirmed where nothing is to be written."""

    _is_empty = False

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        self._is_empty = commands[0] == ("EXEC",)
        return (("DISCARD",), *commands[1:]) if self._is_empty else commands

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        return [[], *replies[1:]] if self._is_empty else replies


class UnguardedAhead(Link):
    """What is read ahead of the next call, behind EXEC, is not guarded, but for the fence."""

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        end = commands.index(("EXEC",)) if ("EXEC",) in commands else len(commands)
        behind = (each[:2] if each[0] == "WATCH" else each for each in commands[end:])
        return (*commands[:end], *behind)


class Presuming(Link):
    """What was read ahead is believed where nothing is to be written: who asks again is answered from memory."""

    _presumes = _is_void = False

    def __init__(self, *world: Any) -> None:
        super().__init__(*world)
        self._ahead: dict[Command, Any] = {}

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        self._is_void = self._presumes and ("EXEC",) in commands
        self._presumes = commands[0] == ("DISCARD",) and self._ahead.keys() >= _reads_of(commands)
        return tuple(
            ("DISCARD",) if self._is_void and each == ("EXEC",) else each for each in commands
        )

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        pairs = list(zip(commands, replies, strict=True))
        if self._presumes:
            return [self._ahead.get(command, reply) for command, reply in pairs]
        end = commands.index(("EXEC",)) if ("EXEC",) in commands else len(commands)
        self._ahead = {read: reply for read, reply in pairs[end:] if read[0] in READS}
        return [
            None if self._is_void and command == ("DISCARD",) else reply for command, reply in pairs
        ]


def _reads_of(commands: tuple[Command, ...]) -> set[Command]:
    return {each for each in commands if each[0] in READS}


class OldSizes(Link):
    """How many wait is what it was when it was read before."""

    def __init__(self, *world: Any) -> None:
        super().__init__(*world)
        self._sizes: dict[Command, Any] = {}

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        sizes = {
            command: reply
            for command, reply in zip(commands, replies, strict=True)
            if command[0] == "ZCARD" and command[1].endswith("-work")
        }
        old = sizes | self._sizes
        self._sizes |= sizes
        return [old.get(command, reply) for command, reply in zip(commands, replies, strict=True)]


class Credulous(Link):
    """A fence that is gone is taken for one that says no."""

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        return [
            "0" if reply is None and _asks(command, "HGET") else reply
            for command, reply in zip(commands, replies, strict=True)
        ]


class NoWait(Link):
    """Nobody waits for replicas: they are taken to have everything."""

    def outgoing(self, commands: tuple[Command, ...]) -> tuple[Command, ...]:
        return (("PING",),) if commands[0][0] == "WAIT" else commands

    def incoming(self, commands: tuple[Command, ...], replies: list[Any]) -> list[Any]:
        return [2] if commands == (("PING",),) else replies


class WaitElsewhere(Link):
    """Another connection than the one that wrote waits for the replicas."""

    def exchange(
        self, commands: tuple[Command, ...], origin: Any, then: Callable[[Any], None]
    ) -> None:
        if commands[0][0] == "WAIT":
            self.renew()
        super().exchange(commands, origin, then)


class Repeating(Link):
    """A transport sends a packet again on a new connection when the first one breaks."""

    def exchange(
        self, commands: tuple[Command, ...], origin: Any, then: Callable[[Any], None]
    ) -> None:
        def told(found: Any) -> None:
            if isinstance(found, LinkLost):
                self.renew()
                super(Repeating, self).exchange(commands, origin, then)
            else:
                then(found)

        super().exchange(commands, origin, told)


#: everything that writes
ALL: Final = {
    "put": 4,
    "pop": 4,
    "complete": 3,
    "fail": 1,
    "retry": 2,
    "peek": 2,
    "queues": 1,
    "unfail": 1,
}

#: what the driver reads ahead for
WORK: Final = {"work": 6, "put new": 2, "put": 2}

#: Each safeguard of the driver.
SAFEGUARDS: Final = [
    Removal("the fence", ALL, link=NoFence, faults=LOSSY, clients=6),
    Removal("the fence is written to by who asks", ALL, link=NoBump, faults=LOSSY, clients=6),
    Removal(
        "it is written to before it is read",
        ALL,
        link=LateBump,
        faults=Faults(lost_reply=0.3, torn=0.7),
        clients=6,
    ),
    Removal("who does not know asks", ALL, link=NeverSent, faults=LOSSY, clients=6),
    Removal("a broken connection is closed", ALL, link=Unclosed, faults=LOSSY, clients=6),
    Removal("+OK of WATCH", ALL, link=Deaf, faults=REFUSING, clients=6),
    Removal("+OK of MULTI", ALL, link=DeafToMulti, faults=REFUSING, clients=6),
    Removal("MULTI is waited for", ALL, link=Hasty, faults=REFUSING, clients=6),
    Removal("the guards of what is read ahead", WORK, link=UnguardedAhead),
    Removal(
        "what was read ahead is confirmed where nothing is written",
        {"work": 6, "put new": 6, "pause q": 2, "unpause q": 3},
        link=Presuming,
        given=(),
    ),
    Removal(
        "how many wait is not read ahead where only some may",
        {"put new": 4, "pop q ME 2": 2},
        link=OldSizes,
        given=(("config.set", "q-max-waiting", "2"),),
    ),
    Removal("a fence that is gone says nothing", ALL, link=Credulous, faults=FLEETING, clients=6),
    Removal("replicas are waited for", ALL, link=NoWait, faults=FAILING_OVER, replicas=2),
    Removal(
        "the connection that wrote waits",
        ALL,
        link=WaitElsewhere,
        faults=FAILING_OVER,
        replicas=2,
    ),
    Removal("nobody sends an EXEC again", ALL, link=Repeating, faults=LOSSY, clients=6),
    Removal(
        "answers are confirmed",
        {"peek q 2": 6, "log a text": 4, "log b text": 4},
        link=Unconfirmed,
        given=(
            ("put", "ME", "q", "a", "klass", "{}", "0"),
            ("put", "ME", "q", "b", "klass", "{}", "0"),
        ),
        faults=Faults(torn=0.7),
        clients=6,
    ),
]
