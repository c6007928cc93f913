# SPDX-License-Identifier: MIT
"""Every argument is checked before anything goes out, and the error names it."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from pyqless import Client, Queue
from pyqless.client import checks, references
from pyqless.client.references import MOST_PARENTS
from pyqless.errors import InvalidArgument

BAD_NAMES = [None, 5, b"bytes", "", "a\0b", "a\nb", "a\rb", "é" * 257, "\ud800"]
BAD_NUMBERS = [None, "5", True, math.nan, math.inf, -math.inf]
BAD_COUNTS = [0, -1, 1.0, "5", True, 2**53 + 1]


class Mail:
    class Send:
        pass


@pytest.mark.parametrize("value", BAD_NAMES)
def test_a_name_is_text_short_and_on_one_line(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^queue ") as raised:
        checks.name("queue", value)
    assert raised.value.argument == "queue"
    assert raised.value.value == value


@pytest.mark.parametrize("value", ["a", "é" * 256, "a b:c*", "\udcff"])
def test_what_other_writers_use_for_names_passes(value: str) -> None:
    assert checks.name("queue", value) == value


@pytest.mark.parametrize("suffix", ["-history", "-dependents", "-dependencies"])
def test_a_jid_is_no_other_jobs_key(suffix: str) -> None:
    with pytest.raises(InvalidArgument, match="must not end in") as raised:
        checks.jid("jid", "a" + suffix)
    assert raised.value.value == "a" + suffix


@pytest.mark.parametrize("value", BAD_NUMBERS)
def test_a_number_is_finite(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^priority must be") as raised:
        checks.number("priority", value)
    assert raised.value.argument == "priority"


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_that_no_double_holds_is_refused(digits: int) -> None:
    with pytest.raises(InvalidArgument, match="priority must be finite"):
        checks.number("priority", 10**digits)


@pytest.mark.parametrize("value", [0, -1, -1e-300])
def test_a_positive_number_is_above_zero(value: float) -> None:
    with pytest.raises(InvalidArgument, match="interval must be above 0"):
        checks.positive("interval", value)


@pytest.mark.parametrize("value", BAD_COUNTS)
def test_a_count_is_whole_and_at_least_one(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^count must") as raised:
        checks.whole("count", value, least=1)
    assert raised.value.value == value


@pytest.mark.parametrize("value", ["urgent", b"bytes", 5, None, ["a", 5], ["a", ""]])
def test_tags_are_a_list_of_texts(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^tags(\[1\])? must"):
        checks.names("tags", value)


@pytest.mark.parametrize("value", ["", 5, None, b"b", "\0"])
def test_of_several_names_the_one_at_fault_is_named_by_its_place(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^tags\[1\] must") as caught:
        checks.names("tags", ["a", value, ""])
    assert (caught.value.argument, caught.value.value) == ("tags[1]", value)


def test_no_number_is_no_infinite_one() -> None:
    with pytest.raises(InvalidArgument, match=r"^timeout must be a number: nan"):
        checks.number("timeout", math.nan)
    with pytest.raises(InvalidArgument, match=r"^timeout must be finite: inf"):
        checks.number("timeout", math.inf)
    with pytest.raises(InvalidArgument, match=r"^timeout must not be below 0: -inf"):
        checks.number("timeout", -math.inf, least=0)


def test_a_tag_that_is_given_twice_counts_once_and_the_order_stays() -> None:
    assert checks.names("tags", (tag for tag in ("b", "a", "b"))) == ["b", "a"]


def test_a_job_may_wait_for_so_many_in_one_call() -> None:
    most = [f"J{number}" for number in range(MOST_PARENTS)]
    assert references.parents("depends", [*most, "J0"]) == most
    with pytest.raises(
        InvalidArgument, match="no more than 1000 jobs in one call, not 1001"
    ) as caught:
        references.parents("depends", TOO_MANY)
    assert (caught.value.argument, caught.value.value) == ("depends", 1001)


def test_a_class_is_known_by_its_module_and_its_place_in_it() -> None:
    assert checks.klass("klass", Mail.Send) == f"{__name__}.Mail.Send"
    assert checks.klass("klass", "Mail::Send") == "Mail::Send"


def test_a_class_that_no_worker_can_find_is_refused() -> None:
    class Local:
        pass

    with pytest.raises(InvalidArgument, match="inside a function"):
        checks.klass("klass", Local)


@pytest.mark.parametrize("value", [5, None, Mail()])
def test_a_klass_is_a_class_or_its_name(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="klass must be text"):
        checks.klass("klass", value)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (86400, 86400.0),
        (date(1970, 1, 2), 86400.0),
        (datetime(1970, 1, 2, tzinfo=UTC), 86400.0),
        (datetime(1970, 1, 2, 1, tzinfo=timezone(timedelta(hours=1))), 86400.0),
    ],
)
def test_a_moment_comes_in_several_forms(value: Any, moment: float) -> None:
    assert checks.moment("day", value) == moment


def test_a_moment_without_a_time_zone_means_nothing() -> None:
    with pytest.raises(InvalidArgument, match="time zone"):
        checks.moment("day", datetime(1970, 1, 2))  # noqa: DTZ001 - that is the point


# -- and the methods use them -----------------------------------------------------------------

Call = Callable[[Client], object]


def mail(client: Client) -> Queue:
    return client.queues["mail"]


#: more than a call may wait for
TOO_MANY = [f"J{number}" for number in range(MOST_PARENTS + 1)]

CALLS: list[tuple[str, Call]] = [
    ("name", lambda client: client.queues[""]),
    ("name", lambda client: client.workers[""]),
    ("names", lambda client: client.workers.deregister()),
    ("klass", lambda client: mail(client).put("")),
    ("jid", lambda client: mail(client).put("k", jid="x-history")),
    ("priority", lambda client: mail(client).put("k", priority=math.nan)),
    ("tags", lambda client: mail(client).put("k", tags="urgent")),
    ("delay", lambda client: mail(client).put("k", delay=-1)),
    ("retries", lambda client: mail(client).put("k", retries=-1)),
    ("depends[0]", lambda client: mail(client).put("k", depends=["a-dependents"])),
    ("depends", lambda client: mail(client).put("k", depends=TOO_MANY)),
    ("data", lambda client: mail(client).put("k", object())),
    ("interval", lambda client: mail(client).recur("k", None, 0)),
    ("offset", lambda client: mail(client).recur("k", None, 1, offset=-1)),
    ("backlog", lambda client: mail(client).recur("k", None, 1, backlog=-1)),
    ("count", lambda client: mail(client).pop(0)),
    ("count", lambda client: mail(client).peek(-1)),
    ("group", lambda client: mail(client).unfail("")),
    ("count", lambda client: mail(client).unfail("g", 0)),
    ("offset", lambda client: mail(client).running(-1)),
    ("count", lambda client: mail(client).scheduled(0, 0)),
    ("day", lambda client: mail(client).stats(math.inf)),
    ("jid", lambda client: client.jobs[""]),
    ("jid", lambda client: client.jobs.get("")),
    ("jids[1]", lambda client: client.jobs.multiget("a", "")),
    ("jids[1]", lambda client: client.jobs.cancel("a", "")),
    ("group", lambda client: client.jobs.failed("")),
    ("tag", lambda client: client.jobs.tagged("")),
    ("count", lambda client: client.jobs.complete(0, 0)),
    ("offset", lambda client: client.tags.top(-1)),
    ("jid", lambda client: client.recurring[""]),
    ("name", lambda client: client.config.set("", 5)),
    ("worker", lambda client: client.events("worker", worker="")),
    ("sources", lambda client: client.events("lgo")),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("argument", "call"), CALLS, ids=range(len(CALLS)))
def test_a_bad_argument_is_named_and_nothing_is_done(
    client: Client, argument: str, call: Call
) -> None:
    with pytest.raises(InvalidArgument) as raised:
        call(client)
    assert raised.value.argument == argument
    assert client.storage.metrics.attempts == 0


JOB_CALLS: list[tuple[str, Callable[[Any], object]]] = [
    ("next_queue", lambda job: job.complete("")),
    ("delay", lambda job: job.complete(delay=5)),
    ("depends", lambda job: job.complete(depends=["a"])),
    ("depends", lambda job: job.complete("q", depends=TOO_MANY)),
    ("depends", lambda job: job.requeue(depends=TOO_MANY)),
    ("group", lambda job: job.fail("", "m")),
    ("message", lambda job: job.fail("g", None)),
    ("message", lambda job: job.retry(group="g")),
    ("group", lambda job: job.retry(message="m")),
    ("delay", lambda job: job.retry(-1)),
    ("queue", lambda job: job.requeue("")),
    ("retries", lambda job: job.requeue(retries=0.5)),
    ("jids", lambda job: job.depend()),
    ("jids", lambda job: job.depend(*TOO_MANY)),
    ("jids", lambda job: job.undepend(*TOO_MANY)),
    ("jids", lambda job: job.undepend()),
    ("jids", lambda job: job.undepend("all")),
    ("jids", lambda job: job.undepend("a", all=True)),
    ("tags", lambda job: job.tag()),
    ("tags[0]", lambda job: job.untag("")),
    ("priority", lambda job: job.set_priority("high")),
    ("message", lambda job: job.log(None)),
    ("what", lambda job: job.log("m", what="else")),
]


@pytest.mark.parametrize(("argument", "call"), JOB_CALLS, ids=range(len(JOB_CALLS)))
def test_a_bad_argument_of_a_job_is_named_and_nothing_is_done(
    client: Client, queue: Queue, argument: str, call: Callable[[Any], object]
) -> None:
    queue.put("k")
    job = queue.pop()
    before, attempts = client.storage.dump(), client.storage.metrics.attempts
    with pytest.raises(InvalidArgument) as raised:
        call(job)
    assert raised.value.argument == argument
    assert client.storage.dump() == before
    assert client.storage.metrics.attempts == attempts
