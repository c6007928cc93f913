# SPDX-License-Identifier: MIT
"""
SQLite, by way of APSW, which carries a current SQLite library.

``schema.sql``   the tables; ``statements``, what is asked of them
``packing``      small values, in one row each
``rows``         large ones, element by element: ``members``, ``elements``
``vacancies``    rows with nothing in them
``keyspace``     keys and values as the rules know them
``connection``   how a file is opened; ``migrations``, how an old one becomes a new one
``faults``       SQLite's errors; ``causes``, what the system refuses and why
``lane``         a connection and what belongs to it; ``whereabouts``, whether the file is still there
``file``         transactions for looking and for writing; ``turns``, one writer at a time
``log``          when a commit is safe from a power cut
``attempt``      one attempt at a transition; ``driver``, the attempts until one is committed
``listeners``    messages between processes; ``bells`` wake, ``subscription`` listens
``storage``      the storage for threads; ``aio``, that for asyncio
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyqless.errors import StoreUnsupported

if TYPE_CHECKING:
    from pyqless.storage.sqlite.aio import AsyncSqliteStorage
    from pyqless.storage.sqlite.storage import SqliteStorage

__all__ = ["open_async_sqlite", "open_sqlite"]


def open_sqlite(url: str, **options: Any) -> SqliteStorage:
    """
    Open a file.

    Args:
        options: of ``SqliteStorage``.

    Raises:
        StoreUnsupported: APSW is not installed.
    """
    _require_apsw()
    from pyqless.storage.sqlite.storage import SqliteStorage

    return SqliteStorage(url, **options)


def open_async_sqlite(url: str, **options: Any) -> AsyncSqliteStorage:
    """As ``open_sqlite``, for asyncio."""
    _require_apsw()
    from pyqless.storage.sqlite.aio import AsyncSqliteStorage

    return AsyncSqliteStorage(url, **options)


def _require_apsw() -> None:
    try:
        import apsw  # noqa: F401 - imported to see whether it can be
    except ImportError as error:
        raise StoreUnsupported("sqlite:// needs APSW: pip install 'pyqless[sqlite]'") from error
