# SPDX-License-Identifier: MIT
"""Commands on workers."""

from __future__ import annotations

from typing import Final

from pyqless.core import replies, workers
from pyqless.core.arguments import Arguments
from pyqless.core.commands.shared import Parsed, Parser, of_names

__all__ = ["COMMANDS"]


def _workers(arguments: Arguments) -> Parsed:
    name = arguments.at(0)
    if name is None:
        return workers.counts, replies.worker_counts
    return lambda tx: workers.jobs(tx, name), replies.worker_jobs


COMMANDS: Final[dict[str, Parser]] = {
    "worker.deregister": of_names(workers.deregister, "worker"),
    "workers": _workers,
}
