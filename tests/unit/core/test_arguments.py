# SPDX-License-Identifier: MIT
"""
What commands say of their arguments, and in which order they look at them.

Behind the first fault of a call there often stands another one, which must not be told of.
"""

from __future__ import annotations

import pytest

from pyqless.conformance import Target
from pyqless.core.candidates import head_reads
from pyqless.core.commands import COMMANDS, call
from pyqless.core.keys import Keys
from pyqless.errors import InvalidArgument, InvalidSetting, UnknownCommand
from tests.unit.core.examples import run

#: jobs for the calls below: J waits, K waits for J, R is recurring
JOBS = (
    "put 90 me q J klass {} 0",
    """put 91 me q K klass {} 0 depends '["J"]'""",
    "recur 92 q R klass {} interval 10 1000",
)

#: the core's words (C5), in the order of its checks (C6)
SAID = {
    "": "Must provide a command",
    "nope soon": "Unknown command nope",
    "untrack soon J": "Unknown command untrack",
    "pop soon": 'Arg "now" missing or not a number: nil',
    "pop '' q": 'Arg "now" missing or not a number: nil',
    # -- put and requeue
    "put 100": "Queue(): no queue name provided",
    "put 100 me": "Queue(): no queue name provided",
    "put 100 me q": 'Put(): Arg "jid" missing',
    "put 100 me q J": 'Put(): Arg "klass" missing',
    "put 100 me q J k false": 'Put(): Arg "data" missing or not JSON: false',
    "put 100 me q J k {}": 'Put(): Arg "delay" not a number: nil',
    "put 100 me q J k {} soon retries": 'Put(): Arg "delay" not a number: soon',
    "put 100 me q J k {} 0 retries": "Odd number of additional args",
    "put 100 me q J k {} 0 priority high tags false retries x": (
        'Put(): Arg "retries" not a number: x'
    ),
    "put 100 me q J k {} 0 depends false priority high tags false": (
        'Put(): Arg "tags" not JSONfalse'
    ),
    "put 100 me q J k {} 0 depends false priority high": 'Put(): Arg "priority" not a numberhigh',
    "put 100 me q J k {} 0 priority ''": 'Put(): Arg "priority" not a number',
    "put 100 me q J k {} 0 depends false": 'Put(): Arg "depends" not JSON: false',
    "requeue 100": "Job(): no jid provided",
    "requeue 100 me q": "Job(): no jid provided",
    "requeue 100 me q nope": "Requeue(): Job nope does not exist",
    "requeue 100 me q J": 'Put(): Arg "klass" missing',
    "requeue 100 me q J k {} 0 retries": "Odd number of additional args",
    # -- pop and peek
    "pop 100": "Queue(): no queue name provided",
    "pop 100 q": 'Pop(): Arg "worker" missing',
    "pop 100 q worker": 'Pop(): Arg "count" missing or not a number: nil',
    "pop 100 q worker many": 'Pop(): Arg "count" missing or not a number: many',
    "peek 100": "Queue(): no queue name provided",
    "peek 100 q": 'Peek(): Arg "count" missing or not a number: nil',
    "peek 100 q many": 'Peek(): Arg "count" missing or not a number: many',
    # -- complete
    "complete 100": "Job(): no jid provided",
    "complete 100 nope": 'Complete(): Arg "worker" missing',
    "complete 100 nope w": 'Complete(): Arg "queue" missing',
    "complete 100 nope w q false delay soon": ('Complete(): Arg "data" missing or not JSON: false'),
    "complete 100 nope w q {} delay soon depends false": "assertion failed!",
    "complete 100 nope w q {} delay 1 depends false": ('Complete(): Arg "depends" not JSON: false'),
    "complete 100 nope w q {} delay 1 depends []": (
        'Complete(): "delay" cannot be used without a "next".'
    ),
    "complete 100 nope w q {} depends []": (
        'Complete(): "depends" cannot be used without a "next".'
    ),
    "complete 100 nope w q {} depends 5": (
        'Complete(): "depends" cannot be used without a "next".'
    ),
    "complete 100 nope w q {} next": "Complete(): Job nope does not exist",
    # -- fail, retry, heartbeat, timeout
    "fail 100": "Job(): no jid provided",
    "fail 100 nope": 'Fail(): Arg "worker" missing',
    "fail 100 nope w": 'Fail(): Arg "group" missing',
    "fail 100 nope w g": 'Fail(): Arg "message" missing',
    "fail 100 nope w g m": "Fail(): Job nopedoes not exist",
    "retry 100": "Job(): no jid provided",
    "retry 100 nope": 'Retry(): Arg "queue" missing',
    "retry 100 nope q": 'Retry(): Arg "worker" missing',
    "retry 100 nope q w soon": 'Retry(): Arg "delay" not a number: soon',
    "heartbeat 100": "Job(): no jid provided",
    "heartbeat 100 nope": 'Heatbeat(): Arg "worker" missing',
    # -- jobs one by one
    "get 100": "Job(): no jid provided",
    "depends 100": "Job(): no jid provided",
    "depends 100 J": 'Depends(): Arg "command" missing',
    "priority 100": "Job(): no jid provided",
    "priority 100 nope": 'Priority(): Arg "priority" missing or not a number: nil',
    "priority 100 nope high": 'Priority(): Arg "priority" missing or not a number: high',
    "log 100": "Log(): Argument 'jid' missing",
    "log 100 nope": "Log(): Argument 'message' missing",
    "log 100 nope m false": "Log(): Argument 'data' not cjson: false",
    "track 100 follow": 'Track(): Arg "jid" missing',
    # -- recurring jobs
    "recur 100": "Queue(): no queue name provided",
    "recur 100 q": 'RecurringJob On(): Arg "jid" missing',
    "recur 100 q R": 'RecurringJob On(): Arg "klass" missing',
    "recur 100 q R k": 'RecurringJob On(): Arg "spec" missing',
    "recur 100 q R k {": 'RecurringJob On(): Arg "spec" missing',
    "recur 100 q R k false cron": 'RecurringJob On(): Arg "data" not JSON: false',
    "recur 100 q R k {} cron": 'Recur(): schedule type "cron" unknown',
    "recur 100 q R k {} interval": 'Recur(): Arg "interval" not a number: nil',
    "recur 100 q R k {} interval x": 'Recur(): Arg "interval" not a number: x',
    "recur 100 q R k {} interval 0": 'Recur(): Arg "offset" not a number: nil',
    "recur 100 q R k {} interval 0 x": 'Recur(): Arg "offset" not a number: x',
    "recur 100 q R k {} interval 0 0 x": 'Recur(): Arg "interval" must be greater than 0',
    "recur 100 q R k {} interval -1 0": 'Recur(): Arg "interval" must be greater than 0',
    "recur 100 q R k {} interval 1 0 tags": "Odd number of additional args",
    "recur 100 q R k {} interval 1 0 priority high tags false": (
        'Recur(): Arg "tags" must be JSON string array: false'
    ),
    "recur 100 q R k {} interval 1 0 retries x backlog x priority high": (
        'Recur(): Arg "priority" not a number: high'
    ),
    "recur 100 q R k {} interval 1 0 backlog x retries x": (
        'Recur(): Arg "retries" not a number: x'
    ),
    "recur 100 q R k {} interval 1 0 backlog x": 'Recur(): Arg "backlog" not a number: x',
    "recur.get 100": "Recurring(): no jid provided",
    "recur.update 100": "Recurring(): no jid provided",
    "recur.update 100 nope count": "Recur(): No recurring job nope",
    "recur.update 100 R count": "No value provided for count",
    "recur.tag 100": "Recurring(): no jid provided",
    "recur.untag 100": "Recurring(): no jid provided",
    "unrecur 100": "Recurring(): no jid provided",
    # -- tags and failures
    "tag 100": 'Tag(): Arg "command" must be "add", "remove", "get" or "top"',
    "tag 100 Add": 'Tag(): First argument must be "add", "remove" or "get"',
    "tag 100 add": 'Tag(): Arg "jid" missing',
    "tag 100 remove": 'Tag(): Arg "jid" missing',
    "tag 100 get": 'Tag(): Arg "tag" missing',
    "tag 100 get a x y": 'Tag(): Arg "offset" not a number: x',
    "tag 100 get a 0 y": 'Tag(): Arg "count" not a number: y',
    "tag 100 top x y": 'Tag(): Arg "offset" not a number: x',
    "tag 100 top 0 y": 'Tag(): Arg "count" not a number: y',
    "failed 100 g x y": 'Failed(): Arg "start" is not a number: x',
    "failed 100 g 0 y": 'Failed(): Arg "limit" is not a number: y',
    "unfail 100": "Queue(): no queue name provided",
    "unfail 100 q": 'Unfail(): Arg "group" missing',
    "unfail 100 q g x": 'Unfail(): Arg "count" not a number: x',
    # -- queues, workers, settings
    "jobs 100": 'Jobs(): Arg "state" missing',
    "jobs 100 nope": 'Jobs(): Arg "queue" missing',
    "jobs 100 nope q x y": 'Jobs(): Arg "offset" not a number: x',
    "jobs 100 nope q 0 y": 'Jobs(): Arg "count" not a number: y',
    "jobs 100 nope q": 'Jobs(): Unknown type "nope"',
    "jobs 100 complete x y": 'Jobs(): Arg "offset" not a number: x',
    "jobs 100 complete 0 y": 'Jobs(): Arg "count" not a number: y',
    "length 100": "Queue(): no queue name provided",
    "stats 100": "Queue(): no queue name provided",
    "stats 100 q": 'Stats(): Arg "date" missing or not a number: nil',
    "stats 100 q today": 'Stats(): Arg "date" missing or not a number: today',
    "config.set 100": 'config.set(): Arg "option" missing',
    "config.set 100 heartbeat": 'config.set(): Arg "value" missing',
    "config.unset 100": 'config.unset(): Arg "option" missing',
}


