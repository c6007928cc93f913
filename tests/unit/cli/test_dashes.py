# SPDX-License-Identifier: MIT
"""Values that begin with a minus: they reach the argument that they are meant for, and options stay options."""

from __future__ import annotations

import pytest

from pyqless.client import Client
from tests.unit.cli.conftest import Cli


@pytest.mark.parametrize(
    "line",
    [
        "put -5 -6 -7",
        "put -5 -6 -7 -p -1",
        "put -p -1 -5 -6 -7",
        "put -5 --json -6 -t -9 -7 --priority=-1",
        "put --tag -9 -p-1 -5 -6 -- -7",
        "put -- -5 -6 -7",
    ],
)
def test_numbers_are_values_wherever_they_stand(cli: Cli, client: Client, line: str) -> None:
    assert cli(line)[0] == 0
    (job,) = client.queues["-5"].peek(1)
    assert (job.klass_name, job.data) == ("-6", -7)
    assert job.priority == (-1 if "-1" in line else 0)
    assert job.tags == (["-9"] if "-9" in line else [])


def test_a_tag_may_be_any_text(cli: Cli, client: Client) -> None:
    client.queues["q"].put("a.B", jid="j")
    assert cli("tag add j -red -1 -hot blue") == (0, "-red\n-1\n-hot\nblue\n", "")
    assert cli("tag remove j -red -hot --json")[1].split() == ["[", '"-1",', '"blue"', "]"]


def test_a_setting_may_be_any_text(cli: Cli, client: Client) -> None:
    assert cli("config set colour -red --any") == (0, "", "")
    assert client.config["colour"] == "-red"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("config set heartbeat -5", "heartbeat must be above 0: -5"),
        (
            "config set heartbeat -.5",
            "heartbeat must be a number of seconds or a timedelta, not str: '-.5'",
        ),
        (
            "config set heartbeat -soon",
            "heartbeat must be a number of seconds or a timedelta, not str: '-soon'",
        ),
        ("put q a.B -5x", "DATA: is no JSON"),
        ("recur put q a.B -5m", "SPAN': '-5m' is no span"),
        ("recur put q a.B 60 -5m", "DATA: is no JSON"),
        ("put q a.B 1 -5", "1 argument too many: -5"),
        # what is mistyped is no value
        ("put q a.B -z", "No such option: -z"),
        ("put q -5 --prio 5", "No such option: --prio"),
        ("config set heartbeat --5", "No such option: --5"),
        ("config set heartbeat -5 --url", "'--url' requires an argument"),
        ("tag add -red blue", "No such option: -r"),  # a jid would come first
        ("cancel -z j", "No such option: -z"),
        ("jobs -5", "No such option: -5"),
        ("jobs -q", "'-q' requires an argument"),
    ],
)
def test_what_is_no_good_is_told_by_its_own_name(cli: Cli, line: str, told: str) -> None:
    status, out, err = cli(line)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_a_job_that_is_named_by_a_number(cli: Cli) -> None:
    assert cli("job -5 --url memory://") == (1, "", "pyqless: there is no job '-5'\n")
    assert cli("cancel j -5 -q")[0] == 2
