# SPDX-License-Identifier: MIT
"""The proxy that fails at a chosen byte: it loses nothing that it is to keep."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.proxy import PATIENCE, Direction, Fault, Proxy


def test_what_is_parked_lands_though_a_reply_was_on_its_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The reply finds that the client hears nothing more; the server's side stays open all the same."""
    replying, deaf = threading.Event(), threading.Event()

    def choose(direction: Direction, _: bytes) -> Fault | None:
        if direction == "request":
            return Fault("park", "request", 1)
        replying.set()
        assert deaf.wait(PATIENCE)
        return None

    # the first byte is passed on, and the fault comes only once there is a reply to it
    monkeypatch.setattr("tests.proxy.time.sleep", lambda _: replying.wait(PATIENCE))
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        Proxy(listener.getsockname()[1]) as gate,
        socket.create_connection(("127.0.0.1", gate.port)) as client,
        ThreadPoolExecutor(1) as pool,
    ):
        gate.choose, gate.pace = choose, 1.0
        server, _ = listener.accept()
        client.sendall(b"ab")
        assert server.recv(1) == b"a"
        server.sendall(b"reply")
        assert client.recv(9) == b""
        deaf.set()
        client.close()
        landing = pool.submit(gate.release)
        with server:
            assert server.recv(9) == b"b"
            assert server.recv(9) == b""
        landing.result()
