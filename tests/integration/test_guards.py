# SPDX-License-Identifier: MIT
"""Each guard is needed: others act at the worst moment, and without it the damage shows."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from pyqless.core.commands import COMMANDS, call
from pyqless.core.effects import Command
from pyqless.core.keyspace import Keyspace
from pyqless.core.statistics import fold
from pyqless.errors import QlessError
from pyqless.storage import Storage, open_storage
from tests.stepper import begin, run
from tests.wires import tapped

#: the day of the moments below, as keys of statistics name it
DAY = 0
WAIT, RUN = f"ql:s:wait:{DAY}:q", f"ql:s:run:{DAY}:q"

#: expired locks are taken at once
NO_GRACE = "config.set 0 grace-period 0"


def job(jid: str) -> str:
    return f"ql:j:{jid}"


def history(jid: str) -> str:
    return f"ql:j:{jid}-history"


def depends_on(jid: str) -> str:
    return f"ql:j:{jid}-dependencies"


def awaited_by(jid: str) -> str:
    return f"ql:j:{jid}-dependents"


@dataclass(frozen=True)
class Race:
    """A call, what others do in the middle of it, and what comes of that with and without a guard."""

    #: what the guard protects from
    title: str
    #: the call that needs the guard
    call: str
    #: what has happened before
    given: Sequence[str]
    #: how many batches the call has read when the others come
    after: int
    #: what they do
    meanwhile: Sequence[str]
    #: the key that is guarded
    guard: str
    #: some of what is stored in the end, and the ``reply``: with the guard, and without it
    right: Mapping[str, Any]
    broken: Mapping[str, Any]
    #: other guards that stop this very race too, and go with it to show the damage
    covered_by: Sequence[str] = ()
    #: the check of a place is taken away, too: a read that sees what it saw before
    pretended: Mapping[Command, Any] = field(default_factory=dict)

    def outcome(self, unguarded: Sequence[str] = (), *, blind: bool = False) -> dict[str, Any]:
        """Run it; returns what of ``right`` and ``broken`` can be told."""
        keyspace = Keyspace()
        for words in self.given:
            assert not isinstance(run(keyspace, words), Exception), words
        running = begin(
            keyspace,
            self.call,
            unguarded=unguarded,
            pretended=self.pretended if blind else None,
        )
        running.step(self.after)
        for words in self.meanwhile:
            assert not isinstance(run(keyspace, words), Exception), words
        reply = running.finish()
        return {"reply": told(reply), **stored(keyspace.dump())}

    def outcome_on(self, url: str) -> dict[str, Any]:
        """Run it on a real server, with all guards."""
        with open_storage(url) as others:
            for words in self.given:
                assert not isinstance(sent(others, words), Exception), words
            packets = 0

            def interfere(*_: object) -> None:
                nonlocal packets
                packets += 1
                if packets == self.after:
                    for words in self.meanwhile:
                        assert not isinstance(sent(others, words), Exception), words

            with tapped(interfere), open_storage(url) as storage:
                reply = sent(storage, self.call)
            others.run(fold)
            return {"reply": told(reply), **stored(others.dump())}


def sent(storage: Storage, words: str) -> Any:
    """Run a call on a storage; returns what a client gets, or the error that it is told."""
    wanted = call(shlex.split(words))
    try:
        return wanted.render(storage.run(wanted.transition, wanted.now))
    except QlessError as error:
        return error


def told(reply: Any) -> Any:
    """The name of an error; of jobs, their jids; else the reply, decoded."""
    if isinstance(reply, Exception):
        return type(reply).__name__
    if not isinstance(reply, str) or not reply.startswith(("[", "{")):
        return reply
    read = json.loads(reply) or []
    if not isinstance(read, list):
        return read
    return [item.get("jid") if isinstance(item, dict) else item for item in read]


def stored(dump: Mapping[str, Any]) -> dict[str, Any]:
    """Every key: a hash as a dict, a sorted set as {member: score}, a list or set as a list."""
    return {
        key: {member: float(score) for member, score in entry["value"]}
        if entry["type"] == "zset"
        else entry["value"]
        for key, entry in dump.items()
    }


def part_of(found: Mapping[str, Any], expected: Mapping[str, Any]) -> dict[str, Any]:
    """What is found where something is expected: of hashes some fields, of sorted sets the members."""
    return {key: _part(key, found.get(key), wanted) for key, wanted in expected.items()}


def _part(key: str, value: Any, wanted: Any) -> Any:
    if isinstance(wanted, dict) and isinstance(value, dict):
        return {name: value.get(name) for name in wanted}
    if isinstance(wanted, int) and isinstance(value, dict | list):
        return len(value)
    return sorted(value) if isinstance(wanted, list) and isinstance(value, dict) else value


LOST_LOCK = [
    NO_GRACE,
    "put 1 me q J klass {} 0",
    "pop 2 q w1 1",
]
TWO_PARENTS = [
    "put 1 me q A klass {} 0",
    "put 1 me other B klass {} 0",
    """put 1 me q C klass {} 0 depends '["A", "B"]'""",
    "pop 2 q w1 1",
    "pop 2 other w2 1",
]
FAILED = [
    "put 1 me q J klass {} 0",
    "pop 2 q w 1",
    "fail 3 J w g message",
    "put 3 me q K klass {} 0",
    "pop 4 q w 1",
]

#: small changes to a job, other guards that are enough, and what they would leave of a cancelled one
LEFTOVERS: list[tuple[str, list[str], dict[str, Any]]] = [
    ("track 5 track J", [], {"ql:tracked": ["J"]}),
    ("log 5 J message", [history("J")], {history("J"): ['[5,"message"]']}),
    ("tag 5 add J red", [], {job("J"): 1, "ql:t:red": ["J"]}),
    ("priority 5 J 3", [], {job("J"): {"priority": "3"}}),
]

RACES = [
    # -- pop --------------------------------------------------------------------------------------
    Race(
        "two pops, one job",
        "pop 3 q w1 1",
        given=["put 1 me q J klass {} 0"],
        after=2,
        meanwhile=["pop 3 q w2 1"],
        guard=job("J"),
        covered_by=[history("J"), WAIT],
        right={"reply": [], "ql:w:w1:jobs": None, "ql:w:w2:jobs": ["J"]},
        broken={"reply": ["J"], "ql:w:w1:jobs": ["J"], "ql:w:w2:jobs": ["J"]},
    ),
    Race(
        "a heartbeat comes just in time",
        "pop 62 q w2 1",
        given=LOST_LOCK,
        after=2,
        meanwhile=["heartbeat 61 J w1"],
        guard=job("J"),
        right={"reply": [], job("J"): {"worker": "w1", "expires": "121"}},
        broken={"reply": ["J"], job("J"): {"worker": "w2"}},
    ),
    Race(
        "a job is popped and retried elsewhere before it is guarded",
        "pop 5 q w1 1",
        given=["put 1 me q J klass {} 0"],
        after=1,
        meanwhile=["pop 2 q w2 1", "retry 3 J other w2"],
        guard="the place of J",
        pretended={("ZSCORE", "ql:q:q-work", "J"): -1e-10},
        right={"reply": [], "ql:q:other-work": ["J"], job("J"): {"state": "waiting"}},
        broken={"reply": ["J"], "ql:q:other-work": ["J"], job("J"): {"state": "running"}},
    ),
    Race(
        "one occurrence of a recurring job is made twice",
        "pop 5 q w 1",
        given=["recur 1 q R klass {} interval 60 0 priority 5", "put 1 me q J klass {} 0"],
        after=2,
        meanwhile=["peek 5 q 1"],
        guard="ql:r:R",
        right={"ql:r:R": {"count": "1"}, history("R-1"): 2, "reply": ["R-1"]},
        broken={"ql:r:R": {"count": "2"}, history("R-1"): 3, "reply": ["R-1"]},
    ),
    Race(
        # what is written of the hash does not hang on what was read of it, so its history decides
        "the history of a job that is cancelled, and made anew by a recurring one, comes back",
        "pop 90 q w 1",
        given=[
            "config.set 0 max-job-history 3",
            "recur 1 q R klass {} interval 60 80 priority 5",
            "put 1 me other R-1 klass {} 0",
            "log 2 R-1 one",
            "log 2 R-1 two",
            "put 1 me q J klass {} 0",
        ],
        after=3,
        meanwhile=["cancel 5 R-1"],
        guard=job("R-1"),
        covered_by=[history("R-1")],
        right={history("R-1"): ['[81,"put",{"q":"q"}]', '[90,"popped",{"worker":"w"}]']},
        broken={
            history("R-1"): [
                '[1,"put",{"q":"other"}]',
                '[81,"put",{"q":"q"}]',
                '[90,"popped",{"worker":"w"}]',
            ]
        },
    ),
    Race(
        "more jobs run than the queue allows",
        "pop 5 q w1 1",
        given=["config.set 0 q-max-concurrency 1", "put 1 me q J klass {} 0"],
        after=2,
        meanwhile=["put 2 me q K klass {} 0 priority 5", "pop 3 q w2 1"],
        guard="ql:q:q-locks",
        right={"reply": [], "ql:q:q-locks": ["K"]},
        broken={"reply": ["J"], "ql:q:q-locks": ["J", "K"]},
    ),
    Race(
        "a sample of the times that jobs waited is lost",
        "pop 5 q w1 1",
        given=["put 1 me q J klass {} 0"],
        after=2,
        meanwhile=["put 2 me q K klass {} 0 priority 5", "pop 3 q w2 1"],
        guard=WAIT,
        right={WAIT: {"total": "2", "s1": "1", "s4": "1"}},
        broken={WAIT: {"total": "1", "s1": "1", "s4": "1"}},
    ),
    Race(
        "a job is popped after pause has returned",
        "pop 5 q w 1",
        given=["put 1 me q J klass {} 0"],
        after=2,
        meanwhile=["pause 4 q"],
        guard="ql:paused_queues",
        right={"reply": [], "ql:q:q-locks": None},
        broken={"reply": ["J"], "ql:q:q-locks": ["J"]},
    ),
    Race(
        "an old setting is used",
        "pop 5 q w 1",
        given=["put 1 me q J klass {} 0"],
        after=2,
        meanwhile=["config.set 4 heartbeat 1000"],
        guard="ql:config",
        right={job("J"): {"expires": "1005"}},
        broken={job("J"): {"expires": "65"}},
    ),
    # -- those who hold a lock --------------------------------------------------------------------
    Race(
        "a lock expires and is handed on before complete",
        "complete 70 J w1 q {}",
        given=LOST_LOCK,
        after=1,
        meanwhile=["pop 63 q w2 1"],
        guard=job("J"),
        covered_by=[history("J")],
        right={"reply": "JobLost", job("J"): {"state": "running", "worker": "w2"}},
        broken={"reply": "complete", "ql:w:w2:jobs": ["J"]},
    ),
    Race(
        "a job is completed and tried again at once",
        "complete 5 J w1 q {}",
        given=LOST_LOCK,
        after=1,
        meanwhile=["retry 4 J other w1"],
        guard=job("J"),
        right={"reply": "NotRunning", "ql:completed": None, "ql:q:other-work": ["J"]},
        broken={"reply": "complete", "ql:completed": ["J"], "ql:q:other-work": ["J"]},
    ),
    Race(
        "a lock expires and is handed on before fail",
        "fail 70 J w1 g message",
        given=LOST_LOCK,
        after=1,
        meanwhile=["pop 63 q w2 1"],
        guard=job("J"),
        covered_by=[history("J")],
        right={"reply": "JobLost", "ql:f:g": None, "ql:q:q-locks": ["J"]},
        broken={"reply": "J", "ql:f:g": ["J"], "ql:w:w2:jobs": ["J"]},
    ),
    Race(
        "a job fails and is tried again at once",
        "fail 5 J w1 g message",
        given=LOST_LOCK,
        after=1,
        meanwhile=["retry 4 J other w1"],
        guard=job("J"),
        right={"reply": "NotRunning", "ql:f:g": None, "ql:q:other-work": ["J"]},
        broken={"reply": "J", "ql:f:g": ["J"], "ql:q:other-work": ["J"]},
    ),
    Race(
        "a lock expires and is handed on before retry",
        "retry 70 J q w1",
        given=LOST_LOCK,
        after=1,
        meanwhile=["pop 63 q w2 1"],
        guard=job("J"),
        covered_by=[history("J")],
        right={"reply": "JobLost", "ql:q:q-work": None, "ql:w:w2:jobs": ["J"]},
        broken={"reply": 4, "ql:q:q-work": ["J"], "ql:w:w2:jobs": ["J"]},
    ),
    Race(
        "a worker gives one job back twice",
        "retry 5 J q w1",
        given=LOST_LOCK,
        after=1,
        meanwhile=["retry 4 J other w1"],
        guard=job("J"),
        right={"reply": "NotRunning", "ql:q:q-work": None, job("J"): {"remaining": "4"}},
        broken={"reply": 4, "ql:q:q-work": ["J"], job("J"): {"remaining": "3"}},
    ),
    Race(
        "a lock expires and is handed on before a heartbeat",
        "heartbeat 70 J w1",
        given=LOST_LOCK,
        after=1,
        meanwhile=["pop 63 q w2 1"],
        guard=job("J"),
        right={"reply": "JobLost", job("J"): {"worker": "w2"}, "ql:w:w1:jobs": None},
        broken={"reply": 130, job("J"): {"worker": "w1"}, "ql:w:w2:jobs": ["J"]},
    ),
    # -- completion -------------------------------------------------------------------------------
    Race(
        "a child put at the moment of completion waits for ever",
        "complete 5 J w q {}",
        given=["put 1 me q J klass {} 0", "pop 2 q w 1"],
        after=1,
        meanwhile=["""put 4 me q C klass {} 0 depends '["J"]'"""],
        guard=awaited_by("J"),
        right={job("C"): {"state": "waiting"}, "ql:q:q-depends": None},
        broken={job("C"): {"state": "depends"}, "ql:q:q-depends": ["C"]},
    ),
    Race(
        "two parents end together, and their child waits for ever",
        "complete 5 A w1 q {}",
        given=TWO_PARENTS,
        after=2,
        meanwhile=["complete 4 B w2 other {}"],
        guard=depends_on("C"),
        right={job("C"): {"state": "waiting"}, depends_on("C"): None},
        broken={job("C"): {"state": "depends"}, depends_on("C"): None},
    ),
    Race(
        "a child that has moved appears in the old queue",
        "complete 5 J w q {}",
        given=[
            "put 1 me q J klass {} 0",
            """put 1 me q C klass {} 0 depends '["J"]'""",
            "pop 2 q w 1",
        ],
        after=2,
        meanwhile=["put 4 me other C klass {} 0"],
        guard=job("C"),
        right={"ql:q:q-work": None, "ql:q:other-work": ["C"], "ql:q:other-depends": None},
        broken={"ql:q:q-work": ["C"], "ql:q:other-work": None, "ql:q:other-depends": ["C"]},
    ),
    Race(
        "a child that was cancelled comes back without its data",
        "complete 5 J w q {}",
        given=[
            "put 1 me q J klass {} 0",
            """put 1 me q C klass {} 0 depends '["J"]'""",
            "pop 2 q w 1",
        ],
        after=2,
        meanwhile=["cancel 4 C"],
        guard=job("C"),
        covered_by=[depends_on("C"), awaited_by("J")],
        right={job("C"): None, "ql:q:q-work": None},
        broken={job("C"): 1, "ql:q:q-work": ["C"]},
    ),
    Race(
        "a sample of the times that jobs ran is lost",
        "complete 5 J w1 q {}",
        given=[
            "put 1 me q J klass {} 0",
            "put 1 me q K klass {} 0",
            "pop 2 q w1 2",
        ],
        after=1,
        meanwhile=["complete 4 K w1 q {}"],
        guard=RUN,
        right={RUN: {"total": "2", "s2": "1", "s3": "1"}},
        broken={RUN: {"total": "1", "s2": "1", "s3": "1"}},
    ),
    Race(
        "a job that goes on waits for one that has ended",
        """complete 5 J w q {} next other depends '["P"]'""",
        given=[
            "put 1 me q J klass {} 0",
            "put 1 me parents P klass {} 0",
            "pop 2 q w 1",
            "pop 2 parents w 1",
        ],
        after=1,
        meanwhile=["complete 4 P w parents {}"],
        guard=job("P"),
        right={"reply": "waiting", "ql:q:other-work": ["J"], "ql:q:other-depends": None},
        broken={"reply": "depends", "ql:q:other-work": None, "ql:q:other-depends": ["J"]},
    ),
    Race(
        "an old job that is put again is deleted",
        "complete 5 J w q {}",
        given=[
            "config.set 0 jobs-history-count 1",
            "put 1 me q E klass {} 0",
            "pop 1 q w 1",
            "complete 1 E w q {}",
            "put 1 me q J klass {} 0",
            "pop 2 q w 1",
        ],
        after=2,
        meanwhile=["put 4 me q E klass {} 0"],
        guard=job("E"),
        right={job("E"): {"state": "waiting"}, "ql:q:q-work": ["E"]},
        broken={job("E"): None, "ql:q:q-work": ["E"]},
    ),
    # -- put --------------------------------------------------------------------------------------
    Race(
        "a job is put to wait for one that has just ended",
        """put 5 me q J klass {} 0 depends '["P"]'""",
        given=["put 1 me parents P klass {} 0", "pop 2 parents w 1"],
        after=1,
        meanwhile=["complete 4 P w parents {}"],
        guard=job("P"),
        right={job("J"): {"state": "waiting"}, "ql:q:q-work": ["J"]},
        broken={job("J"): {"state": "depends"}, "ql:q:q-work": None},
    ),
    Race(
        "a job goes to work with a dependency left",
        """put 5 me q J klass {} 0 depends '["P"]'""",
        given=[
            "put 1 me parents P klass {} 0",
            "put 1 me parents A klass {} 0",
            "put 1 me parents B klass {} 0",
            "pop 2 parents w 1",
            "complete 3 P w parents {}",
            """put 3 me q J klass {} 0 depends '["A"]'""",
        ],
        after=1,
        meanwhile=["depends 4 J on B"],
        guard=depends_on("J"),
        right={"ql:q:q-work": ["J"], depends_on("J"): None, awaited_by("B"): None},
        broken={"ql:q:q-work": ["J"], depends_on("J"): ["B"], awaited_by("B"): ["J"]},
    ),
    Race(
        "a job that has failed at that moment stays in the list of failures",
        "put 5 me q J klass {} 0",
        given=["put 1 me q J klass {} 0", "pop 2 q w 1"],
        after=1,
        meanwhile=["fail 4 J w g message"],
        guard=job("J"),
        covered_by=[history("J")],
        right={"ql:f:g": None, "ql:q:q-work": ["J"]},
        broken={"ql:f:g": ["J"], "ql:q:q-work": ["J"]},
    ),
    Race(
        "a group loses its name when its last job is put again and another fails",
        "put 6 me q J klass {} 0",
        given=FAILED,
        after=2,
        meanwhile=["fail 5 K w g message"],
        guard="ql:f:g",
        right={"ql:f:g": ["K"], "ql:failures": ["g"]},
        broken={"ql:f:g": ["K"], "ql:failures": None},
    ),
    Race(
        "a job that is cancelled at that moment is put again",
        "requeue 5 me q J klass {} 0",
        given=["put 1 me q J klass {} 0"],
        after=1,
        meanwhile=["cancel 4 J"],
        guard=job("J"),
        covered_by=[history("J")],
        right={"reply": "JobNotFound", job("J"): None},
        broken={"reply": "J", job("J"): {"state": "waiting"}},
    ),
    # -- cancel and unfail ------------------------------------------------------------------------
    Race(
        "a child put at the moment of its parent's end waits for ever",
        "cancel 5 J",
        given=["put 1 me q J klass {} 0"],
        after=1,
        meanwhile=["""put 4 me q C klass {} 0 depends '["J"]'"""],
        guard=awaited_by("J"),
        right={"reply": "HasDependents", job("J"): {"state": "waiting"}, "ql:q:q-depends": ["C"]},
        broken={"reply": ["J"], job("J"): None, "ql:q:q-depends": ["C"]},
    ),
    Race(
        "a parent keeps a dependent that is no more, and can never be cancelled",
        "cancel 5 C",
        given=[
            "put 1 me parents A klass {} 0",
            "put 1 me parents B klass {} 0",
            """put 1 me q C klass {} 0 depends '["A"]'""",
        ],
        after=1,
        meanwhile=["depends 4 C on B"],
        guard=depends_on("C"),
        right={awaited_by("A"): None, awaited_by("B"): None},
        broken={awaited_by("A"): None, awaited_by("B"): ["C"]},
    ),
    Race(
        "a job that is handed out while it is cancelled keeps its lock",
        "cancel 5 J",
        given=["put 1 me q J klass {} 0"],
        after=1,
        meanwhile=["pop 4 q w 1"],
        guard=job("J"),
        right={job("J"): None, "ql:w:w:jobs": None},
        broken={job("J"): None, "ql:w:w:jobs": ["J"]},
    ),
    Race(
        "a group loses its name when its last job is cancelled and another fails",
        "cancel 6 J",
        given=FAILED,
        after=2,
        meanwhile=["fail 5 K w g message"],
        guard="ql:f:g",
        right={"ql:f:g": ["K"], "ql:failures": ["g"]},
        broken={"ql:f:g": ["K"], "ql:failures": None},
    ),
    Race(
        "a job that fails drops out of its group",
        "unfail 6 q g 25",
        given=FAILED,
        after=2,
        meanwhile=["fail 5 K w g message"],
        guard="ql:f:g",
        right={"reply": 2, "ql:f:g": None, "ql:q:q-work": ["J", "K"]},
        broken={"reply": 1, "ql:f:g": None, "ql:q:q-work": ["J"]},
    ),
    Race(
        "a failed job that was cancelled comes back without its data",
        "unfail 6 q g 25",
        given=FAILED,
        after=2,
        meanwhile=["cancel 5 J"],
        guard=job("J"),
        covered_by=[history("J"), "ql:f:g"],
        right={"reply": 0, job("J"): None},
        broken={"reply": 1, job("J"): {"state": "waiting", "klass": None}},
    ),
    # -- depends ----------------------------------------------------------------------------------
    Race(
        "a job depends on one that has just ended",
        "depends 5 J on P",
        given=[
            "put 1 me parents P klass {} 0",
            "pop 2 parents w 1",
            "put 2 me parents A klass {} 0",
            """put 2 me q J klass {} 0 depends '["A"]'""",
        ],
        after=1,
        meanwhile=["complete 4 P w parents {}"],
        guard=job("P"),
        right={depends_on("J"): ["A"]},
        broken={depends_on("J"): ["A", "P"]},
    ),
    Race(
        "a job that has been let go is made to wait, though it may run",
        "depends 5 J on B",
        given=[
            "put 1 me parents A klass {} 0",
            "pop 2 parents w 1",
            "put 2 me parents B klass {} 0",
            """put 2 me q J klass {} 0 depends '["A"]'""",
        ],
        after=1,
        meanwhile=["complete 4 A w parents {}"],
        guard=job("J"),
        right={"reply": "NotDepending", depends_on("J"): None, "ql:q:q-work": ["J"]},
        broken={"reply": 1, depends_on("J"): ["B"], "ql:q:q-work": ["J"]},
    ),
    Race(
        "the other parent ends while one is taken away, and the child waits for ever",
        "depends 5 C off A",
        given=TWO_PARENTS,
        after=1,
        meanwhile=["complete 4 B w2 other {}"],
        guard=depends_on("C"),
        right={job("C"): {"state": "waiting"}, depends_on("C"): None},
        broken={job("C"): {"state": "depends"}, depends_on("C"): None},
    ),
    # -- small changes to a job that is cancelled meanwhile -----------------------------------------
    *(
        Race(
            f"{words.split()[0]} of a job that is cancelled at that moment",
            words,
            given=["put 1 me q J klass {} 0"],
            after=1,
            meanwhile=["cancel 4 J"],
            guard=job("J"),
            covered_by=covered_by,
            right={"reply": "JobNotFound", **dict.fromkeys(broken)},
            broken=broken,
        )
        for words, covered_by, broken in LEFTOVERS
    ),
    Race(
        "a job timed out that has just been completed",
        "timeout 5 J",
        given=["put 1 me q J klass {} 0", "pop 2 q w 1"],
        after=1,
        meanwhile=["complete 4 J w q {}"],
        guard=job("J"),
        covered_by=[history("J")],
        right={"reply": "NotRunning", "ql:q:q-work": None, "ql:completed": ["J"]},
        broken={"reply": None, "ql:q:q-work": ["J"], "ql:completed": ["J"]},
    ),
    Race(
        "one of two tags added at the same time is lost",
        "tag 5 add J red",
        given=["put 1 me q J klass {} 0"],
        after=1,
        meanwhile=["tag 4 add J blue"],
        guard=job("J"),
        right={job("J"): {"tags": '["blue","red"]'}},
        broken={job("J"): {"tags": '["red"]'}},
    ),
    Race(
        "a history grows beyond its limit where nothing had to be trimmed",
        "fail 5 J w g message",
        given=[
            "config.set 0 max-job-history 3",
            "put 1 me q J klass {} 0",
            "pop 2 q w 1",
        ],
        after=1,
        meanwhile=["log 4 J message"],
        guard=history("J"),
        right={history("J"): 3},
        broken={history("J"): 4},
    ),
    # -- the others ---------------------------------------------------------------------------------
    Race(
        "a worker thought dead pops, and its list goes with the new job in it",
        "workers 100000",
        given=[
            "put 1 me q J klass {} 0 priority 1",
            "put 1 me other K klass {} 0",
            "pop 2 other w 1",
        ],
        after=2,
        meanwhile=["pop 99999 q w 1"],
        guard="ql:w:w:jobs",
        right={"ql:w:w:jobs": ["J", "K"], "ql:workers": ["w"]},
        broken={"ql:w:w:jobs": None, "ql:workers": ["w"]},
    ),
    *(
        Race(
            "a delayed job that is promoted while it is handed out stands in work as it runs",
            words,
            given=["put 1 me q J klass {} 10"],
            after=after,
            meanwhile=["pop 20 q w 1"],
            guard=job("J"),
            covered_by=covered_by,
            right={job("J"): {"state": "running"}, "ql:q:q-work": None},
            broken={job("J"): {"state": "waiting"}, "ql:q:q-work": ["J"]},
        )
        for words, after, covered_by in [
            ("queues 20 q", 3, []),
            ("jobs 20 scheduled q", 3, []),
            ("peek 20 q 1", 2, [history("J")]),
        ]
    ),
    Race(
        "a recurring job is moved twice, and stands in two queues",
        "recur 5 other R klass {} interval 60 0",
        given=["recur 1 q R klass {} interval 60 0"],
        after=1,
        meanwhile=["recur 4 third R klass {} interval 60 0"],
        guard="ql:r:R",
        right={"ql:q:third-recur": None, "ql:q:other-recur": ["R"]},
        broken={"ql:q:third-recur": ["R"], "ql:q:other-recur": ["R"]},
    ),
    Race(
        "a recurring job is moved while it is forgotten, and stands there for ever",
        "unrecur 5 R",
        given=["recur 1 q R klass {} interval 60 0"],
        after=1,
        meanwhile=["recur 4 other R klass {} interval 60 0"],
        guard="ql:r:R",
        right={"ql:r:R": None, "ql:q:other-recur": None},
        broken={"ql:r:R": None, "ql:q:other-recur": ["R"]},
    ),
    *(
        Race(
            "a recurring job that is forgotten leaves a stub",
            words,
            given=["""recur 1 q R klass {} interval 60 0 tags '["red", "blue"]'"""],
            after=1,
            meanwhile=["unrecur 4 R"],
            guard="ql:r:R",
            right={"reply": "RecurringJobNotFound", "ql:r:R": None},
            broken={"ql:r:R": 1},
        )
        for words in ("recur.tag 5 R green", "recur.untag 5 R red", "recur.update 5 R priority 3")
    ),
    Race(
        "two who track one job are both told that they were the first",
        "track 5 track J",
        given=["put 1 me q J klass {} 0"],
        after=1,
        meanwhile=["track 4 track J"],
        guard="ql:tracked",
        right={"reply": "0"},
        broken={"reply": "1"},
    ),
]


@pytest.fixture(params=RACES, ids=lambda race: f"{race.call.split()[0]}: {race.title}")
def race(request: pytest.FixtureRequest) -> Race:
    chosen: Race = request.param
    return chosen


def test_with_its_guards(race: Race) -> None:
    assert part_of(race.outcome(), race.right) == race.right


def test_without_the_guard(race: Race) -> None:
    found = race.outcome([race.guard, *race.covered_by], blind=True)
    assert part_of(found, race.broken) == race.broken
    assert race.right != race.broken


def test_with_its_guards_on_a_real_server(race: Race, redis_url: str) -> None:
    assert part_of(race.outcome_on(redis_url), race.right) == race.right


@pytest.mark.parametrize(
    "race", [race for race in RACES if race.covered_by], ids=lambda race: race.title
)
def test_each_cover_is_enough(race: Race) -> None:
    """Where several guards stop a race, any one of them does."""
    guards = [race.guard, *race.covered_by]
    for kept in guards:
        found = race.outcome([guard for guard in guards if guard != kept])
        assert part_of(found, race.right) == race.right, kept


def test_every_call_that_reads_before_it_writes_is_in_a_race() -> None:
    blind = {"config.set", "config.unset", "pause", "unpause", "worker.deregister", "queue.forget"}
    views = {"config.get", "failed", "get", "length", "multiget", "recur.get", "stats"}
    assert {race.call.split()[0] for race in RACES} == COMMANDS.keys() - blind - views
