# SPDX-License-Identifier: MIT
"""Each storage in turn, for what all storages must do alike."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import do_without
from tests.servers import KINDS, Kind, NotInstalled, Server, Variant


@pytest.fixture(params=["memory", "fakeredis", "sqlite", *KINDS])
def storage_url(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    shared_server: Callable[[Kind, Variant], Server],
) -> str:
    """Repeat the test on each storage, and on each kind of server with scripting forbidden."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'jobs.db'}"
    if request.param not in KINDS:
        return f"{request.param}://"
    try:
        return shared_server(request.param, "acl").url
    except NotInstalled as error:
        raise do_without(error) from None
