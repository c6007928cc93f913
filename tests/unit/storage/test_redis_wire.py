# SPDX-License-Identifier: MIT
"""Commands become bytes, and bytes replies, however they are cut, and whatever is pushed in between."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyqless.errors import (
    InvalidArgument,
    StoreCorrupted,
    StoreRefused,
    StoreUnavailable,
    StoreUnsupported,
)
from pyqless.storage.redis import protocol
from pyqless.storage.redis.protocol import ServerError, fault_of, pack, reply_of, same
from pyqless.storage.redis.replies import Replies
from pyqless.storage.redis.steps import LinkLost
from pyqless.storage.redis.wire import SocketWire

# -- commands ---------------------------------------------------------------------------------------


def test_commands_as_bytes() -> None:
    assert pack([("GET", "ä"), ("ZADD", "z", 0.1, "m")]) == (
        b"*2\r\n$3\r\nGET\r\n$2\r\n\xc3\xa4\r\n*4\r\n$4\r\nZADD\r\n$1\r\nz\r\n$3\r\n0.1\r\n$1\r\nm\r\n"
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [(7, b"7"), (-0.0, b"-0.0"), (1e300, b"1e+300"), (float("inf"), b"inf"), (0.1, b"0.1")],
)
def test_numbers(number: float, text: bytes) -> None:
    assert pack([("A", number)]) == b"*2\r\n$1\r\nA\r\n$%d\r\n%b\r\n" % (len(text), text)


def test_hiredis_gets_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def packed(command: tuple[Any, ...]) -> bytes:
        assert {type(argument) for argument in command} == {str}
        return b"packed"

    monkeypatch.setattr(protocol, "_packed", packed)
    assert pack([("ZADD", "z", 0.1, 7, "m")]) == b"packed"


def test_bytes_that_are_no_utf_8() -> None:
    assert pack([("A", "\udcff", 5)]) == b"*3\r\n$1\r\nA\r\n$1\r\n\xff\r\n$1\r\n5\r\n"


def test_half_a_surrogate_pair() -> None:
    with pytest.raises(InvalidArgument, match="UTF-8") as caught:
        pack([("A", "a"), ("B", "b\ud800")])
    assert caught.value.value == "b\ud800"


# -- replies ----------------------------------------------------------------------------------------

#: replies as they come, and as they are read
REPLIES: Final[list[tuple[bytes, Any]]] = [
    (b"+OK\r\n", "OK"),
    (b"$-1\r\n", None),
    (b"_\r\n", None),
    (b":7\r\n", 7),
    (b"$4\r\n\xff\r\nb\r\n", "\udcff\r\nb"),
    (b"*0\r\n", []),
    (b"*-1\r\n", None),
    (b"*2\r\n$1\r\na\r\n*1\r\n:1\r\n", ["a", [1]]),
    (b"%1\r\n$1\r\na\r\n$1\r\nb\r\n", {"a": "b"}),
    (b"~1\r\n$1\r\na\r\n", ["a"]),
    (b",0.5\r\n", 0.5),
]
ERROR: Final = (b"-ERR no\r\n", "ERR no")
PUSHED: Final = b">2\r\n+invalidate\r\n*1\r\n$3\r\nkey\r\n"


def read(replies: Replies, data: bytes, size: int) -> list[list[Any]]:
    """Feed some bytes at a time; returns the packets of replies that were complete."""
    taken = (replies.take(data[at : at + size]) for at in range(0, len(data), size))
    return [packet for packet in taken if packet is not None]


@given(
    packets=st.lists(
        st.lists(st.sampled_from(REPLIES), min_size=1, max_size=4), min_size=1, max_size=3
    ),
    pushes=st.lists(st.integers(0, 12), max_size=6),
    size=st.integers(1, 40),
)
def test_packets_in_pieces_with_messages_in_between(
    packets: list[list[tuple[bytes, Any]]], pushes: list[int], size: int
) -> None:
    replies = Replies()
    position = 0
    for packet in packets:
        data = b""
        for reply, _ in packet:
            data += PUSHED * pushes.count(position) + reply
            position += 1
        replies.expect(len(packet))
        assert read(replies, data, size) == [[value for _, value in packet]]


@pytest.mark.parametrize("kept", range(len(PUSHED) + 1))
def test_a_message_that_comes_half_behind_the_last_reply(kept: int) -> None:
    replies = Replies()
    replies.expect(1)
    assert replies.take(b"+OK\r\n" + PUSHED[:kept]) == ["OK"]
    replies.expect(2)
    assert replies.take(PUSHED[kept:] + b":1\r\n:2\r\n") == [1, 2]


def test_error_replies() -> None:
    replies = Replies()
    replies.expect(2)
    packet = replies.take(b"-WRONGTYPE of a key\r\n*1\r\n-ERR in EXEC\r\n")
    assert packet is not None
    error, (inner,) = packet
    assert (type(error), error.code) == (ServerError, "WRONGTYPE")
    assert (type(inner), str(inner)) == (ServerError, "ERR in EXEC")


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 400 Bad Request\r\n", b"*x\r\n", b"$-7\r\n"])
def test_what_makes_no_sense_is_a_lost_link(data: bytes) -> None:
    replies = Replies()
    replies.expect(1)
    with pytest.raises(LinkLost) as caught:
        replies.take(data)
    assert caught.value.sent


# -- sockets ----------------------------------------------------------------------------------------


class Socket:
    """A socket that fails to send."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def sendall(self, _: bytes) -> None:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "sent"),
    [
        (BrokenPipeError(32, "Broken pipe"), False),
        (ConnectionResetError(104, "Connection reset by peer"), False),
        # these can come behind the last byte, from a signal handler
        (TimeoutError("timed out"), True),
        (OSError("something else"), True),
    ],
)
def test_whether_a_packet_that_failed_may_have_been_sent(failure: Exception, sent: bool) -> None:  # noqa: FBT001
    wire = SocketWire(None, SimpleNamespace(_sock=Socket(failure)))
    with pytest.raises(LinkLost) as caught:
        wire.exchange((("PING",),))
    assert caught.value.sent is sent


