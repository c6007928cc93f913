# SPDX-License-Identifier: MIT
"""Messages: after the commit, in order, to those who listen."""

from __future__ import annotations

import time
from typing import Final

from pyqless.core.effects import Transition
from pyqless.core.transaction import Transaction
from pyqless.storage import Message
from pyqless.storage.channels import literal
from pyqless.testing.storages.bench import PATIENCE, Bench, Check
from pyqless.testing.storages.requirements import require
from pyqless.testing.storages.values import TEXTS

__all__ = ["CHECKS"]


async def order(bench: Bench) -> None:
    """Messages arrive in the order in which they were published, one by one and many at once."""
    channels = [bench.key("one"), bench.key("two")]
    ear = await bench.subscribe(*channels)
    expected = [Message(channels[number % 2], str(number)) for number in range(200)]
    await bench.stage(*(("publish", *message) for message in expected[:150]))
    for message in expected[150:]:
        await bench.stage(("publish", *message))
    require("the messages", await ear.heard(), expected)


async def channels(bench: Bench) -> None:
    """One hears the channels that one has asked for, by name or by pattern, and each message once."""
    published = [Message(bench.key(name), name) for name in ("a", "ab", "abc", "b", "w:x", "*")]
    for names, heard in (
        (("a", "b"), "a b"),
        (("a*",), "a ab abc"),
        (("a?",), "ab"),
        (("?",), "a b *"),
        (("w:*", "abc"), "abc w:x"),
        (("none",), ""),
    ):
        ear = await bench.subscribe(*map(bench.key, names))
        await bench.stage(*(("publish", *message) for message in published))
        messages = [message.data for message in await ear.heard()]
        require(f"what {names} hears", messages, heard.split())


async def names(bench: Bench) -> None:
    """Characters in brackets stand for themselves: one hears the channel of a name, whatever that is, and no other."""
    named = ("w[ab]", "w*", "w?", "w\\", "[", "a[!b]c")
    ears = [await bench.subscribe(literal(bench.key(name))) for name in named]
    beginning = await bench.subscribe(literal(bench.key("w[")) + "*")
    others = ("wa", "w", "wab", "w[", "a]c", "\\")
    await bench.stage(*(("publish", bench.key(name), name) for name in (*named, *others)))
    heard = [[message.data for message in await ear.heard()] for ear in ears]
    require("what each hears", heard, [[name] for name in named])
    begun = [message.data for message in await beginning.heard()]
    require("what begins so", begun, ["w[ab]", "w["])


async def contents(bench: Bench) -> None:
    """Any text arrives as it was sent."""
    ear = await bench.subscribe(bench.key("told"))
    await bench.stage(*(("publish", bench.key("told"), text) for text in TEXTS))
    require("the messages", [message.data for message in await ear.heard()], list(TEXTS))


async def listeners(bench: Bench) -> None:
    """All who listen hear what anybody publishes from the moment of subscribing on, and nothing older."""
    await bench.stage(("publish", bench.key("told"), "too early"))
    first = await bench.subscribe(bench.key("told"))
    bench.send(bench.key("told"), "from another")
    second = await bench.subscribe(bench.key("t*"))
    await bench.stage(("publish", bench.key("told"), "from here"))
    heard = [[message.data for message in await ear.heard()] for ear in (first, second)]
    require("what the first hears", heard[0], ["from another", "from here"])
    require("what the second hears", heard[1], ["from here"])


async def after_the_commit(bench: Bench) -> None:
    """Who hears of a write finds it done."""
    key, ear = bench.key("key"), await bench.subscribe(bench.key("told"))

    def transition(tx: Transaction) -> Transition[None]:
        tx.publish(bench.key("told"), "done")
        yield from tx.read(("EXISTS", key))
        tx.hset(key, "a", "1")

    await bench.run(transition)
    message = await ear.subscription.get(PATIENCE)
    require("the message", message, Message(bench.key("told"), "done"))
    require("the write", bench.other.dump()[key]["value"], {"a": "1"})


async def waiting(bench: Bench) -> None:
    """Who waits in vain is told so when the time is up."""
    ear = await bench.subscribe(bench.key("told"))
    for seconds in (0.0, 0.01):
        require("a message in vain", await ear.subscription.get(seconds), None)


async def at_once(bench: Bench) -> None:
    """Who does not wait at all is given what is there."""
    ear = await bench.subscribe(bench.key("told"))
    await bench.stage(("publish", bench.key("told"), "one"))
    end = time.monotonic() + PATIENCE
    message = None
    while message is None and time.monotonic() < end:
        message = await ear.subscription.get(0)
    require("the message", message, Message(bench.key("told"), "one"))


async def drained(bench: Bench) -> None:
    """A blocking subscription gives at once all that was published before."""
    with bench.other.subscribe(bench.key("told"), bench.key("other?")) as subscription:
        require("what was published before", subscription.drain(), [])
        published = [
            Message(bench.key(name), name) for name in ("told", "others", "unheard", "told")
        ]
        for message in published:
            await bench.stage(("publish", *message))
        heard = [message.data for message in subscription.drain()]
        require("what was published", heard, ["told", "others", "told"])
        require("what is left", subscription.drain(), [])


async def closing(bench: Bench) -> None:
    """A closed subscription ends, and may be closed again; its storage goes on."""
    subscription = await bench.storage.subscribe(bench.key("told"))
    await bench.stage(("publish", bench.key("told"), "one"))
    heard = []
    async for message in subscription:
        heard.append(message.data)
        await subscription.close()
    require("what was heard before the end", heard, ["one"])
    await subscription.close()
    require("the storage", await bench.read(("EXISTS", bench.key("key"))), [0])


CHECKS: Final = (
    Check(order),
    Check(channels),
    Check(names),
    Check(contents),
    Check(listeners),
    Check(after_the_commit),
    Check(waiting),
    Check(at_once),
    Check(drained),
    Check(closing),
)