def refused(core: Target, line: str, *after: str) -> BaseException:
    """Send a call that must fail and change nothing; give what stands behind what the client gets."""
    for each in (*JOBS, *after):
        run(core, each)
    before = core.snapshot()
    core.record()
    with pytest.raises(core.error) as caught:
        run(core, line)
    assert core.snapshot() == before
    assert core.recorded() == []
    return caught.value


@pytest.mark.parametrize(("line", "words"), SAID.items())
def test_the_core_says(core: Target, line: str, words: str) -> None:
    assert str(refused(core, line)) == words


# -- where the core has no words of its own -----------------------------------------------------

#: where the core fails without a word: the argument at fault, and its value
FAULTS = {
    "pop": ("now", None),
    "put 100 me q J k": ("data", None),
    "put 100 me q J k {": ("data", "{"),
    "put 100 me q J k '' 0": ("data", ""),
    "put 100 me q J k {} 0 tags {": ("tags", "{"),
    "put 100 me q J k {} 0 tags null": ("tags", "null"),
    "put 100 me q J k {} 0 tags 5": ("tags", "5"),
    "put 100 me q J k {} 0 tags '[true]'": ("tags", "[true]"),
    "put 100 me q J k {} 0 tags '[[]]'": ("tags", "[[]]"),
    "put 100 me q J k {} 0 tags '[\"a\", null]'": ("tags", '["a", null]'),
    "put 100 me q J k {} 0 depends {": ("depends", "{"),
    "put 100 me q J k {} 0 depends null": ("depends", "null"),
    "put 100 me q J k {} 0 depends '[false]'": ("depends", "[false]"),
    "put 100 me q J k {} 0 depends '\"J\"'": ("depends", '"J"'),
    "put 100 me q X-history k {} 0": ("jid", "X-history"),
    "put 100 me q -dependents k {} 0": ("jid", "-dependents"),
    "put 100 me q X-dependencies k {} 0": ("jid", "X-dependencies"),
    "requeue 100 me q J k": ("data", None),
    "requeue 100 me q J k {} 0 tags {": ("tags", "{"),
    "pop 100 q worker 1.5": ("count", 1.5),
    "pop 100 q worker 0.5": ("count", 0.5),
    "pop 100 q worker 1e17": ("count", 1e17),
    "pop 100 q worker 1e300": ("count", 1e300),
    "pop 100 q worker -1e300": ("count", -1e300),
    "peek 100 q 1.5": ("count", 1.5),
    "peek 100 q -1e17": ("count", -1e17),
    "complete 100 J worker q": ("data", None),
    "complete 100 J worker q {": ("data", "{"),
    "complete 100 J worker q {} depends { next q": ("depends", "{"),
    "complete 100 J worker q {} depends null next q": ("depends", "null"),
    "complete 100 J worker q {} depends '[{}]' next q": ("depends", "[{}]"),
    "fail 100 J worker group message {": ("data", "{"),
    "heartbeat 100 J worker {": ("data", "{"),
    "log 100 J message {": ("data", "{"),
    "unfail 100 q group 0": ("count", 0.0),
    "unfail 100 q group 1.5": ("count", 1.5),
    "unfail 100 q group 1e17": ("count", 1e17),
    "failed 100 group 0.5": ("start", 0.5),
    "failed 100 group 0 1.5": ("limit", 1.5),
    "failed 100 group 0 1e17": ("limit", 1e17),
    "tag 100 get a 0.5": ("offset", 0.5),
    "tag 100 get a 0 1.5": ("count", 1.5),
    "tag 100 get a 1 1e17": ("count", 1e17),
    "tag 100 top 0.5": ("offset", 0.5),
    "tag 100 top 0 1.5": ("count", 1.5),
    "jobs 100 complete 0.5": ("offset", 0.5),
    "jobs 100 complete 0 1.5": ("count", 1.5),
    **{
        f"jobs 100 {state} q {page}": expected
        for state in ("running", "stalled", "scheduled", "depends", "recurring")
        for page, expected in [("0.5", ("offset", 0.5)), ("0 1.5", ("count", 1.5))]
    },
    "recur 100 q R k {} interval 1 0 tags {": ("tags", "{"),
    "recur 100 q R k { interval 1 0": ("data", "{"),
    "recur.update 100 R data {": ("data", "{"),
    "pause 100": ("queue", None),
    "unpause 100": ("queue", None),
    "queue.forget 100": ("queue", None),
    "worker.deregister 100": ("worker", None),
}


