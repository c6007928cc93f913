# SPDX-License-Identifier: MIT
"""Every storage keeps what the seam promises, blocking and for asyncio."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from pyqless.errors import InvalidArgument
from pyqless.storage import open_storage
from pyqless.testing import CHECKS, Check, Store
from tests.conftest import do_without
from tests.servers import KINDS, Kind, NotInstalled, Server, Variant

STORES: Final = [
    "memory",
    "fakeredis",
    "sqlite",
    *(f"{kind}-protocol{protocol}" for kind in KINDS for protocol in (2, 3)),
]


@pytest.fixture(params=STORES)
def store(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    shared_server: Callable[[Kind, Variant], Server],
) -> Store:
    """Repeat the test on each store, and on each kind of server in both protocols."""
    name = uuid.uuid4().hex
    kind, _, protocol = request.param.partition("-protocol")
    if kind == "sqlite":
        url = f"sqlite:///{tmp_path / name}"
    elif kind in KINDS:
        try:
            url = f"{shared_server(kind, 'acl').url}?protocol={protocol}"
        except NotInstalled as error:
            raise do_without(error) from None
    else:
        url = f"{kind}://{name}"
    try:
        open_storage(url).close()
    except InvalidArgument:
        pytest.skip(f"no storage yet for {kind}://")
    return Store.at(url)


@pytest.mark.parametrize("blocking", [True, False], ids=["blocking", "asyncio"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_storage(store: Store, check: Check, *, blocking: bool) -> None:
    check.run(store, blocking=blocking)
