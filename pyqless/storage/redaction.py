# SPDX-License-Identifier: MIT
"""URLs without their secrets."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

__all__ = ["redacted"]


_is_url = re.compile(r"[a-z][a-z0-9+.-]*://", re.ASCII | re.IGNORECASE).match

#: what somebody may have put into a path who meant another kind of store
_IN_PATH = re.compile(r"^(/*[^/:@]*):[^/@]+@")


def redacted(url: str) -> str:
    """A URL without its password, wherever it stands; of what is none, such as USER:PASSWORD@HOST, what is no secret."""
    if _is_url(url) is None:
        # nobody can tell what stands where before the @
        _, at, rest = url.rpartition("@")
        host, mark, query = rest.partition("?")
        return f"{at and '***@'}{host}{mark}{_query(query)}"
    parts = urlsplit(url)
    location = parts.netloc
    if "@" in location:
        user, _, host = location.rpartition("@")
        location = f"{user.partition(':')[0]}:***@{host}"
    path = _IN_PATH.sub(r"\1:***@", parts.path)
    # by hand, since urlunsplit changes a path that begins with two slashes, from Python 3.13 on
    query, fragment = _query(parts.query), parts.fragment
    return f"{parts.scheme}://{location}{path}{query and f'?{query}'}{fragment and f'#{fragment}'}"


def _query(text: str) -> str:
    pairs = parse_qsl(text, keep_blank_values=True)
    shown = [(name, "***" if "password" in name.lower() else value) for name, value in pairs]
    return urlencode(shown, safe="*/")