@pytest.mark.parametrize(("line", "fault"), FAULTS.items())
def test_a_fault_is_named(core: Target, line: str, fault: tuple[str, object]) -> None:
    # some faults are told only to the worker that holds the job's lock
    error = refused(core, line, "pop 95 q worker 1").__cause__
    assert type(error) is InvalidArgument
    assert (error.argument, error.value) == fault
    assert error.lua is None
    assert fault[0] in str(error)


@pytest.mark.parametrize("count", [1e300, -1e300, 1e17, 1.5, 0.5, -0.5])
def test_what_is_read_before_a_count_is_judged_is_a_rank(count: float) -> None:
    """A paused queue hands out nothing, whatever was asked for."""
    for _, _, *arguments in head_reads(Keys(), "q", count):
        ranks = [argument for argument in arguments if not isinstance(argument, str)]
        assert all(isinstance(rank, int) and abs(rank) < 2**63 for rank in ranks)


def test_a_put_without_its_worker(core: Target) -> None:
    error = refused(core, "put 100").__cause__
    assert isinstance(error, InvalidArgument)
    assert error.argument == "queue"


def test_an_unknown_command_is_an_error_of_its_own(core: Target) -> None:
    error = refused(core, "nope 100").__cause__
    assert isinstance(error, UnknownCommand)
    assert (error.argument, error.value) == ("command", "nope")
    assert isinstance(refused(core, "").__cause__, UnknownCommand)


