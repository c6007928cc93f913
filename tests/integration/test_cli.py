# SPDX-License-Identifier: MIT
"""The command line as a process of its own, with real servers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from pyqless.doctor import Role


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "pyqless", *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def test_doctor(redis_url: str) -> None:
    told = run("doctor", redis_url, "--json")
    assert (told.returncode, told.stderr) == (0, "")
    report = json.loads(told.stdout)
    assert (report["url"], report["role"], report["usable"]) == (redis_url, Role.WORKER, True)


def test_compare_with_a_lua_core(lua_redis_url: str, tmp_path: Path) -> None:
    core = tmp_path / "core.lua"
    core.write_text("return 'nothing but this'")
    told = run(
        *("conformance", "compare", "--lua", str(core), "--redis", lua_redis_url, "--ops", "9")
    )
    assert (told.returncode, told.stderr) == (1, "")
    assert "expected 'nothing but this'" in told.stdout
