# SPDX-License-Identifier: MIT
"""Requests of many calls, which are carried out together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from pyqless.client import checks, references
from pyqless.client.checks import Span
from pyqless.client.new_jobs import NewJob
from pyqless.client.options import PutOptions
from pyqless.client.references import AnyJob
from pyqless.client.requests import enqueueing
from pyqless.client.requests import jobs as requests
from pyqless.client.requests.effects import giving, settled
from pyqless.client.views import JobView, NamedQueue
from pyqless.core import cancelling
from pyqless.core.batches import together
from pyqless.core.effects import Factory
from pyqless.core.waking import announced
from pyqless.errors import InvalidArgument, QlessError

__all__ = ["Batch", "cancel", "complete", "fail", "heartbeat", "noted", "put"]

Job: TypeAlias = JobView[Any]

#: how many calls a transaction takes
_MANY: Final = 100

#: the options of a job of which nothing is said
_UNSAID: Final[dict[str, Any]] = dict.fromkeys(sorted(PutOptions.__optional_keys__))


class Batch(NamedTuple):
    """Calls that are checked and ready to be carried out."""

    #: the jobs they are about
    jobs: list[Job]
    #: gives what each call gives, or why it failed
    transition: Factory[list[Any]]


def put(queue: NamedQueue, items: Iterable[Any], *, all_or_nothing: bool) -> Factory[list[Any]]:
    """See ``Queue.put_many``."""
    items = _listed("items", items)
    # of jobs that came at one moment, the one whose jid is last in order goes first: so they go as they came
    jids = iter(sorted((enqueueing.random_jid() for _ in items), reverse=True))
    calls = _each("items", items, lambda name, item: _put(queue, name, item, next(jids)))
    return _together(calls, all_or_nothing=all_or_nothing)


def _put(queue: NamedQueue, name: str, item: Any, new_jid: str) -> Factory[Any]:
    if isinstance(item, tuple) and len(item) == 2:
        klass, data = item
        options: Mapping[str, Any] = {}
    elif isinstance(item, NewJob):
        klass, data, options = item.klass, item.data, item.options
    else:
        checks.refuse(name, item, "must be a NewJob, or a pair of klass and data")
    try:
        if options or not isinstance(klass, str):
            chosen = {**_UNSAID, **options}
            return enqueueing.put(queue, klass, data, new_jid=new_jid, **chosen).transition
        return enqueueing.put_plain(queue, klass, data, new_jid).transition
    except InvalidArgument as fault:
        _place(fault, name)
        raise


def complete(
    jobs: Iterable[Job],
    next_queue: str | None,
    delay: Span,
    depends: Iterable[str | AnyJob] | None,
    *,
    all_or_nothing: bool,
) -> Batch:
    """See ``Jobs.complete_many``."""
    to = requests.onward(next_queue, delay, depends)
    batch = _of_jobs(jobs, lambda job: requests.completion(job, to), all_or_nothing=all_or_nothing)
    return batch._replace(transition=announced(batch.transition))


def fail(jobs: Iterable[Job], group: str, message: str, *, all_or_nothing: bool) -> Batch:
    """See ``Jobs.fail_many``."""
    words = checks.name("group", group), checks.text("message", message)
    return _of_jobs(jobs, lambda job: requests.fail(job, *words), all_or_nothing=all_or_nothing)


def heartbeat(jobs: Iterable[Job], *, all_or_nothing: bool) -> Batch:
    """See ``Jobs.heartbeat_many``."""
    return _of_jobs(jobs, requests.heartbeat, all_or_nothing=all_or_nothing)


def cancel(jobs: Iterable[str | AnyJob], *, all_or_nothing: bool) -> Factory[list[Any]]:
    """See ``Jobs.cancel_many``."""
    calls = _each("jobs", jobs, _cancel)
    return _together(calls, all_or_nothing=all_or_nothing)


def _cancel(name: str, job: Any) -> Factory[str]:
    jid = references.job(name, job)
    return giving(jid, partial(cancelling.cancel, jids=[jid]))


def noted(batch: Batch, outcomes: Iterable[Any]) -> list[Any]:
    """Let the jobs show how the calls left them, and give what each call gives."""
    return [
        outcome if isinstance(outcome, QlessError) else job._noted(outcome)  # noqa: SLF001 - see JobView
        for job, outcome in zip(batch.jobs, outcomes, strict=True)
    ]


# -- what they have in common -----------------------------------------------------------------


def _of_jobs(
    jobs: Iterable[Any], call: Callable[[Job], Factory[Any]], *, all_or_nothing: bool
) -> Batch:
    known: list[Job] = []

    def checked(name: str, given: Any) -> Factory[Any]:
        job = references.handle(given)
        if not isinstance(job, JobView):
            checks.refuse(name, given, f"must be a job, not {type(given).__name__}")
        known.append(job)
        try:
            return call(job)
        except InvalidArgument as fault:
            _place(fault, name)
            raise

    calls = _each("jobs", jobs, checked)
    return Batch(known, _together(calls, all_or_nothing=all_or_nothing))


def _each(
    argument: str, items: Iterable[Any], call: Callable[[str, Any], Factory[Any]]
) -> list[Factory[Any]]:
    listed = enumerate(_listed(argument, items))
    return [call(f"{argument}[{number}]", item) for number, item in listed]


def _listed(argument: str, items: Iterable[Any]) -> list[Any]:
    # a text would pass for a list of its characters
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        checks.refuse(argument, items, f"must be a list, not {type(items).__name__}")
    return [*items]


def _place(fault: InvalidArgument, item: str) -> None:
    """Say of bad input in which item it is."""
    fault.args = (f"{item}: {fault}",)
    fault.argument = f"{item}.{fault.argument}"


def _together(calls: list[Factory[Any]], *, all_or_nothing: bool) -> Factory[list[Any]]:
    whole = checks.flag("all_or_nothing", all_or_nothing)
    if whole and len(calls) > _MANY:
        fault = f"takes no more than {_MANY} at once, and here are {len(calls)}"
        checks.refuse("all_or_nothing", all_or_nothing, fault)
    return settled(together(calls, size=_MANY, all_or_nothing=whole))
