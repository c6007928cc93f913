# SPDX-License-Identifier: MIT
"""URLs without their secrets."""

from __future__ import annotations

import pytest

from pyqless.storage.redaction import redacted


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://ann:s3cret@host:1/0", "redis://ann:***@host:1/0"),
        ("REDIS://:s3cret@host", "redis://:***@host"),
        ("redis://host?password=s3cret&db=1", "redis://host?password=***&db=1"),
        ("rediss://host/0?ssl_Password=s3cret", "rediss://host/0?ssl_Password=***"),
        ("sqlite:///ann:s3cret@host/x.db", "sqlite:///ann:***@host/x.db"),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert redacted(url) == shown


@pytest.mark.parametrize(
    "url", ["memory://", "unix:///run/redis.sock?db=0", "sqlite:////var/lib/a@b.db", "redis://h#x"]
)
def test_a_url_without_a_password_is_shown_whole(url: str) -> None:
    assert redacted(url) == url


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ann:s3cret@host", "***@host"),
        (":s3cret@host/0", "***@host/0"),
        ("ann:s3cret:@/?#s3cret@host", "***@host"),
        ("ann:://s3cret@host", "***@host"),
        ("redis:ann:s3cret@host", "***@host"),
        ("//ann:s3cret@host", "***@host"),
        ("ann:s3cret@//[host", "***@//[host"),
        ("host:6379?password=s3cret", "host:6379?password=***"),
        ("host", "host"),
        ("", ""),
    ],
)
def test_of_what_is_no_url_nothing_is_shown_that_may_be_a_password(text: str, shown: str) -> None:
    assert redacted(text) == shown
