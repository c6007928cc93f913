# SPDX-License-Identifier: MIT
"""
The conformance suite of storages: what every storage promises, blocking and for asyncio.

``bench``         what a check works on; ``awaited``, the way it reaches blocking storages
``requirements``  ways to say what must hold
``transitions``   the plainest transitions
``values``        values that a careless storage would bend
``reading`` …     the checks, by area
"""

from __future__ import annotations

from typing import Final

from pyqless.testing.storages import (
    attempts,
    chains,
    committing,
    conflicts,
    keeping,
    messages,
    moving,
    reading,
    writing,
)
from pyqless.testing.storages.bench import Check, Store
from pyqless.testing.storages.requirements import NotConformant

__all__ = ["CHECKS", "Check", "NotConformant", "Store", "check_storage"]

#: every check there is; each stands by itself
CHECKS: Final = (
    *reading.CHECKS,
    *writing.CHECKS,
    *committing.CHECKS,
    *attempts.CHECKS,
    *conflicts.CHECKS,
    *chains.CHECKS,
    *messages.CHECKS,
    *keeping.CHECKS,
    *moving.CHECKS,
)


def check_storage(store: Store) -> None:
    """
    Carry out every check on a store, on its blocking storage and on the one for asyncio.

    The store is emptied.

    Raises:
        ExceptionGroup: of what the checks found, if they found anything; a note names the check.
    """
    found: list[Exception] = []
    for check in CHECKS:
        for blocking in (True, False):
            try:
                check.run(store, blocking=blocking)
            except Exception as error:  # noqa: BLE001 - a storage may fail in any way
                error.add_note(f"{check.name}, {'blocking' if blocking else 'asyncio'}")
                found.append(error)
    if found:
        raise ExceptionGroup("the storage does not keep what the seam promises", found)
