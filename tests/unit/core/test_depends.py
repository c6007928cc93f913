# SPDX-License-Identifier: MIT
"""depends, by examples."""

from __future__ import annotations

from pyqless.conformance import Target
from tests.unit.core.examples import Example, score, table

#: J waits for P; Q and R are there too
DEPENDING = (
    "put 90 me q P klass {} 0",
    "put 91 me q Q klass {} 0",
    """put 100 me p J klass {} 0 priority 3 depends '["P"]'""",
)
TWO = (*DEPENDING, "depends 110 J on Q")


@table(
    Example(
        "job.lua: depends, on",
        "depends 110 J on Q",
        after=DEPENDING,
        reply=1,
        changes={"ql:j:J-dependencies": ["P", "Q"], "ql:j:Q-dependents": ["J"]},
        messages=[],
    ),
    Example(
        "job.lua: depends, on what it waits for already",
        "depends 110 J on P",
        after=DEPENDING,
        reply=1,
        changes={},
    ),
    Example(
        "C7: jobs that are not there or complete are not waited for",
        "depends 120 J on none P2 Q",
        after=[
            *DEPENDING,
            "put 101 me r P2 klass {} 0",
            "pop 102 r worker 1",
            "complete 103 P2 worker r {}",
        ],
        reply=1,
        changes={"ql:j:J-dependencies": ["P", "Q"], "ql:j:Q-dependents": ["J"]},
    ),
    Example(
        "C10: on itself",
        "depends 110 J on J",
        after=DEPENDING,
        reply=1,
        changes={"ql:j:J-dependencies": ["J", "P"], "ql:j:J-dependents": ["J"]},
    ),
    Example("C10: on nothing", "depends 110 J on", after=DEPENDING, reply=1, changes={}),
    Example(
        "job.lua: depends, on a job named twice",
        "depends 110 J on Q Q",
        after=DEPENDING,
        reply=1,
        changes={"ql:j:J-dependencies": ["P", "Q"], "ql:j:Q-dependents": ["J"]},
    ),
)
def test_depends_on(core: Target, example: Example) -> None:
    example.check(core)


#: what happens to J when it waits for nothing any more, at 120
LET_GO = {
    "ql:j:J": {"state": "waiting"},
    "ql:j:J-dependencies": None,
    "ql:q:p-depends": None,
    "ql:q:p-work": {"J": score(3, 120)},
}


@table(
    Example(
        "job.lua: depends, off the last one",
        "depends 120 J off P",
        after=DEPENDING,
        reply=1,
        changes={**LET_GO, "ql:j:P-dependents": None},
        messages=[],
    ),
    Example(
        "job.lua: depends, off one of two",
        "depends 120 J off P",
        after=TWO,
        reply=1,
        changes={"ql:j:J-dependencies": ["Q"], "ql:j:P-dependents": None},
    ),
    Example(
        "job.lua: depends, off both",
        "depends 120 J off Q P",
        after=TWO,
        reply=1,
        changes={**LET_GO, "ql:j:P-dependents": None, "ql:j:Q-dependents": None},
    ),
    Example(
        "C10: off what it does not wait for, while others remain",
        "depends 120 J off Q none",
        after=DEPENDING,
        reply=1,
        changes={},
    ),
    Example(
        "job.lua: depends, off all",
        "depends 120 J off all",
        after=TWO,
        reply=1,
        changes={**LET_GO, "ql:j:P-dependents": None, "ql:j:Q-dependents": None},
    ),
    Example(
        "C10: what stands behind all is ignored",
        "depends 120 J off all none",
        after=DEPENDING,
        reply=1,
        changes={**LET_GO, "ql:j:P-dependents": None},
    ),
    Example(
        "job.lua: depends, all that does not stand first is a jid",
        "depends 120 J off none all",
        after=DEPENDING,
        reply=1,
        changes={},
    ),
    Example("C10: off nothing", "depends 120 J off", after=DEPENDING, reply=1, changes={}),
    Example(
        "C10: into work at once, even if a delay was given; the field stays",
        "depends 120 J off P",
        after=[
            "put 90 me q P klass {} 0",
            """put 100 me p J klass {} 900 priority 3 depends '["P"]'""",
        ],
        changes={**LET_GO, "ql:j:P-dependents": None},
        holds={"ql:j:J": {"scheduled": "1000"}},
    ),
    Example(
        "job.lua: depends, off itself",
        "depends 120 J off J",
        after=["""put 100 me p J klass {} 0 priority 3 depends '["J"]'"""],
        changes={**LET_GO, "ql:j:J-dependents": None},
    ),
)
def test_depends_off(core: Target, example: Example) -> None:
    example.check(core)


@table(
    Example(
        "C5: no job",
        "depends 120 J on P",
        error="Depends(): Job J not in the depends state: false",
    ),
    Example(
        "job.lua: depends, a job that waits for nothing",
        "depends 120 P on J",
        after=DEPENDING,
        error="Depends(): Job P not in the depends state: waiting",
    ),
    Example(
        "C6: the state is looked at before the command",
        "depends 120 P over J",
        after=DEPENDING,
        error="Depends(): Job P not in the depends state: waiting",
    ),
    Example(
        "job.lua: depends, an unknown command",
        "depends 120 J over P",
        after=DEPENDING,
        error='Depends(): Argument "command" must be "on" or "off"',
    ),
)
def test_depends_refuses(core: Target, example: Example) -> None:
    example.check(core)
