# SPDX-License-Identifier: MIT
"""
Redis and its kin, without scripting.

``protocol``    commands as bytes, replies in the core's forms
``replies``     the reader of replies
``steps``       what a driver asks of whoever does its I/O
``lane``        one connection, and what state the server has it in
``fence``       what tells which of its transactions was the last
``executing``   the one place that sends EXEC; ``outcomes``, what can become of it
``reading``     reads under guards; ``snapshots``, without; ``foresight``, ahead of time
``committing``  writes; ``recovery``, where a commit was not answered
``attempt``     one attempt at a transition
``driver``      attempts until one is committed
``wire``        the I/O, on connections borrowed from redis-py
``storage``     the storage for threads; ``aio``, that for asyncio
"""

from __future__ import annotations

from pyqless.storage.redis.aio import AsyncRedisStorage
from pyqless.storage.redis.policy import Policy, Replication
from pyqless.storage.redis.storage import RedisStorage

__all__ = ["AsyncRedisStorage", "Policy", "RedisStorage", "Replication"]
