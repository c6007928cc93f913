# SPDX-License-Identifier: MIT
"""Which file a URL of sqlite:// means, and with which options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pyqless.errors import InvalidArgument
from pyqless.storage.sqlite.locations import Options, locate


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:////var/lib/jobs.db", "/var/lib/jobs.db"),
        ("sqlite:////var/lib/a%20b%3Fc%23.db", "/var/lib/a b?c#.db"),
        ("sqlite:////var/lib/%C3%A9.db", "/var/lib/\u00e9.db"),
        ("SQLITE:////x", "/x"),
    ],
)
def test_an_absolute_path_takes_four_slashes(url: str, path: str) -> None:
    assert locate(url) == (path, Options())


def test_three_slashes_begin_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path, _ = locate("sqlite:///a/jobs.db")
    assert path == str(tmp_path / "a" / "jobs.db")


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://jobs.db",
        "sqlite://host/jobs.db",
        "sqlite:///:memory:",
        "sqlite:////tmp/x#fragment",
        "sqlite:////tmp/%00",
        "sqlite:////tmp/%ff",
        "sqlite:////tmp/\udcff",
    ],
)
def test_a_url_without_a_file_is_refused(url: str) -> None:
    with pytest.raises(InvalidArgument, match=r"memory://") as raised:
        locate(url)
    assert (raised.value.argument, raised.value.value) == ("url", url)


@pytest.mark.parametrize(
    "url", ["sqlite:///ann:s3cret@host/x.db", "sqlite:////:s3cret@host", "sqlite://a:s3cret@host/x"]
)
def test_what_looks_like_a_password_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(InvalidArgument, match=r"\*\*\*@host") as raised:
        locate(url)
    assert "s3cret" not in f"{raised.value} {raised.value.value}"


def test_options_stand_in_the_url_or_beside_it() -> None:
    url = "sqlite:////tmp/x?timeout=2.5&synchronous=normal"
    assert locate(url)[1] == Options(timeout=2.5, synchronous="normal")
    assert locate(url, timeout=1.0, synchronous=None)[1] == Options(1.0, "normal")


def test_only_full_is_durable() -> None:
    assert Options().durable
    assert Options(synchronous="full").durable
    assert not Options(synchronous="normal").durable


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"synchronous": "off"}, "synchronous"),
        ({"synchronous": ""}, "synchronous"),
        ({"synchronous": ["full"]}, "synchronous"),
        ({"timeout": True}, "timeout"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": "soon"}, "timeout"),
        ({"timeout": "nan"}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": "1e999"}, "timeout"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        locate("sqlite:////tmp/x", **options)
    assert raised.value.argument == argument
    assert raised.value.value == options[argument]


def test_an_unknown_option_in_the_url_is_named() -> None:
    with pytest.raises(InvalidArgument, match="'sync'") as raised:
        locate("sqlite:////tmp/x?sync=full")
    assert (raised.value.argument, raised.value.value) == ("sync", "full")
