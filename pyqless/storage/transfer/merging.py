# SPDX-License-Identifier: MIT
"""What a storage that holds something already is not given twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyqless.core.effects import Factory, Replies, Transition
from pyqless.core.transaction import Transaction
from pyqless.storage.base import Storage
from pyqless.storage.parts import Part, batched

__all__ = ["without_known_elements"]

#: parts for which the storage is asked at once
_GROUP = 100


def without_known_elements(storage: Storage, parts: Iterable[Part]) -> Iterator[Part]:
    """
    Leave out of lists what the storage has in them; a list that both have is held whole meanwhile.

    Raises:
        StoreCorrupted: what is a list in the parts is of another type in the storage.
    """
    known: dict[str, set[str]] = {}
    for group in batched(parts, _GROUP):
        keys = dict.fromkeys(part.key for part in group if part.kind == "list")
        # a list of many parts goes on from one group to the next
        known = {key: known[key] for key in keys if key in known}
        missing = [key for key in keys if key not in known]
        replies = storage.run(_reading(missing)) if missing else []
        known |= zip(missing, map(set, replies), strict=True)
        for part in group:
            items = tuple(item for item in part.items if item not in known.get(part.key, ()))
            if items:
                yield part._replace(items=items)


def _reading(keys: list[str]) -> Factory[Replies]:
    def transition(tx: Transaction) -> Transition[Replies]:
        return (yield from tx.snapshot(*(("LRANGE", key, 0, -1) for key in keys)))

    return transition
