# SPDX-License-Identifier: MIT
"""From a file into a storage."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias, get_args

from pyqless.errors import DamagedDump, InvalidArgument, StoreNotEmpty
from pyqless.storage.base import Storage
from pyqless.storage.memory import MemoryStorage
from pyqless.storage.parts import Part
from pyqless.storage.transfer.merging import without_known_elements
from pyqless.storage.transfer.records import (
    Header,
    Progress,
    Totals,
    read_header,
    read_parts,
    require_whole,
)

__all__ = ["Existing", "load", "open_memory"]

#: what to do with what the storage holds already
Existing: TypeAlias = Literal["refuse", "replace", "merge"]


def load(
    storage: Storage,
    file: IO[bytes],
    *,
    existing: Existing = "refuse",
    progress: Progress = lambda *_: None,
) -> tuple[Header, Totals]:
    """
    Write what a dump holds into the storage's namespace, which need not be the one that it comes from.

    The dump is looked through from end to end before anything is written. Should the storage fail on the
    way, part of it has been written; ``replace`` begins again.

    Args:
        file: open for reading bytes; what is not seekable is copied into a temporary file first.
        existing: ``refuse`` a storage that holds something, ``replace`` all that it holds, or ``merge``: the
            dump's fields, scores and strings take the place of those that are there, elements that are not
            in a list are put behind it, and nothing else changes. Counts are not added up.
        progress: called after each key with the number of keys so far and that of all.

    Raises:
        InvalidArgument: ``existing`` is none of the three.
        DamagedDump: the file is no dump, or not all of one, or has changed; nothing was written.
        StoreNotEmpty: the storage holds something; nothing was written.
        StoreCorrupted: a key of the storage is of another type than in the dump.
        StorageError: the storage fails.
    """
    if existing not in get_args(Existing):
        raise InvalidArgument(
            f"existing must be one of {', '.join(get_args(Existing))}, not {existing!r}",
            argument="existing",
            value=existing,
        )
    with _seekable(file) as whole:
        header = read_header(whole)
        require_whole(whole)
        totals = _count(storage, whole)
        if existing == "refuse":
            _require_empty(storage)
        elif existing == "replace":
            storage.clear()
        parts = _parts(storage, whole, totals, progress)
        storage.restore(without_known_elements(storage, parts) if existing == "merge" else parts)
    return header, totals


def open_memory(path: str | os.PathLike[str], **options: Any) -> MemoryStorage:
    """
    Open a storage in memory that begins with what a dump holds.

    Args:
        options: of ``MemoryStorage``.

    Raises:
        DamagedDump: the file is no dump, or not all of one, or has changed.
    """
    storage = MemoryStorage(**options)
    with Path(path).open("rb") as file:
        load(storage, file)
    return storage


@contextmanager
def _seekable(file: IO[bytes]) -> Iterator[IO[bytes]]:
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        yield copy


def _require_empty(storage: Storage) -> None:
    with closing(storage.scan()) as parts:
        part = next(parts, None)
    if part is not None:
        raise StoreNotEmpty(
            f"{storage.url} holds {part.key} and perhaps more: replace it, or merge the two",
            argument="existing",
            value="refuse",
        )


def _count(storage: Storage, file: IO[bytes]) -> Totals:
    """Look through all the parts, and make sure that they are as many as their writer has counted."""
    keys, items, last = 0, 0, None
    for record in read_parts(file):
        if isinstance(record, Totals):
            break
        if (storage.keys.prefix + record.key).startswith(storage.keys.own):
            raise DamagedDump(f"the dump holds a key of pyqless's own: {record.key}")
        keys, items, last = keys + (record.key != last), items + len(record.items), record.key
    if record != Totals(keys, items):
        raise DamagedDump(f"the dump says that it holds {record}, and holds {Totals(keys, items)}")
    return record


def _parts(storage: Storage, file: IO[bytes], totals: Totals, progress: Progress) -> Iterator[Part]:
    """The parts with whole keys."""
    done, last = 0, None
    for part in read_parts(file):
        if isinstance(part, Part):
            if part.key != last:
                progress(done, totals.keys)
                done, last = done + 1, part.key
            yield part._replace(key=storage.keys.prefix + part.key)
    progress(done, totals.keys)
