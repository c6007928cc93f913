# SPDX-License-Identifier: MIT
"""What real servers say of a failed script, as redis-py hands it on; the texts were seen on each of them."""

from __future__ import annotations

import pytest

from pyqless.conformance import CommandError, InternalError
from pyqless.conformance.lua_errors import script_error

SHA = "d017203078b17ceaddf19d3b6d8459102b1e7a5d"
REDIS_6 = f"Error running script (call to f_{SHA}): @user_script:12: user_script:12: {{}}"
REDIS_7 = f"user_script:12: {{}} script: {SHA}, on @user_script:12."
VALKEY_9 = "user_script:12: {} script: on @user_script:12."


@pytest.mark.parametrize("server", [REDIS_6, REDIS_7, VALKEY_9])
@pytest.mark.parametrize(
    "words",
    [
        "Unknown command nosuch",
        'Put(): Arg "priority" not a numberhigh',
        "Log(): Argument 'message' missing",
        "Fail(): Job x ydoes not exist",
        "Recur(): a script: of words, on and on.",
        "assertion failed!",
        "Odd number of additional args",
        "",
    ],
)
def test_the_words_of_the_core(server: str, words: str) -> None:
    error = script_error(server.format(words))
    assert str(error) == words
    assert type(error) is CommandError


@pytest.mark.parametrize("server", [REDIS_6, REDIS_7, VALKEY_9])
def test_the_address_of_a_table_is_left_out(server: str) -> None:
    error = script_error(server.format("Odd number of additional args: table: 0x7fceea7ed350"))
    assert str(error) == "Odd number of additional args"


@pytest.mark.parametrize("server", [REDIS_6, REDIS_7, VALKEY_9])
@pytest.mark.parametrize(
    "words",
    [
        "bad argument #1 to 'decode' (string expected, got nil)",
        "Expected object key string but found invalid token at character 2",
        "attempt to perform arithmetic on a nil value",
        "attempt to index local 'dict' (a number value)",
        "too many results to unpack",
        "Cannot serialise number: must not be NaN or Inf",
        "Found too many nested data structures (1001)",
        "Excessively sparse array",
        "'for' initial value must be a number",
        "Attempt to modify a readonly table",
        "Script attempted to access nonexistent global variable 'foo'",
        "Lua redis lib command arguments must be strings or integers",
    ],
)
def test_a_breakdown_of_lua(server: str, words: str) -> None:
    error = script_error(server.format(words))
    assert str(error) == words
    assert type(error) is InternalError


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"Error running script (call to f_{SHA}): @user_script:12: ERR value is not an integer or out of range",
            "ERR value is not an integer or out of range",
        ),
        (
            f"value is not an integer or out of range script: {SHA}, on @user_script:12.",
            "value is not an integer or out of range",
        ),
        (
            "value is not an integer or out of range script: on @user_script:12.",
            "value is not an integer or out of range",
        ),
    ],
)
def test_a_refusal_of_the_store_within_the_script(text: str, words: str) -> None:
    error = script_error(text)
    assert str(error) == words
    assert type(error) is InternalError


def test_an_error_that_the_script_returned_is_its_own() -> None:
    error = script_error("My own words")
    assert str(error) == "My own words"
    assert type(error) is CommandError
