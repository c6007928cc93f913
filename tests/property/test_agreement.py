# SPDX-License-Identifier: MIT
"""Every storage does the same: the same replies, errors, messages and keyspace after each call."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from pyqless.conformance import Target
from tests.property.machines import RulesMachine, explore
from tests.property.sharing import Shared, SharedMachine
from tests.servers import Server

pytestmark = pytest.mark.timeout(3600)  # to make a failure small takes minutes


def test_storages_in_this_process_agree(tmp_path: Path) -> None:
    urls = ("memory://", "fakeredis://", f"sqlite:///{tmp_path}/queue.db")
    with ExitStack() as stack:
        cores = [stack.enter_context(Target(url)) for url in urls]
        explore(lambda: RulesMachine(*cores), share=1)


class AgreementMachine(SharedMachine):
    """Several clients of one store do what one alone does in memory."""

    def __init__(self, alone: Target, shared: Shared) -> None:
        super().__init__(alone, shared)
        self.shared = shared


def test_clients_of_a_real_server_agree_with_memory(redis_server: Server) -> None:
    with Target("memory://") as alone, closing(Shared(redis_server.url)) as shared:
        explore(lambda: AgreementMachine(alone, shared), share=0.3)
        assert shared.guesses


def test_clients_of_a_file_agree_with_memory(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/queue.db"
    with Target("memory://") as alone, closing(Shared(url)) as shared:
        explore(lambda: AgreementMachine(alone, shared), share=0.05)
