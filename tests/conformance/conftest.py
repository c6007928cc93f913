# SPDX-License-Identifier: MIT
"""Each storage in turn, for what all storages must do alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pyqless.storage import open_storage
from tests.conftest import do_without
from tests.servers import KINDS, Kind, NotInstalled, Server, Variant


@pytest.fixture(params=["memory", "sqlite", "fakeredis", *KINDS])
def storage_url(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    shared_server: Callable[[Kind, Variant], Server],
) -> str:
    """Repeat the test on each storage, and on each kind of server with scripting forbidden."""
    url = f"{request.param}://"
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    elif request.param in KINDS:
        try:
            url = shared_server(request.param, "acl").url
        except NotInstalled as error:
            raise do_without(error) from None
    try:
        open_storage(url).close()
    except NotImplementedError:
        pytest.skip(f"no storage yet for {url}")
    return url
