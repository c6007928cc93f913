# SPDX-License-Identifier: MIT
"""The examination of a store, from the first contact to the data in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from pyqless.doctor import server
from pyqless.doctor.commands import commands, learn_faults
from pyqless.doctor.data import data
from pyqless.doctor.files import file
from pyqless.doctor.report import Check, Report, Verdict
from pyqless.doctor.roles import RIGHTS, Role
from pyqless.doctor.scripting import scripting
from pyqless.doctor.session import Session
from pyqless.doctor.settings import settings
from pyqless.doctor.transactions import Laboratory, messages, scores, snapshots, transactions
from pyqless.errors import StorageError
from pyqless.storage import Storage, open_storage
from pyqless.storage.redis import RedisStorage

__all__ = ["probe"]


def probe(
    url: str | None = None,
    *,
    connection: Any = None,
    namespace: str = "ql",
    role: Role = Role.WORKER,
) -> Report:
    """
    Examine whether a store can be used.

    No script is ever sent. A few keys under ``ql:py:doctor:`` and a random name are written, where the role
    writes at all; they are removed again, or expire within a minute.

    Args:
        url: see ``open_storage``.
        connection: instead of a URL, a redis-py client, a pool, or a sentinel's master.
        namespace: what stands before the first colon of every key.
        role: what the store is to be used for.

    Returns:
        Report: what was found; a store that cannot be reached is a finding, too.

    Raises:
        InvalidArgument: the URL means no storage.
    """
    with open_storage(url, connection=connection, namespace=namespace) as storage:
        return Report(storage.url, namespace, role, tuple(_examine(storage, role)))


def _examine(storage: Storage, role: Role) -> Iterator[Check]:
    if isinstance(storage, RedisStorage):
        try:
            yield from _examine_redis(storage, role)
        except StorageError as fault:
            advice = "see whether the server runs, and whether host, port and password are right"
            yield Check("connection", Verdict.FAILURE, str(fault), advice)
            return
    else:
        kind = type(storage).__name__.removesuffix("Storage").lower()
        yield Check("server", Verdict.OK, f"{kind}, in this process")
        if kind == "sqlite":
            yield _tried("file", file, storage)
    yield _tried("data", data, storage)


def _examine_redis(storage: RedisStorage, role: Role) -> Iterator[Check]:
    name = f"{storage.keys.own}doctor:{os.urandom(8).hex()}"
    with Session(storage.pool) as session:
        facts = server.learn_facts(session)
        yield server.identity(facts)
        judged = commands(role, learn_faults(storage.pool, storage.keys, name))
        yield judged
        if judged.verdict is Verdict.OK:
            yield from _experiment(storage, role, name)
        if not facts.in_process:
            yield scripting(session)
            yield from settings(facts)
            yield server.replication(facts, role)
            yield server.cluster(facts, storage.keys.namespace)
            yield server.clock(session, storage.clock)


def _experiment(storage: RedisStorage, role: Role, name: str) -> Iterator[Check]:
    """Try out what the role is going to rely on."""
    rights = RIGHTS[role]
    with Session(storage.pool) as one, Session(storage.pool) as other:
        if not rights.write:
            yield snapshots(one, name)
            return
        laboratory = Laboratory(storage, name, one, other)
        try:
            yield _tried("transactions", transactions, laboratory)
            yield _tried("scores", scores, laboratory)
            if "SUBSCRIBE" in rights.commands:
                yield _tried("messages", messages, laboratory)
        finally:
            laboratory.clean_up()


def _tried(name: str, examine: Callable[[Any], Check], subject: Any) -> Check:
    try:
        return examine(subject)
    except StorageError as fault:
        return Check(name, Verdict.FAILURE, str(fault), "put right what the store complains of")
