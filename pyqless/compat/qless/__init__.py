# SPDX-License-Identifier: MIT
"""
qless-py's names, arguments and return types, as of its git version, over the rules of pyqless.

``from pyqless.compat import qless`` runs code that was written for qless-py; after ``install()`` plain
``import qless`` does, too. Every call goes through the table of wire commands, as a call of qless-py goes to the
Lua core, so what it gives is what the core replies: ``{}`` for an empty list, ``'1'`` for a job that is tracked now.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import walk_packages

from pyqless.compat.qless.client import Client, Jobs, Queues, Workers
from pyqless.compat.qless.config import Config
from pyqless.compat.qless.exceptions import QlessException
from pyqless.compat.qless.job import Job, RecurringJob
from pyqless.compat.qless.listener import Events
from pyqless.compat.qless.logs import formatter, handler, logger
from pyqless.compat.qless.queue import Queue
from pyqless.compat.qless.retrying import retry

__all__ = [
    "Client",
    "Config",
    "Events",
    "Job",
    "Jobs",
    "QlessException",
    "Queue",
    "Queues",
    "RecurringJob",
    "Workers",
    "formatter",
    "handler",
    "install",
    "logger",
    "retry",
]


def install() -> None:
    """
    Make ``import qless`` mean this package, in this process, and ``import qless.workers`` what belongs to it.

    Raises:
        ImportError: another ``qless`` has been imported already, and parts of the program hold on to that.
    """
    package = sys.modules[__name__]
    other = sys.modules.setdefault("qless", package)
    if other is not package:
        raise ImportError(f"another qless is imported already: {other!r}", name="qless")
    for module in walk_packages(package.__path__, f"{__name__}."):
        alias = module.name.replace(__name__, "qless", 1)
        sys.modules[alias] = import_module(module.name)
