# SPDX-License-Identifier: MIT
"""Texts in order and each once, however many there are."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby
from typing import IO, Any, Final

import msgpack

from pyqless.storage.parts import batched, in_bytes

__all__ = ["in_order"]

#: how many texts are sorted in memory; more go to temporary files
RUN: Final = 200_000


def in_order(texts: Iterable[str]) -> Generator[str, None, None]:
    """Sort texts by their bytes and leave out repetitions, in little memory."""
    with ExitStack() as stack:
        runs: list[Iterable[bytes]] = []
        for group in batched(texts, RUN):
            run = sorted(map(in_bytes, group))
            if len(group) < RUN:
                runs.append(run)
            else:
                file = stack.enter_context(tempfile.TemporaryFile())
                runs.append(_laid_aside(run, file))
        for text, _ in groupby(heapq.merge(*runs)):
            yield text.decode("utf-8", "surrogateescape")


def _laid_aside(run: list[bytes], file: IO[bytes]) -> Iterator[bytes]:
    """Write a run to a file, from which it is read again as needed."""
    packer: Any = msgpack.Packer()
    for text in run:
        file.write(packer.pack(text))
    file.seek(0)
    return iter(msgpack.Unpacker(file, read_size=1 << 16))
