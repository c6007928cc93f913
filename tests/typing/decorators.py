# SPDX-License-Identifier: MIT
"""Decorators leave what they decorate as it is, for type checkers too: this file is checked, as ``api`` is, and never run."""

from __future__ import annotations

from typing import assert_type

import pyqless
from pyqless.worker import BlockingJob, Finder, uses
from pyqless.worker.middleware import constant, retry_on, time_limit

finder = Finder()


@pyqless.job(queue="mail")
@uses(retry_on(ConnectionError, backoff=constant(5)))
def send(to: str, *, copies: int = 1) -> bool:
    return bool(to) and copies > 0


@uses(time_limit(5))
@pyqless.job(queue="mail")
async def post(to: str) -> int:
    return len(to)


@finder.register("greet")
@uses(time_limit(5), retry_on(ConnectionError))
def greet(job: BlockingJob) -> str:
    return job.jid


@finder.register()
@uses(time_limit(5))
class Greet:
    @staticmethod
    def process(job: BlockingJob) -> str:
        return job.jid


async def decorated(job: BlockingJob) -> None:
    assert_type(send("ann", copies=2), bool)
    assert_type(send.put("ann", copies=2), str)
    assert_type(finder.register("send")(send).put("ann"), str)
    assert_type(await post("ann"), int)
    assert_type(post.put("ann"), str)
    assert_type(greet(job), str)
    assert_type(Greet.process(job), str)


def refused(job: BlockingJob) -> None:
    send.put(5, nosuch=True)  # type: ignore[call-arg, arg-type]  # pyright: ignore[reportCallIssue]
    post.put(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    greet(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    uses(retry_on)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    uses(constant(5))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    uses(time_limit(5))(5)  # type: ignore[type-var]  # pyright: ignore[reportArgumentType]
    retry_on(KeyboardInterrupt)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    finder.register(greet)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
