# SPDX-License-Identifier: MIT
"""From a storage into a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import IO

from pyqless.core.statistics import fold
from pyqless.errors import InvalidArgument
from pyqless.storage.base import Storage
from pyqless.storage.parts import Part, in_bytes
from pyqless.storage.transfer.records import Header, Progress, Totals, write

__all__ = ["dump", "save", "without_namespace"]


def dump(
    storage: Storage, file: IO[bytes], *, progress: Progress = lambda *_: None
) -> tuple[Header, Totals]:
    """
    Write all that the storage's namespace holds into a file; pyqless's own keys stay behind.

    Only a storage whose ``scans_one_instant`` is true gives what was there at one moment. From others,
    a dump is consistent if nobody works on them meanwhile.

    Args:
        file: open for writing bytes; it need not be seekable.
        progress: called after each key with the number of keys so far and None.

    Returns:
        what stands at the beginning of the dump, and at its end.

    Raises:
        InvalidArgument: the namespace holds half of a surrogate pair, which no file can express; nothing is written.
        ReadOnlyClient: samples of times wait to be entered, and the storage is that of a client that only looks.
        StorageError: the storage cannot be read; where not even a first key can be, nothing is written.
    """
    _require_text(storage.keys.namespace)
    storage.run(fold)  # what is put aside to be entered later stands under keys that do not travel
    header = Header(storage.keys.namespace, storage.clock(), storage.scans_one_instant)
    with closing(storage.scan()) as parts:
        # a storage that cannot be read is found out before anything is written
        first = list(islice(parts, 1))
        there = without_namespace(storage, chain(first, parts))
        return header, write(file, header, there, progress)


def _require_text(namespace: str) -> None:
    try:
        in_bytes(namespace)
    except UnicodeEncodeError as error:
        text = f"namespace holds half of a surrogate pair, which is no character: {namespace!r}"
        raise InvalidArgument(text, argument="namespace", value=namespace) from error


def save(
    storage: Storage, path: str | os.PathLike[str], *, progress: Progress = lambda *_: None
) -> tuple[Header, Totals]:
    """As ``dump``, into a file that is there whole or not at all; one of that name is replaced."""
    target = Path(path)
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as file:
        try:
            done = dump(storage, file, progress=progress)
            os.fsync(file.fileno())
            Path(file.name).replace(target)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return done


def without_namespace(storage: Storage, parts: Iterator[Part]) -> Iterator[Part]:
    """Parts whose keys lack the namespace, so that they fit into any."""
    prefix = len(storage.keys.prefix)
    return (part._replace(key=part.key[prefix:]) for part in parts)
