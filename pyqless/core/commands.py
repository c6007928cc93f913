# SPDX-License-Identifier: MIT
"""
The command table: every command of the core by its wire name, with its arguments, its rule and its reply.

A parser takes the arguments and gives the rule's transition, ready to begin; it raises what the core
would say of them. What the core finds out only after a look at the store, the rule itself raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pyqless.core import (
    cancelling,
    completing,
    dependencies,
    failures,
    jobs,
    locks,
    lua,
    popping,
    putting,
    queues,
    recurring,
    replies,
    retrying,
    settings,
    statistics,
    tags,
    timing_out,
    tracking,
    workers,
)
from pyqless.core.arguments import (
    Arguments,
    encoded,
    jid_list,
    json_value,
    number,
    options,
    refuse,
    tags_value,
)
from pyqless.core.completing import Next
from pyqless.core.effects import Factory
from pyqless.core.putting import JobSpec
from pyqless.core.recurring import RecurSpec
from pyqless.errors import InvalidArgument, UnknownCommand

__all__ = ["COMMANDS", "Call", "call"]


class Call(NamedTuple):
    """A command ready to run."""

    #: Unix time, seconds
    now: float
    transition: Factory[Any]
    #: makes the wire's reply of the transition's value
    render: Callable[[Any], replies.Reply]


#: a transition, and how its value is written
_Parsed = tuple[Factory[Any], Callable[[Any], replies.Reply]]


def call(words: Sequence[str]) -> Call:
    """
    Read a command as it comes over the wire: its name, the moment, its arguments.

    Raises:
        UnknownCommand: there is no such command.
        InvalidArgument: the moment or an argument is no good.
    """
    if not words:
        raise UnknownCommand("no command was given", lua="Must provide a command")
    name = words[0]
    if name not in COMMANDS:
        raise UnknownCommand(
            f"there is no command {name!r}",
            argument="command",
            value=name,
            lua=f"Unknown command {name}",
        )
    if len(words) == 1:
        refuse("now", None, "is missing")
    now = lua.to_number(words[1])
    if now is None:
        text = 'Arg "now" missing or not a number: nil'
        refuse("now", words[1], "is not a number", text)
    now = number(words[1], "now", "")
    transition, render = COMMANDS[name](Arguments(words[2:]))
    return Call(now, transition, render)


# -- jobs -------------------------------------------------------------------------------------


def _jid(arguments: Arguments, position: int = 0) -> str:
    return arguments.text(position, "jid", "Job(): no jid provided")


def _queue(arguments: Arguments, position: int = 0) -> str:
    return arguments.text(position, "queue", "Queue(): no queue name provided")


def _get(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    return lambda tx: jobs.get(tx, jid), replies.job


def _multiget(arguments: Arguments) -> _Parsed:
    jids = arguments.rest(0)
    return lambda tx: jobs.views(tx, jids), replies.job_list


def _spec(arguments: Arguments, first: int) -> JobSpec:
    """The part of put that describes the job, from ``klass`` on."""
    klass = arguments.text(first, "klass", 'Put(): Arg "klass" missing')
    data = arguments.data(first + 1, 'Put(): Arg "data" missing or not JSON: ')
    delay = arguments.number(first + 2, "delay", 'Put(): Arg "delay" not a number: ')
    given = options(arguments.rest(first + 3))

    def optional(name: str, text: str) -> float | None:
        return number(given[name], name, text) if name in given else None

    retries = optional("retries", 'Put(): Arg "retries" not a number: ')
    tag_text = given.get("tags")
    if tag_text is not None:
        json_value(tag_text, "tags", 'Put(): Arg "tags" not JSON')
    priority = optional("priority", 'Put(): Arg "priority" not a number')
    depends = jid_list(given.get("depends", "[]"), "depends", 'Put(): Arg "depends" not JSON: ')
    tags = None if tag_text is None else tags_value(tag_text, "tags", "")
    return JobSpec(klass, data, delay, priority, tags, retries, depends)


def _put(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments, 1)
    worker = arguments.text(0, "worker", "")
    jid = arguments.text(2, "jid", 'Put(): Arg "jid" missing')
    spec = _spec(arguments, 3)
    return lambda tx: putting.put(tx, worker, queue, jid, spec), replies.as_is


def _requeue(arguments: Arguments) -> _Parsed:
    jid, queue, worker = _jid(arguments, 2), _queue(arguments, 1), arguments.text(0, "worker", "")
    spec: JobSpec | InvalidArgument
    try:
        spec = _spec(arguments, 3)
    except InvalidArgument as fault:
        spec = fault
    return lambda tx: putting.requeue(tx, worker, queue, jid, spec), replies.as_is


def _pop(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments)
    worker = arguments.text(1, "worker", 'Pop(): Arg "worker" missing')
    count = arguments.number(2, "count", 'Pop(): Arg "count" missing or not a number: ')
    return lambda tx: popping.pop(tx, queue, worker, count), replies.job_list


def _peek(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments)
    count = arguments.number(1, "count", 'Peek(): Arg "count" missing or not a number: ')
    return lambda tx: popping.peek(tx, queue, count), replies.job_list


def _complete(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    worker = arguments.text(1, "worker", 'Complete(): Arg "worker" missing')
    queue = arguments.text(2, "queue", 'Complete(): Arg "queue" missing')
    data = arguments.data(3, 'Complete(): Arg "data" missing or not JSON: ')
    given = options(arguments.rest(4), odd=True)
    delay = 0.0
    if "delay" in given:
        read = lua.to_number(given["delay"])
        if read is None:
            refuse("delay", given["delay"], "is not a number", "assertion failed!")
        delay = number(given["delay"], "delay", "")
    depends_text = given.get("depends", "[]")
    json_value(depends_text, "depends", 'Complete(): Arg "depends" not JSON: ')
    to = given.get("next")
    if to is None:
        for name in ("delay", "depends"):
            if name in given:
                text = f'Complete(): "{name}" cannot be used without a "next".'
                refuse(name, given[name], "goes with next only", text)
        return lambda tx: completing.complete(tx, jid, worker, queue, data), replies.as_is
    onward: Next | InvalidArgument
    try:
        onward = Next(to, delay, jid_list(depends_text, "depends", ""))
    except InvalidArgument as fault:
        onward = fault
    return lambda tx: completing.advance(tx, jid, worker, queue, data, onward), replies.as_is


def _fail(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    worker = arguments.text(1, "worker", 'Fail(): Arg "worker" missing')
    group = arguments.text(2, "group", 'Fail(): Arg "group" missing')
    message = arguments.text(3, "message", 'Fail(): Arg "message" missing')
    data = arguments.new_data(4)
    return lambda tx: failures.fail(tx, jid, worker, group, message, data), replies.as_is


def _retry(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    queue = arguments.text(1, "queue", 'Retry(): Arg "queue" missing')
    worker = arguments.text(2, "worker", 'Retry(): Arg "worker" missing')
    delay = arguments.number(3, "delay", 'Retry(): Arg "delay" not a number: ', 0.0)
    group, message = arguments.at(4), arguments.at(5)
    return (
        lambda tx: retrying.retry(tx, jid, queue, worker, delay, group, message),
        replies.integer,
    )


def _heartbeat(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    worker = arguments.text(1, "worker", 'Heatbeat(): Arg "worker" missing')
    data = arguments.new_data(2)
    return lambda tx: locks.heartbeat(tx, jid, worker, data), replies.integer


def _timeout(arguments: Arguments) -> _Parsed:
    jids = arguments.rest(0)
    return lambda tx: timing_out.timeout(tx, jids), replies.nothing


def _cancel(arguments: Arguments) -> _Parsed:
    jids = arguments.rest(0)
    return lambda tx: cancelling.cancel(tx, jids), replies.as_is


def _depends(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    command = arguments.text(1, "command", 'Depends(): Arg "command" missing')
    others = arguments.rest(2)
    return lambda tx: dependencies.depends(tx, jid, command, others), replies.one


def _priority(arguments: Arguments) -> _Parsed:
    jid = _jid(arguments)
    text = 'Priority(): Arg "priority" missing or not a number: '
    priority = arguments.number(1, "priority", text)
    return lambda tx: jobs.set_priority(tx, jid, priority), replies.integer


def _log(arguments: Arguments) -> _Parsed:
    jid = arguments.text(0, "jid", "Log(): Argument 'jid' missing")
    message = arguments.text(1, "message", "Log(): Argument 'message' missing")
    text = arguments.at(2)
    if text is not None:
        json_value(text, "data", "Log(): Argument 'data' not cjson: ")
    data = arguments.new_data(2)
    return lambda tx: jobs.log(tx, jid, message, data), replies.nothing


# -- recurring jobs ---------------------------------------------------------------------------


def _recur(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments)
    jid = arguments.text(1, "jid", 'RecurringJob On(): Arg "jid" missing')
    spec = _recur_spec(arguments)
    return lambda tx: recurring.recur(tx, queue, jid, spec), replies.as_is


def _recur_spec(arguments: Arguments) -> RecurSpec:
    klass = arguments.text(2, "klass", 'RecurringJob On(): Arg "klass" missing')
    kind = arguments.text(4, "spec", 'RecurringJob On(): Arg "spec" missing')
    data = arguments.data(3, 'RecurringJob On(): Arg "data" not JSON: ')
    if kind != "interval":
        refuse("spec", kind, "is unknown", f'Recur(): schedule type "{kind}" unknown')
    interval = arguments.number(5, "interval", 'Recur(): Arg "interval" not a number: ')
    offset = arguments.number(6, "offset", 'Recur(): Arg "offset" not a number: ')
    if interval <= 0:
        text = 'Recur(): Arg "interval" must be greater than 0'
        refuse("interval", arguments.at(5), "is not greater than 0", text)
    given = options(arguments.rest(7))
    tag_text = given.get("tags", "[]")
    tags = json_value(tag_text, "tags", 'Recur(): Arg "tags" must be JSON string array: ')
    encoded(tags, "tags", tag_text)

    def optional(name: str) -> float:
        return number(given.get(name), name, f'Recur(): Arg "{name}" not a number: ', 0.0)

    priority, retries, backlog = optional("priority"), optional("retries"), optional("backlog")
    return RecurSpec(klass, data, interval, offset, priority, tags, retries, backlog)


def _recurring_jid(arguments: Arguments) -> str:
    return arguments.text(0, "jid", "Recurring(): no jid provided")


def _unrecur(arguments: Arguments) -> _Parsed:
    jid = _recurring_jid(arguments)
    return lambda tx: recurring.unrecur(tx, jid), replies.one


def _recur_get(arguments: Arguments) -> _Parsed:
    jid = _recurring_jid(arguments)
    return lambda tx: recurring.get(tx, jid), replies.recurring_job


def _recur_update(arguments: Arguments) -> _Parsed:
    jid, pairs = _recurring_jid(arguments), arguments.rest(1)
    changes = [
        (name, arguments.at(position + 1)) for position, name in enumerate(pairs, 1) if position % 2
    ]
    return lambda tx: recurring.update(tx, jid, changes), replies.one


def _recur_tag(arguments: Arguments) -> _Parsed:
    jid, names = _recurring_jid(arguments), arguments.rest(1)
    return lambda tx: recurring.tag(tx, jid, names), replies.json


def _recur_untag(arguments: Arguments) -> _Parsed:
    jid, names = _recurring_jid(arguments), arguments.rest(1)
    return lambda tx: recurring.untag(tx, jid, names), replies.json


# -- tags, tracking, failures -----------------------------------------------------------------


def _tag(arguments: Arguments) -> _Parsed:
    text = 'Tag(): Arg "command" must be "add", "remove", "get" or "top"'
    command = arguments.text(0, "command", text)
    if command in ("add", "remove"):
        jid = arguments.text(1, "jid", 'Tag(): Arg "jid" missing')
        names = arguments.rest(2)
        change = tags.add if command == "add" else tags.remove
        return lambda tx: change(tx, jid, names), replies.json
    if command == "get":
        tag = arguments.text(1, "tag", 'Tag(): Arg "tag" missing')
        offset, count = _page(arguments, 2, "Tag")
        return lambda tx: tags.tagged(tx, tag, offset, count), replies.tagged
    if command != "top":
        unknown = 'Tag(): First argument must be "add", "remove" or "get"'
        refuse("command", command, "is unknown", unknown)
    offset, count = _page(arguments, 1, "Tag")
    return lambda tx: tags.top(tx, offset, count), replies.json


def _page(arguments: Arguments, position: int, name: str) -> tuple[float, float]:
    offset = arguments.number(position, "offset", f'{name}(): Arg "offset" not a number: ', 0.0)
    count = arguments.number(position + 1, "count", f'{name}(): Arg "count" not a number: ', 25.0)
    return offset, count


def _track(arguments: Arguments) -> _Parsed:
    action = arguments.at(0)
    if action is None:
        return tracking.tracked, replies.tracked
    jid = arguments.text(1, "jid", 'Track(): Arg "jid" missing')
    return lambda tx: tracking.set_tracking(tx, action, jid), replies.json


def _failed(arguments: Arguments) -> _Parsed:
    group = arguments.at(0)
    start = arguments.number(1, "start", 'Failed(): Arg "start" is not a number: ', 0.0)
    limit = arguments.number(2, "limit", 'Failed(): Arg "limit" is not a number: ', 25.0)
    if group is None:
        return failures.groups, replies.json
    return lambda tx: failures.failed(tx, group, start, limit), replies.failed_page


def _unfail(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments)
    group = arguments.text(1, "group", 'Unfail(): Arg "group" missing')
    count = arguments.number(2, "count", 'Unfail(): Arg "count" not a number: ', 25.0)
    return lambda tx: failures.unfail(tx, queue, group, count), replies.integer


# -- queues and workers -----------------------------------------------------------------------


def _queues(arguments: Arguments) -> _Parsed:
    name = arguments.at(0)
    if name is None:
        return queues.all_counts, replies.queue_counts
    return lambda tx: queues.counts(tx, name), replies.queue_counts


def _jobs(arguments: Arguments) -> _Parsed:
    state = arguments.text(0, "state", 'Jobs(): Arg "state" missing')
    if state == "complete":
        offset, count = _page(arguments, 1, "Jobs")
        return lambda tx: queues.completed(tx, offset, count), replies.as_is
    queue = arguments.text(1, "queue", 'Jobs(): Arg "queue" missing')
    offset, count = _page(arguments, 2, "Jobs")
    if state not in queues.STATES:
        refuse("state", state, "is unknown", f'Jobs(): Unknown type "{state}"')
    return lambda tx: queues.jids(tx, state, queue, offset, count), replies.as_is


def _length(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments)
    return lambda tx: queues.length(tx, queue), replies.integer


def _pause(arguments: Arguments) -> _Parsed:
    names = arguments.some(0, "queue")
    return lambda tx: queues.pause(tx, names), replies.nothing


def _unpause(arguments: Arguments) -> _Parsed:
    names = arguments.some(0, "queue")
    return lambda tx: queues.unpause(tx, names), replies.nothing


def _forget(arguments: Arguments) -> _Parsed:
    names = arguments.some(0, "queue")
    return lambda tx: queues.forget(tx, names), replies.nothing


def _stats(arguments: Arguments) -> _Parsed:
    queue = _queue(arguments)
    date = arguments.number(1, "date", 'Stats(): Arg "date" missing or not a number: ')
    return lambda tx: statistics.stats(tx, queue, date), replies.statistics


def _workers(arguments: Arguments) -> _Parsed:
    name = arguments.at(0)
    if name is None:
        return workers.counts, replies.worker_counts
    return lambda tx: workers.jobs(tx, name), replies.worker_jobs


def _deregister(arguments: Arguments) -> _Parsed:
    names = arguments.some(0, "worker")
    return lambda tx: workers.deregister(tx, names), replies.nothing


# -- settings ---------------------------------------------------------------------------------


def _config_get(arguments: Arguments) -> _Parsed:
    name = arguments.at(0)
    if name is None:
        return settings.get_all, replies.json
    return lambda tx: settings.get(tx, name), replies.as_is


def _config_set(arguments: Arguments) -> _Parsed:
    name = arguments.text(0, "option", 'config.set(): Arg "option" missing')
    value = arguments.text(1, "value", 'config.set(): Arg "value" missing')
    return lambda tx: settings.set_(tx, name, value), replies.nothing


def _config_unset(arguments: Arguments) -> _Parsed:
    name = arguments.text(0, "option", 'config.unset(): Arg "option" missing')
    return lambda tx: settings.unset(tx, name), replies.nothing


#: Every command of the core; nothing else may be called by name.
COMMANDS: dict[str, Callable[[Arguments], _Parsed]] = {
    "cancel": _cancel,
    "complete": _complete,
    "config.get": _config_get,
    "config.set": _config_set,
    "config.unset": _config_unset,
    "depends": _depends,
    "fail": _fail,
    "failed": _failed,
    "get": _get,
    "heartbeat": _heartbeat,
    "jobs": _jobs,
    "length": _length,
    "log": _log,
    "multiget": _multiget,
    "pause": _pause,
    "peek": _peek,
    "pop": _pop,
    "priority": _priority,
    "put": _put,
    "queue.forget": _forget,
    "queues": _queues,
    "recur": _recur,
    "recur.get": _recur_get,
    "recur.tag": _recur_tag,
    "recur.untag": _recur_untag,
    "recur.update": _recur_update,
    "requeue": _requeue,
    "retry": _retry,
    "stats": _stats,
    "tag": _tag,
    "timeout": _timeout,
    "track": _track,
    "unfail": _unfail,
    "unpause": _unpause,
    "unrecur": _unrecur,
    "worker.deregister": _deregister,
    "workers": _workers,
}
