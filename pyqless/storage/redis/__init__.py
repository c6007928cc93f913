# SPDX-License-Identifier: MIT
"""
Redis and its kin, without scripting.

``protocol``   commands as bytes, replies in the core's forms
``replies``    the reader of replies
``steps``      what a driver asks of whoever does its I/O
``outcomes``   what can become of an EXEC
``lane``       one connection and its fence; the one place that sends EXEC
``driver``     transitions by WATCH, MULTI and EXEC
``wire``       the I/O, on connections borrowed from redis-py
``storage``    the storage for threads; ``aio``, that for asyncio
"""

from __future__ import annotations

from pyqless.storage.redis.aio import AsyncRedisStorage
from pyqless.storage.redis.policy import Policy, Replication
from pyqless.storage.redis.storage import RedisStorage

__all__ = ["AsyncRedisStorage", "Policy", "RedisStorage", "Replication"]
