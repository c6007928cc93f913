# SPDX-License-Identifier: MIT
"""
How a process wakes those that listen in others: by an empty datagram to a socket beside the file.

A bell says only that there is something to look at. It may ring for nothing, and a ring that is lost costs a
second, for who waits looks by itself now and then.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["Bell", "ring"]

#: the longest path that fits into a socket's address everywhere, bytes
_LONGEST: Final = 100


class Bell:
    """
    A socket that others can ring.

    Args:
        file: the path of the database.

    Raises:
        OSError: there are no such sockets there.
    """

    def __init__(self, file: str) -> None:
        #: beside the file; this is what others know it by
        self.name = f"{Path(file).name}-{secrets.token_hex(4)}.bell"
        self._path = Path(file).with_name(self.name)
        self._file = file
        # a descriptor that is closed while it is waited for may become that of another file
        self._in_use = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            with _address(self._path) as address:
                self._socket.bind(address)
        except BaseException:
            self._socket.close()
            raise

    def fileno(self) -> int:
        """The descriptor that becomes readable when the bell rings."""
        return self._socket.fileno()

    def wait(self, seconds: float) -> None:
        """Wait until it rings, or for some time."""
        with self._in_use, contextlib.suppress(OSError):
            self._socket.settimeout(seconds)
            self._socket.recv(1)

    def silence(self) -> None:
        """Forget that it has rung."""
        with self._in_use, contextlib.suppress(OSError):
            self._socket.settimeout(0)
            while True:
                self._socket.recv(1)

    def ring(self) -> None:
        """Let a wait end."""
        ring(self._file, self.name)

    def take_down(self) -> None:
        """Remove the bell; a wait ends first, by a ring."""
        self.ring()
        with self._in_use:
            self._socket.close()
        self._path.unlink(missing_ok=True)

    def leave_to_parent(self) -> None:
        """Close what a fork has inherited."""
        self._socket.close()


@cache
def _sender() -> socket.socket:
    """The socket that all bells are rung with; it has no state that forked processes could not share."""
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.settimeout(0)
    atexit.register(sender.close)
    return sender


def ring(file: str, name: str) -> bool:
    """
    Ring a bell.

    Args:
        file: the path of the database.

    Returns:
        bool: whether somebody is there.
    """
    path = Path(file).with_name(name)
    try:
        with _address(path) as address:
            _sender().sendto(b"", address)
    except (FileNotFoundError, ConnectionRefusedError):
        with contextlib.suppress(OSError):
            path.unlink()
        return False
    except OSError:
        pass  # it has rung so often that no more can be taken in, or it is not ours to ring
    return True


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """A path that leads to the bell and fits into an address."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
