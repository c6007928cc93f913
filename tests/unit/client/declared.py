# SPDX-License-Identifier: MIT
"""Helpers for tests of functions that are jobs."""

from __future__ import annotations

import inspect
from typing import Any

import pyqless
from pyqless import Client, Job

__all__ = ["made", "popped", "taking"]


def popped(client: Client) -> Job:
    """The next job of those that are put here."""
    job = client.queues["images"].pop()
    assert job is not None
    return job


async def made(call: Any, order: Any) -> Any:
    """What a call of an order gives, of one that blocks or one for asyncio."""
    value = call(order)
    return await value if inspect.isawaitable(value) else value


def taking(kind: Any) -> Any:
    """A declared function that takes a value of a kind."""

    def take(value: Any) -> Any:
        return value

    take.__annotations__ = {"value": kind}
    return pyqless.job(queue="images", name="take")(take)
