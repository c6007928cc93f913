# SPDX-License-Identifier: MIT
"""Commands that follow a store over time, while its server is started again."""

from __future__ import annotations

import io
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from pyqless.cli import main
from pyqless.client import Client
from tests import servers
from tests.proxy import proxied
from tests.servers import Server

StartServer = Callable[..., Server]


def wait_until(holds: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_events_go_on_where_the_server_is_started_again(
    start_server: StartServer, one_kind: servers.Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    ends = list[object]()

    def follow(url: str) -> None:
        try:
            main(["events", "log", "-n", "2", "--url", url])
        except SystemExit as end:
            ends.append(end.code)

    server = start_server(one_kind)
    with proxied(server.url) as (gate, url):
        thread = threading.Thread(target=follow, args=(url,), daemon=True)
        thread.start()
        wait_until(lambda: "listening" in err.getvalue())
        server.stop()
        wait_until(lambda: "is away" in err.getvalue())
        successor = start_server(one_kind)
        gate.target = successor.port
        wait_until(lambda: "is back" in err.getvalue())
        with Client(successor.url) as client:
            client.queues["q"].put("a.B", jid="j")
        thread.join(timeout=30)
    assert ends == [0]
    gap, put = (line.split()[1:] for line in out.getvalue().splitlines())
    assert (gap, put) == (["connection", "gap", "-"], ["log", "put", "j", "queue=q"])
    _, away, back = err.getvalue().splitlines()
    assert away.startswith("pyqless: the store is away, and is tried again: ")
    assert back == "pyqless: the store is back"
