# SPDX-License-Identifier: MIT
"""Jobs that are still to be put."""

from __future__ import annotations

from typing import Any, Unpack

from pyqless.client.options import PutOptions, require_known

__all__ = ["NewJob"]


class NewJob:
    """
    A job to be put together with others, see ``Queue.put_many``.

    Args:
        klass, data, options: as of ``Queue.put``, which says what is wrong with them.

    Raises:
        InvalidArgument: there is no option of that name.
    """

    __slots__ = ("data", "klass", "options")

    def __init__(self, klass: str | type, data: Any = None, **options: Unpack[PutOptions]) -> None:
        require_known(options, PutOptions.__optional_keys__, "put")
        self.klass = klass
        self.data = data
        self.options = options

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.klass!r}>"
