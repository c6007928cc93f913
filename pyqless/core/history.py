# SPDX-License-Identifier: MIT
"""
A job's history: a list of JSON entries ``[when, what, {data}]`` (history in job.lua).

Hashes written long ago keep it in a field ``history`` of the job instead; whatever touches the history moves it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from pyqless.core import lua
from pyqless.core.transaction import Transaction
from pyqless.errors import CorruptedJob

__all__ = ["append", "entry", "entry_of", "entry_with", "is_plain", "migrate"]


def append(
    tx: Transaction,
    jid: str,
    entries: Sequence[str],
    limit: int,
    entry: str,
) -> None:
    """
    Append an entry, dropping old ones but never the first.

    Args:
        entries: the job's history as a live image, its key guarded.
        limit: how many entries there may be; 0 and below: any number, and the core takes 2 likewise.
        entry: see ``entry`` and ``entry_with``.
    """
    key = tx.keys.history(jid)
    if _is_too_long(len(entries), limit):
        first = entries[0]
        tx.lpop(key)
        tx.ltrim(key, 2 - limit, -1)
        tx.lpush(key, first)
    tx.rpush(key, entry)


def _is_too_long(length: int, limit: int) -> bool:
    """Whether the core's ``LTRIM 2-limit -1`` on all but the first entry would drop any."""
    if limit <= 0 or limit == 2:
        return False
    return length > max(limit - 1, 1)


def entry(moment: float, what: str, **names: str) -> str:
    """
    An entry such as many jobs have.

    Args:
        moment: Unix time, seconds.
        names: what is kept beside the moment and ``what``, such as the name of a queue.
    """
    # to a cache -0.0 would be the same as 0.0
    return _entry(moment, what, **names) if moment else _made(moment, what, **names)


def _made(moment: float, what: str, **names: str) -> str:
    return entry_with(moment, what, lua.encode(names) if names else None)


#: many jobs have the same at one moment
_entry = lru_cache(maxsize=256)(_made)


def entry_with(moment: float, what: str, data: str | None) -> str:
    """As ``entry``, with JSON text of what is kept beside, or None for nothing."""
    head = f"[{lua.concat(lua.floor(moment))},{lua.quote(what)}"
    return f"{head}]" if data is None else f"{head},{data}]"


def migrate(tx: Transaction, jid: str, fields: Mapping[str, str]) -> None:
    """
    Move an old-style history field into the list.

    Raises:
        CorruptedJob: the field is no list of the old form.
    """
    text = fields.get("history")
    if text is None:
        return
    try:
        entries = [entry for visit in lua.decode(text) for entry in _old_entries(visit)]
    except (lua.JSONError, AttributeError, TypeError, KeyError) as error:
        message = f"job {jid}: the old-style history is malformed: {text!r}"
        raise CorruptedJob(message, argument=tx.keys.job(jid), value=text) from error
    for entry in entries:
        tx.rpush(tx.keys.history(jid), entry)
    tx.hdel(tx.keys.job(jid), "history")


def _old_entries(visit: dict[str, Any]) -> Iterator[str]:
    yield entry_with(_moment(visit["put"]), "put", _picked(visit, "q"))
    if visit.get("popped", False) is not False:
        yield entry_with(_moment(visit["popped"]), "popped", _picked(visit, "worker"))
    for what in ("failed", "done"):
        if visit.get(what, False) is not False:
            yield entry_with(_moment(visit[what]), what, None)


def _picked(visit: dict[str, Any], field: str) -> str:
    return lua.encode({field: visit[field]} if field in visit else {})


def _moment(value: Any) -> float:
    moment = lua.to_number(value) if isinstance(value, str | float) else None
    if moment is None:
        raise TypeError(value)
    return moment


_FIELD: Final = r'"[a-z]+":"[^"\\\x00-\x1f]*"'

#: an entry that can be shown without doubt, as all can that the core and we have written
is_plain: Final = re.compile(
    rf'\[[0-9]{{1,15}},"[a-z-]+"(?:,\{{(?:{_FIELD}(?:,{_FIELD})*)?\}})?\]'
).fullmatch


def entry_of(text: str) -> dict[str, Any]:
    """
    An entry as an object: its data, with ``when`` and ``what``.

    Data that is no object is left out; the core fails on it.

    Raises:
        lua.JSONError: the text is no entry.
    """
    entry = lua.decode_writable(text)
    if not isinstance(entry, list) or len(entry) < 2:
        raise lua.JSONError(f"no history entry: {text!r}")
    data = entry[2] if len(entry) > 2 else {}
    if isinstance(data, list):
        data = {str(position): item for position, item in enumerate(data, 1)}
    shown = data if isinstance(data, dict) else {}
    return {**shown, "when": entry[0], "what": entry[1]}
