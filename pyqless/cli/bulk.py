# SPDX-License-Identifier: MIT
"""Many jobs from a file, a line each: all are checked before the first is put, and a hundred go into a transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pyqless.cli.parsing import excerpt, json_in
from pyqless.cli.printing import note, say, say_line, stepwise
from pyqless.cli.status import Status
from pyqless.client import NewJob, Queue
from pyqless.client.options import PutOptions
from pyqless.client.requests import batches
from pyqless.core.effects import Factory
from pyqless.errors import InvalidArgument, QlessError
from pyqless.storage.parts import batched

__all__ = ["Line", "jobs_in", "put_all", "tell"]

#: jobs of one transaction
_MANY: Final = 100

#: what an object may say of a job
_FIELDS: Final = ("klass", "data", *sorted(PutOptions.__optional_keys__))


class Line(NamedTuple):
    """A line, counted from 1, and its job."""

    number: int
    job: NewJob


def jobs_in(
    lines: Iterable[bytes], klass: str | None, options: Mapping[str, Any], *, only_data: bool
) -> Iterator[Line]:
    """
    Read jobs, each an object that may have all that a job is put with.

    Args:
        klass, options: what counts where an object says nothing.
        only_data: each line is a job's data and nothing else.

    Raises:
        InvalidArgument: a line makes no sense.
    """
    for number, value in _values(lines):
        said = {"data": value} if only_data else _fields(number, value)
        data = said.pop("data", {})
        chosen = {"klass": klass, **options, **_given(said)}
        if (named := chosen.pop("klass")) is None:
            fault = f"must name a klass, as the command does not: {_shown(value)}"
            raise _fault(number, fault, value)
        yield Line(number, NewJob(named, data, **chosen))


def _values(lines: Iterable[bytes]) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value = json_in(line)
        except ValueError as error:
            raise _fault(number, str(error), line) from error
        yield number, value


def _fields(number: int, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fault(number, f"must be an object: {_shown(value)}", value)
    for name in value:
        if name not in _FIELDS:
            fault = f"must say no more than {', '.join(_FIELDS)}: {_shown(name)}"
            raise _fault(number, fault, name)
    return value


def _given(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value is not None}


def _shown(value: Any) -> str:
    return excerpt(json.dumps(value, ensure_ascii=False))


def _fault(number: int, fault: str, value: object) -> InvalidArgument:
    name = f"line {number}"
    return InvalidArgument(f"{name} {fault}", argument=name, value=value)


def put_all(queue: Queue, lines: Iterable[Line], *, as_json: bool) -> Status:
    """
    Put jobs, print their jids, and tell which were not put and why.

    Raises:
        InvalidArgument: a job is no good; then none is put.
    """
    checked = [(part, _checked(queue, part)) for part in batched(lines, _MANY)]
    status, done = Status.DONE, 0
    try:
        for part, request in stepwise(checked, "putting"):
            outcomes = queue.client.storage.run(request)
            done = part[-1].number
            if not _all_told(queue, part, outcomes, as_json=as_json):
                status = Status.NOT_DONE
    except BaseException:  # whatever it is: nobody reads on, the store is away, Ctrl-C
        if done:
            last = checked[-1][0][-1].number
            # more may have been, where it is the answer that did not come
            note(f"stopped; dealt with at least up to line {done:,} of {last:,}")
        raise
    return status


def _all_told(
    queue: Queue, part: Sequence[Line], outcomes: Sequence[Any], *, as_json: bool
) -> bool:
    """Print what has become of some jobs; whether all were put."""
    for line, outcome in zip(part, outcomes, strict=True):
        if isinstance(outcome, QlessError):
            _tell_fault(line.number, outcome, as_json=as_json)
        else:
            tell(queue, outcome, as_json=as_json)
    return not any(isinstance(outcome, QlessError) for outcome in outcomes)


def _checked(queue: Queue, part: Sequence[Line]) -> Factory[list[Any]]:
    """What puts some jobs; of a fault, the line is told instead of its place among them."""
    try:
        return batches.put(queue, [line.job for line in part], all_or_nothing=False)
    except InvalidArgument as fault:
        item, _, argument = str(fault.argument).partition(".")
        name = f"line {part[int(item.strip('items[]'))].number}"
        fault.args = (str(fault).replace(item, name, 1),)
        fault.argument = f"{name}.{argument}"
        raise


def tell(queue: Queue, jid: str, *, as_json: bool) -> None:
    """Print the jid of a job that was put."""
    if as_json:
        say_line({"jid": jid, "queue": queue.name})
    else:
        say(jid)


def _tell_fault(number: int, fault: QlessError, *, as_json: bool) -> None:
    note(f"line {number}: {fault}")
    if as_json:
        say_line({"line": number, "code": fault.code, "error": str(fault)})