# -- numbers that are not finite ----------------------------------------------------------------

NOT_FINITE = ["inf", "-inf", "+Infinity", "nan", "-NAN", "nan(1)", "1e400", "-1e400"]

#: every place where a number is read, and the argument's name
NUMBERS = {
    "put 100 me q X k {} %s": "delay",
    "put 100 me q X k {} 0 retries %s": "retries",
    "put 100 me q X k {} 0 priority %s": "priority",
    "requeue 100 me q J k {} %s": "delay",
    "requeue 100 me q J k {} 0 retries %s": "retries",
    "requeue 100 me q J k {} 0 priority %s": "priority",
    "pop 100 q worker %s": "count",
    "peek 100 q %s": "count",
    "complete 100 J worker q {} delay %s next q": "delay",
    "complete 100 J worker q {} delay %s": "delay",
    "retry 100 J q worker %s": "delay",
    "priority 100 J %s": "priority",
    "recur 100 q R k {} interval %s 0": "interval",
    "recur 100 q R k {} interval 1 %s": "offset",
    "recur 100 q R k {} interval 1 0 priority %s": "priority",
    "recur 100 q R k {} interval 1 0 retries %s": "retries",
    "recur 100 q R k {} interval 1 0 backlog %s": "backlog",
    "recur.update 100 R priority %s": "priority",
    "recur.update 100 R interval %s": "interval",
    "recur.update 100 R retries %s": "retries",
    "recur.update 100 R backlog %s": "backlog",
    "tag 100 get a %s": "offset",
    "tag 100 get a 0 %s": "count",
    "tag 100 top %s": "offset",
    "tag 100 top 0 %s": "count",
    "failed 100 group %s": "start",
    "failed 100 group 0 %s": "limit",
    "unfail 100 q group %s": "count",
    "jobs 100 complete %s": "offset",
    "jobs 100 complete 0 %s": "count",
    "jobs 100 running q %s": "offset",
    "jobs 100 running q 0 %s": "count",
    "stats 100 q %s": "date",
}


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize(("line", "name"), NUMBERS.items())
def test_numbers_must_be_finite(core: Target, line: str, name: str, number: str) -> None:
    error = refused(core, line % number).__cause__
    assert type(error) is InvalidArgument
    assert (error.argument, error.value) == (name, number)


