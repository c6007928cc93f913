# SPDX-License-Identifier: MIT
"""The versions of the file's schema, and how a file comes from one to the next."""

from __future__ import annotations

from importlib import resources
from typing import Final

import apsw

from pyqless.errors import StoreUnsupported
from pyqless.storage.sqlite.statements import BEGIN_WRITING, COMMIT, ROLLBACK, TABLES

__all__ = ["APPLICATION", "NEWEST", "is_new", "migrate", "require_ours"]

#: what makes version 1 of nothing, version 2 of version 1, and so on
SCRIPTS: Final = ("schema.sql",)

#: the version that this release reads and writes
NEWEST: Final = len(SCRIPTS)

#: marks a file as ours, for ``file`` and for us: "qles"
APPLICATION: Final = 0x716C6573


def is_new(connection: apsw.Connection) -> bool:
    """Whether nothing has been stored in the file yet, by us or by anybody."""
    return not (_version(connection) or connection.execute(TABLES).get)


def require_ours(connection: apsw.Connection, path: str) -> None:
    """
    Make sure that we can work with what is in a file that is not new.

    Raises:
        StoreUnsupported: it is another program's, or of a later release than this one.
    """
    if connection.pragma("application_id") != APPLICATION:
        raise StoreUnsupported(
            f"{path}: it is another program's database", argument="path", value=path
        )
    if (version := _version(connection)) > NEWEST:
        raise StoreUnsupported(
            f"{path}: it was written by a later release of pyqless:"
            f" its schema has version {version}, this release knows {NEWEST}",
            argument="path",
            value=path,
        )


def migrate(connection: apsw.Connection) -> None:
    """Bring a file to the newest version, in one transaction."""
    if _version(connection) == NEWEST:
        return
    connection.execute(BEGIN_WRITING)
    try:
        # Looked at again under the lock: another process may just have done it.
        for script in SCRIPTS[_version(connection) :]:
            connection.execute(_text_of(script))
        connection.pragma("application_id", APPLICATION)
        connection.pragma("user_version", NEWEST)
        connection.execute(COMMIT)
    except BaseException:
        connection.execute(ROLLBACK)
        raise


def _text_of(script: str) -> str:
    return resources.files(__package__).joinpath(script).read_text("utf-8")


def _version(connection: apsw.Connection) -> int:
    version: int = connection.pragma("user_version")
    return version
