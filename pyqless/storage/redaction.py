# SPDX-License-Identifier: MIT
"""URLs without their secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

__all__ = ["redacted"]


#: what somebody may have put into a path who meant another kind of store
_IN_PATH = re.compile(r"^(/*[^/:@]*):[^/@]+@")


def redacted(url: str) -> str:
    """A URL without its password, wherever it stands."""
    parts = urlsplit(url)
    location = parts.netloc
    if "@" in location:
        user, _, host = location.rpartition("@")
        location = f"{user.partition(':')[0]}:***@{host}"
    query = [
        (name, "***" if "password" in name.lower() else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    path = _IN_PATH.sub(r"\1:***@", parts.path)
    rest = urlunsplit(("", "", path, urlencode(query, safe="*/"), parts.fragment))
    return f"{parts.scheme}://{location}{rest}"