@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_moment_must_be_finite(command: str, number: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        call([command, number, "J", "J", "J", "1", "1", "1"])
    assert (caught.value.argument, caught.value.value) == ("now", number)


@pytest.mark.parametrize("number", ["inf", "-Infinity", "nan", "1e400"])
@pytest.mark.parametrize(
    ("line", "name"),
    {
        "put 100 me q X k {} 0 tags '[%s]'": "tags",
        "put 100 me q X k {} 0 depends '[%s]'": "depends",
        "recur 100 q R k {} interval 1 0 tags '[%s]'": "tags",
        "fail 100 J worker group message '[%s]'": "data",
        "heartbeat 100 J worker '[%s]'": "data",
        "log 100 J message '[%s]'": "data",
    }.items(),
)
def test_numbers_in_json_that_is_written_anew(
    core: Target, line: str, name: str, number: str
) -> None:
    """C2: the core cannot write them."""
    error = refused(core, line % number).__cause__
    assert type(error) is InvalidArgument
    assert (error.argument, error.value) == (name, f"[{number}]")


# -- settings -----------------------------------------------------------------------------------

NO_NUMBERS = ["", "soon", "inf", "-inf", "nan", "1e400"]

#: settings, and a call that uses each
USES = {
    "heartbeat": "pop 100 q worker 1",
    "q-heartbeat": "pop 100 q worker 1",
    "q-max-concurrency": "pop 100 q worker 1",
    "grace-period": "pop 200 p worker 1",
    "max-job-history": "log 100 J message",
    "max-worker-age": "workers 100",
    "jobs-history": "complete 100 L worker p {}",
    "jobs-history-count": "complete 100 L worker p {}",
}
RUNNING = ("put 93 me p L klass {} 0", "pop 94 p worker 1")
#: another call for a setting
OTHER_USES = [
    ("heartbeat", "heartbeat 100 L worker"),
    ("p-heartbeat", "heartbeat 100 L worker"),
    ("max-job-history", "put 100 me q X klass {} 0"),
    ("max-job-history", "complete 100 L worker p {}"),
    ("max-job-history", "complete 100 L worker p {} next q"),
    ("max-job-history", "fail 100 L worker group message"),
    ("max-job-history", "timeout 100 L"),
    ("max-job-history", "pop 100 q worker 1"),
    ("max-worker-age", "workers 100 worker"),
]


@pytest.mark.parametrize("text", NO_NUMBERS)
@pytest.mark.parametrize(("name", "line"), [*USES.items(), *OTHER_USES])
def test_settings_must_be_numbers_when_they_are_used(
    core: Target, name: str, line: str, text: str
) -> None:
    check_setting(core, name, text, line)


@pytest.mark.parametrize(
    ("name", "line", "text"),
    [
        ("jobs-history-count", "complete 100 L worker p {}", "1.5"),
        ("jobs-history-count", "complete 100 L worker p {}", "1e17"),
        ("max-job-history", "log 100 J message", "3.5"),
        ("max-job-history", "log 100 J message", "0.5"),
        ("q-max-concurrency", "pop 100 q worker 5", "1.5"),
    ],
)
def test_settings_must_be_whole(core: Target, name: str, line: str, text: str) -> None:
    check_setting(core, name, text, line)


def check_setting(core: Target, name: str, text: str, line: str) -> None:
    error = refused(core, line, *RUNNING, f"config.set 95 {name} '{text}'").__cause__
    assert type(error) is InvalidSetting
    assert (error.argument, error.value) == (name, text)


#: C6: settings that the core does not come to look at
UNUSED = [
    ("max-job-history", "soon", "pop 100 empty worker 1", "{}"),
    ("max-job-history", "soon", "peek 100 p 1", "{}"),
    ("max-job-history", "soon", "unfail 100 q group", 0),
    ("max-job-history", "soon", "retry 100 L p worker", 4),
    ("grace-period", "soon", "pop 100 p worker 1", "{}"),
    ("grace-period", "soon", "retry 100 L p worker", 4),
    ("p-max-concurrency", "1.5", "pop 100 p worker 0", "{}"),
    ("p-max-concurrency", "1", "pop 100 p worker 1e300", "{}"),
    ("p-max-concurrency", "1", "pop 100 p worker 1.5", "{}"),
    ("q-heartbeat", "soon", "heartbeat 100 L worker", 160),
    ("jobs-history", "soon", "complete 100 L worker p {} next q", "waiting"),
]


@pytest.mark.parametrize(("name", "text", "line", "reply"), UNUSED)
def test_settings_that_are_not_used_do_no_harm(
    core: Target, name: str, text: str, line: str, reply: object
) -> None:
    for each in (*RUNNING, f"config.set 95 {name} {text}"):
        run(core, each)
    assert run(core, line) == reply


# -- the table itself ---------------------------------------------------------------------------


def test_every_command_of_the_core_is_there() -> None:
    """api.lua."""
    assert sorted(COMMANDS) == [
        *("cancel", "complete", "config.get", "config.set", "config.unset", "depends", "fail"),
        *("failed", "get", "heartbeat", "jobs", "length", "log", "multiget", "pause", "peek"),
        *("pop", "priority", "put", "queue.forget", "queues", "recur", "recur.get", "recur.tag"),
        *("recur.untag", "recur.update", "requeue", "retry", "stats", "tag", "timeout", "track"),
        *("unfail", "unpause", "unrecur", "worker.deregister", "workers"),
    ]


#: calls with all that they look at
COMPLETE_CALLS = [
    *("put 100 me q X k {} 0", "requeue 100 me q J k {} 0", "pop 100 q worker 1", "peek 100 q 1"),
    *("complete 100 L worker p {}", "fail 100 L worker g m {}", "retry 100 L q worker 0 g m"),
    *("heartbeat 100 L worker {}", "get 100 J", "priority 100 J 1", "log 100 J message {}"),
    *("recur 100 q S k {} interval 1 0", "recur.get 100 R", "unrecur 100 R", "tag 100 get a 0 1"),
    *("tag 100 top 0 1", "track 100 track J", "failed 100 g 0 1", "unfail 100 q g 1"),
    *("queues 100 q", "jobs 100 running p 0 1", "jobs 100 complete 0 1", "length 100 q"),
    *("stats 100 q 100", "workers 100 worker", "config.get 100 heartbeat"),
    *("config.set 100 heartbeat 1", "config.unset 100 heartbeat"),
]


@pytest.mark.parametrize("line", COMPLETE_CALLS)
def test_surplus_arguments_are_ignored(core: Target, line: str) -> None:
    """C6."""
    outcomes = []
    for surplus in ("", " surplus surplus"):
        core.flush()
        for each in (*JOBS, *RUNNING):
            run(core, each)
        core.record()
        outcomes.append((run(core, line + surplus), core.snapshot(), core.recorded()))
    assert outcomes[0] == outcomes[1]
