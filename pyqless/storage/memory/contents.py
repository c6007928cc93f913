# SPDX-License-Identifier: MIT
"""All that lies in a database, or is to lie there no more."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from pyqless.core.keys import Keys
from pyqless.storage.memory.database import Database
from pyqless.storage.parts import Part, in_bytes, parts_of

__all__ = ["clear", "dump", "flush", "scan"]


def dump(database: Database, keys: Keys) -> dict[str, dict[str, Any]]:
    """See ``Storage.dump``."""
    with database.lock:
        found = database.keyspace.dump().items()
        return {key: value for key, value in found if not key.startswith(keys.own)}


def scan(database: Database, keys: Keys) -> Generator[Part, None, None]:
    """See ``Storage.scan``."""
    with database.lock:
        keyspace = database.keyspace
        for key in sorted(_names(database, keys), key=in_bytes):
            if not key.startswith(keys.own):
                yield from parts_of(key, str(keyspace.type_of(key)), keyspace.data[key])


def clear(database: Database, keys: Keys) -> None:
    """See ``Storage.clear``."""
    with database.lock:
        for key in _names(database, keys):
            database.keyspace.write(("DEL", key))


def flush(database: Database) -> None:
    """See ``Storage.flush``."""
    with database.lock:
        database.keyspace.flush()


def _names(database: Database, keys: Keys) -> list[str]:
    names = database.keyspace.keys()
    return [name for name in names if name.startswith(keys.prefix)]
