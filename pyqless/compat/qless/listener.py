# SPDX-License-Identifier: MIT
"""Messages of some channels, and callbacks for what happens to tracked jobs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Self

from pyqless.client.events import TRACKED
from pyqless.compat.qless.exceptions import translated
from pyqless.compat.qless.logs import logger
from pyqless.storage import Message, Storage, Subscription
from pyqless.storage.channels import literal
from pyqless.storage.redis.pubsub import RedisSubscription

__all__ = ["Events", "Listener"]

#: seconds after which a listener looks whether it is to end
TICK: Final = 0.1


class Listener:
    """
    Listens to some channels.

    Args:
        redis: a client of redis-py, or a storage of pyqless.
        channels: their names.
    """

    def __init__(self, redis: Any, channels: Iterable[str]) -> None:
        self._source = redis
        self._channels = tuple(map(literal, channels))
        self._messages: Subscription | None = None
        self._ends = threading.Event()

    def subscribe(self) -> Subscription:
        """Hear what is said from now on, though nobody may listen yet; not in qless-py, where that is lost."""
        if self._messages is None:
            self._ends.clear()
            with translated():
                self._messages = (
                    self._source.subscribe(*self._channels)
                    if isinstance(self._source, Storage)
                    else RedisSubscription(self._source, self._channels)
                )
        return self._messages

    def listen(self) -> Any:
        """Give the messages as they come, as redis-py shows them, until ``unlisten``."""
        return map(_shown, self._heard())

    def _heard(self) -> Generator[Message, None, None]:
        messages = self.subscribe()
        try:
            with translated():
                while not self._ends.is_set():
                    if message := messages.get(TICK):
                        yield message
                # what was said before the end is heard, and what was said after it is not
                yield from messages.drain()
        finally:
            self.close()

    def unlisten(self) -> None:
        """End ``listen``, from any thread."""
        self._ends.set()

    def close(self) -> None:
        """Hear nothing any more; not in qless-py."""
        messages, self._messages = self._messages, None
        if messages is not None:
            messages.close()

    @contextmanager
    def thread(self, target: Callable[[], object] | None = None) -> Iterator[Self]:
        """Listen in a thread, or have a function do so there; when this ends, all is heard that was said within."""
        self.subscribe()
        thread = threading.Thread(target=target or self._exhaust, name="qless-listener")
        thread.start()
        try:
            yield self
        finally:
            self.unlisten()
            thread.join()
            self.close()

    def _exhaust(self) -> None:
        for _ in self.listen() or ():
            pass


def _shown(message: Message) -> dict[str, str | None]:
    channel, data = message
    return {"type": "message", "pattern": None, "channel": channel, "data": data}


class Events(Listener):
    """What happens to tracked jobs: ``on`` an event a function is called with the jid, while ``listen`` runs."""

    namespace: ClassVar[str] = "ql:"
    events: ClassVar[tuple[str, ...]] = TRACKED

    def __init__(self, redis: Any) -> None:
        super().__init__(redis, [self.namespace + event for event in self.events])
        self._callbacks: dict[str, Callable[[str], object] | None] = dict.fromkeys(self.events)

    def listen(self) -> None:
        """Call back for what happens, until ``unlisten``."""
        for channel, data in self._heard():
            logger.debug("Message on %s: %s", channel, data)
            if callback := self._callbacks.get(channel.removeprefix(self.namespace)):
                callback(data)

    def on(self, evt: str, func: Callable[[str], object]) -> None:
        """
        Have a function called.

        Raises:
            NotImplementedError: there is no such event.
        """
        if evt not in self._callbacks:
            raise NotImplementedError(f'callback "{evt}"')
        self._callbacks[evt] = func

    def off(self, evt: str) -> Any:
        """Call nothing any more on an event, and give what was called."""
        callback = self._callbacks.get(evt)
        if callback is not None:
            self._callbacks[evt] = None
        return callback
