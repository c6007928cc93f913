# SPDX-License-Identifier: MIT
"""Every storage does the same: the same replies, errors, messages and keyspace after each call."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from pyqless.conformance import Target
from tests.property.machines import RulesMachine, explore
from tests.servers import Server

pytestmark = pytest.mark.timeout(3600)  # to make a failure small takes minutes


def test_storages_in_this_process_agree(tmp_path: Path) -> None:
    urls = ("memory://", "fakeredis://", f"sqlite:///{tmp_path}/queue.db")
    with ExitStack() as stack:
        cores = [stack.enter_context(Target(url)) for url in urls]
        explore(lambda: RulesMachine(*cores), share=1)


def test_real_servers_agree_with_memory(redis_server: Server) -> None:
    with Target("memory://") as memory, Target(redis_server.url) as real:
        explore(lambda: RulesMachine(memory, real), share=0.5)
