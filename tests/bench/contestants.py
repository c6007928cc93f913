# SPDX-License-Identifier: MIT
"""
Who runs the rules: pyqless's own clients, and a Lua core on the same server, called in several ways.

All have the same methods; of those for asyncio each gives something to be awaited.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import uuid4

from pyqless import AsyncClient, Client
from pyqless.core.commands import call
from tests.bench.ground import ROOT

__all__ = ["RELEASE", "AsyncLua", "Contestant", "Lua", "Pyqless", "Reqless", "worker"]

#: what ``make servers`` has unpacked: a client with a Lua core that runs on Redis 7
RELEASE: Final = ROOT / ".servers" / "reqless"


class Pyqless:
    """Through a client of pyqless."""

    def __init__(self, client: Client | AsyncClient) -> None:
        self.client: Any = client

    def put(self, queue: str, data: Any, **options: Any) -> Any:
        """Put a job; gives its jid."""
        return self.client.queues[queue].put("Klass", data, **options)

    def pop(self, queue: str) -> Any:
        """Take a job in hand, if there is one."""
        return self.client.queues[queue].pop()

    def heartbeat(self, job: Any) -> Any:
        """Renew a lock."""
        return job.heartbeat()

    def complete(self, job: Any) -> Any:
        """Complete a job in hand."""
        return job.complete()

    def jid(self, job: Any) -> str:
        """Tell which job this is."""
        return str(job.jid)

    def send(self, *words: str) -> Any:
        """Send any command as it goes over the wire, with a moment of one's own."""
        wanted = call(words)
        return self.client.storage.run(wanted.transition, wanted.now)

    def close(self) -> Any:
        """Leave."""
        return self.client.close()


class Lua:
    """
    Through nothing but a way to call the script; data and jobs are written and read as JSON.

    Args:
        evaluate: calls the script with arguments.
        close: closes the connection.
    """

    def __init__(self, evaluate: Callable[..., Any], close: Callable[[], Any]) -> None:
        self.send = evaluate
        self.close = close
        self._worker = worker()

    def put(
        self,
        queue: str,
        data: Any,
        *,
        jid: str | None = None,
        tags: Sequence[str] = (),
        depends: Sequence[str] = (),
        priority: int = 0,
    ) -> Any:
        """As of ``Pyqless``; so are the others."""
        words = [self._worker, queue, jid or uuid4().hex, "Klass", json.dumps(data), "0"]
        if priority:
            words += ["priority", str(priority)]
        if tags:
            words += ["tags", json.dumps(tags)]
        if depends:
            words += ["depends", json.dumps(depends)]
        return self.send("put", _now(), *words)

    def pop(self, queue: str) -> Any:
        return _first(self.send("pop", _now(), queue, self._worker, "1"))

    def heartbeat(self, job: Any) -> Any:
        return self.send("heartbeat", _now(), job["jid"], self._worker)

    def complete(self, job: Any) -> Any:
        return self.send("complete", _now(), job["jid"], self._worker, job["queue"], job["data"])

    def cancel(self, jid: Any) -> Any:
        """Delete a job."""
        return self.send("cancel", _now(), jid)

    def jid(self, job: Any) -> str:
        return str(job["jid"])


class AsyncLua(Lua):
    """The same where calls are awaited."""

    async def pop(self, queue: str) -> Any:
        return _first(await self.send("pop", _now(), queue, self._worker, "1"))


class Reqless:
    """Through the client that comes with the Lua core."""

    def __init__(self, url: str) -> None:
        if str(RELEASE) not in sys.path:
            sys.path.append(str(RELEASE))
        self._client = importlib.import_module("reqless").Client(url, hostname=worker())

    def put(self, queue: str, data: Any, **options: Any) -> Any:
        return self._client.queues[queue].put("Klass", json.dumps(data), **options)

    def pop(self, queue: str) -> Any:
        return self._client.queues[queue].pop()

    def heartbeat(self, job: Any) -> Any:
        return job.heartbeat()

    def complete(self, job: Any) -> Any:
        return job.complete()

    def jid(self, job: Any) -> str:
        return str(job.jid)

    def send(self, *words: str) -> Any:
        return self._client._lua(keys=[], args=words)

    def close(self) -> Any:
        return self._client.redis.close()


Contestant = Pyqless | Lua | Reqless


def worker() -> str:
    """A name of this process's own."""
    return f"worker-{os.getpid()}"


def _now() -> str:
    return repr(time.time())


def _first(reply: str | bytes) -> Any:
    jobs = json.loads(reply)
    return jobs[0] if jobs else None