# -- the forms that the core knows ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "reply", "value"),
    [
        (("HGETALL", "k"), ["a", "1", "b", "2"], {"a": "1", "b": "2"}),
        (("HGETALL", "k"), {"a": "1"}, {"a": "1"}),
        (("HGETALL", "k"), [], {}),
        (("SMEMBERS", "k"), ["a", "b"], {"a", "b"}),
        (("ZSCORE", "k", "m"), "1.7329123456789012e+9", 1732912345.6789012),
        (("ZSCORE", "k", "m"), 0.5, 0.5),
        (("ZSCORE", "k", "m"), None, None),
        (("ZRANGE", "k", 0, -1, "WITHSCORES"), ["a", "1", "b", "inf"], [("a", 1), ("b", 1e999)]),
        (("ZRANGE", "k", 0, -1, "WITHSCORES"), [["a", 1.0]], [("a", 1.0)]),
        (("ZRANGE", "k", 0, -1, "WITHSCORES"), [], []),
        (("ZRANGE", "k", 0, -1), ["a"], ["a"]),
    ],
)
def test_replies_to_reads(command: tuple[Any, ...], reply: Any, value: Any) -> None:
    assert reply_of(command, reply) == value


def test_a_hash_is_a_copy() -> None:
    reply = {"a": "1"}
    reply_of(("HGETALL", "k"), reply)["a"] = "2"
    assert reply == {"a": "1"}


def test_a_key_of_another_type_is_told_in_the_place_of_the_reply() -> None:
    fault = reply_of(("HGETALL", "k"), ServerError("WRONGTYPE of a key"))
    assert isinstance(fault, StoreCorrupted)
    assert (fault.argument, fault.value) == ("k", "HGETALL")


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (["a", "b"], ["b", "a"], True),
        ({"a"}, ["a"], True),
        (["a"], ["b"], False),
        (ServerError("WRONGTYPE x"), ServerError("WRONGTYPE x"), True),
        (ServerError("WRONGTYPE x"), ["a"], False),
        (["a"], ServerError("WRONGTYPE x"), False),
    ],
)
def test_replies_that_say_the_same(before: Any, now: Any, expected: bool) -> None:  # noqa: FBT001
    assert same(("SMEMBERS", "k"), before, now) is expected


# -- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kind", "code"),
    [
        ("NOPERM this user has no permissions", StoreUnsupported, "NOPERM"),
        ("ERR unknown command 'MULTI'", StoreUnsupported, "ERR"),
        ("LOADING Redis is loading", StoreUnavailable, "LOADING"),
        ("MASTERDOWN Link with MASTER is down", StoreUnavailable, "MASTERDOWN"),
        ("OOM command not allowed", StoreRefused, "OOM"),
        ("EXECABORT Transaction discarded because of previous errors.", StoreRefused, "EXECABORT"),
        ("EXECABORT Transaction discarded because of: OOM command", StoreRefused, "OOM"),
        (
            "EXECABORT Transaction discarded because of: READONLY You can't write",
            StoreRefused,
            "READONLY",
        ),
        ("EXECABORT Transaction discarded because of: NOPERM no", StoreUnsupported, "NOPERM"),
        ("MOVED 1 host:1", StoreRefused, "MOVED"),
        ("", StoreRefused, ""),
    ],
)
def test_what_errors_mean(text: str, kind: type[Exception], code: str) -> None:
    fault = fault_of(ServerError(text), "EXEC")
    assert type(fault) is kind
    assert (fault.argument, fault.value) == ("EXEC", code)
    assert text.rpartition("because of: ")[2] in str(fault)
