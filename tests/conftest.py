# SPDX-License-Identifier: MIT
"""Hypothesis profiles, and the real servers that a test asks for by fixture."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, settings

from tests import servers
from tests.servers import KINDS, Kind, NotInstalled, Server, Variant

# Failed assertions outside of the test modules show their values, too.
# a shell ignores interrupts for what it runs in the background, and children inherit that
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

pytest.register_assert_rewrite(
    "tests.property.invariants", "tests.property.machines", "tests.unit.core.examples"
)

CI: Final = bool(os.environ.get("CI"))

#: Which server stands for all where a test needs just one: the most widespread comes first.
PREFERRED: Final[tuple[Kind, ...]] = ("redis70", "valkey9", "redis8", "redis62")

# On a shared machine neither a deadline nor the speed of generation says anything about the code.
# CI repeats the same examples, so that a change is judged by itself; the nightly run explores.
COMMON: Final = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("quick", COMMON, max_examples=20, derandomize=CI)
settings.register_profile("default", COMMON, max_examples=100, derandomize=CI)
settings.register_profile("nightly", COMMON, max_examples=5000, derandomize=False)
settings.load_profile(os.environ.get("PYQLESS_PROFILE", "default"))


def do_without(missing: object) -> BaseException:
    """Build what skips the test that needs what is missing; or, in CI, what fails it."""
    if CI:
        return pytest.fail.Exception(str(missing), pytrace=False)
    return pytest.skip.Exception(str(missing))


@pytest.fixture(scope="session")
def shared_server() -> Iterator[Callable[[Kind, Variant], Server]]:
    """Give the server of a kind and variant, started once in this process and shared by tests."""
    with ExitStack() as stack:

        @cache
        def shared(kind: Kind, variant: Variant) -> Server:
            return stack.enter_context(servers.start(kind, variant))

        yield shared


@pytest.fixture
def start_server() -> Iterator[Callable[..., Server]]:
    """Start a server as ``tests.servers.start`` does, for this test alone, which may ruin it."""
    with ExitStack() as stack:

        def start(kind: Kind, variant: Variant = "acl", **options: Any) -> Server:
            try:
                return stack.enter_context(servers.start(kind, variant, **options))
            except NotInstalled as error:
                raise do_without(error) from None

        yield start


@pytest.fixture(scope="session", params=KINDS)
def redis_server(
    request: pytest.FixtureRequest, shared_server: Callable[[Kind, Variant], Server]
) -> Server:
    """Repeat the test on each kind of server, scripting forbidden."""
    try:
        return shared_server(request.param, "acl")
    except NotInstalled as error:
        raise do_without(error) from None


@pytest.fixture
def redis_url(redis_server: Server) -> str:
    """Repeat the test on each kind of server, scripting forbidden; the database is empty."""
    redis_server.flush()
    return redis_server.url


@pytest.fixture(scope="session")
def one_kind() -> Kind:
    """Choose the kind of server that stands for all."""
    for kind in PREFERRED:
        try:
            servers.find(kind)
        except NotInstalled:
            continue
        return kind
    raise do_without("no server of any kind, see make servers")


@pytest.fixture(scope="session")
def one_redis_server(one_kind: Kind, shared_server: Callable[[Kind, Variant], Server]) -> Server:
    """Give one real server, scripting forbidden."""
    return shared_server(one_kind, "acl")


@pytest.fixture
def one_redis_url(one_redis_server: Server) -> str:
    """Give one real server, scripting forbidden; the database is empty."""
    one_redis_server.flush()
    return one_redis_server.url


@pytest.fixture
def lua_redis_url(one_kind: Kind, shared_server: Callable[[Kind, Variant], Server]) -> str:
    """Give one real server that allows scripts, for a Lua core; the database is empty."""
    server = shared_server(one_kind, "plain")
    server.flush()
    return server.url
