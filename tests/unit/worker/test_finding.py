# SPDX-License-Identifier: MIT
"""What jobs may name, and what they may not."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from pyqless.errors import InvalidArgument
from pyqless.worker import CodeNotFound, Finder, Runner, Settings
from tests.unit.worker import jobs_allowed

HERE = "tests.unit.worker.jobs_allowed"


def test_a_function_of_an_allowed_module() -> None:
    assert Finder([HERE]).find(f"{HERE}.run", "mail").function is jobs_allowed.run


def test_the_method_named_like_the_queue_goes_first() -> None:
    finder = Finder([HERE])
    assert finder.find(f"{HERE}.Both", "mail").function(None) == "mail"
    assert finder.find(f"{HERE}.Both", "post").function(None) == "process"


@pytest.mark.parametrize(("queue", "kind"), [("mail", "method-type"), ("post", "method-missing")])
def test_a_class_without_a_method_to_run(queue: str, kind: str) -> None:
    with pytest.raises(CodeNotFound) as refused:
        Finder([HERE]).find(f"{HERE}.Named", queue)
    assert refused.value.kind == kind


def test_a_method_of_instances_is_refused_with_a_hint() -> None:
    class Send:
        def process(self, job: object) -> None: ...

        @classmethod
        def mail(cls, job: object) -> str:
            return cls.__name__

    finder = Finder(functions={"Send": Send})
    assert finder.find("Send", "mail").function(None) == "Send"
    with pytest.raises(CodeNotFound, match="job alone: is it to be a @staticmethod") as refused:
        finder.find("Send", "post")
    assert refused.value.kind == "method-type"
    assert "process(self, job" in str(refused.value)


@pytest.mark.parametrize("queue", ["__init__", "mro", "__class__", "__reduce__"])
def test_no_queue_reaches_what_is_no_method_of_the_class(queue: str) -> None:
    assert Finder([HERE]).find(f"{HERE}.Both", queue).function(None) == "process"


def test_a_queue_may_be_named_like_something_that_is_no_method() -> None:
    with pytest.raises(CodeNotFound, match="number is no method"):
        Finder([HERE]).find(f"{HERE}.Both", "number")


@pytest.mark.parametrize(
    "name",
    [
        "os.system",
        "builtins.eval",
        "eval",
        "",
        ".",
        f"{HERE}.system",
        f"{HERE}._hidden",
        f"{HERE}.__dict__",
        f"{HERE}.constant",
        f"{HERE}.Both.process",
        f"{HERE}.run.__globals__",
        f"{HERE}.nothing",
        f"{HERE}",
        "tests.unit.worker.run",
    ],
)
def test_nothing_else_can_be_named(name: str) -> None:
    with pytest.raises(CodeNotFound):
        Finder([HERE]).find(name, "mail")


def test_nothing_outside_the_list_is_imported() -> None:
    sys.modules.pop("this", None)
    with pytest.raises(CodeNotFound):
        Finder(["tests.*"]).find("this.s", "mail")
    assert "this" not in sys.modules


def test_a_package_allows_what_is_in_it_and_not_its_namesakes() -> None:
    finder = Finder(["tests.unit.*"])
    assert finder.allows("tests.unit")
    assert finder.allows(HERE)
    assert not finder.allows("tests")
    assert not finder.allows("tests.unity")


def test_what_is_registered_goes_by_its_own_name() -> None:
    finder = Finder(functions={"Ruby::Job": jobs_allowed.run})
    finder.register()(jobs_allowed.Both)
    assert finder.find("Ruby::Job", "mail").function is jobs_allowed.run
    assert finder.find(f"{HERE}.Both", "mail").function(None) == "mail"


@pytest.mark.parametrize("name", ["", "*", "a..b", "a b", "os.*.path"])
def test_what_names_no_module_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgument, match="modules must name modules"):
        Finder([name])


def test_a_missing_module_is_not_found_and_a_broken_one_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_jobs.py").write_text("import nowhere_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CodeNotFound, match="no module"):
        Finder(["missing_jobs"]).find("missing_jobs.run", "mail")
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):
        Finder(["broken_jobs"]).find("broken_jobs.run", "mail")


def test_reloading_brings_new_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "fresh_jobs.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    finder = Finder(["fresh_jobs"])
    for number in (1, 2):
        module.write_text(f"def run(job):\n    return {number}\n")
        finder.reload()
        assert finder.find("fresh_jobs.run", "mail").function(None) == number


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the directory of a package that nobody has loaded, and forget it in the end."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "changing").mkdir()
    for name in ("__init__", "first", "second"):
        (tmp_path / "changing" / f"{name}.py").write_text("def run(job):\n    return 'old'\n")
    yield tmp_path / "changing"
    Finder(["changing.*"]).forget()


def ran(finder: Finder, *modules: str) -> list[object]:
    return [finder.find(f"changing.{name}.run", "mail").function(None) for name in modules]


@pytest.mark.parametrize("allowed", [["changing.*"], ["changing.first", "changing.second"]])
@pytest.mark.parametrize("content", ["def run(", "import nowhere_at_all", "raise ValueError"])
def test_where_one_module_cannot_be_loaded_anew_all_stay_as_they_were(
    package: Path, allowed: list[str], content: str
) -> None:
    finder = Finder(allowed)
    assert ran(finder, "first", "second") == ["old", "old"]
    (package / "first.py").write_text("def run(job):\n    return 'new'\n")
    (package / "second.py").write_text(content)
    with pytest.raises((InvalidArgument, SyntaxError, ImportError, ValueError)):
        finder.reload()
    assert ran(finder, "first", "second") == ["old", "old"]
    (package / "second.py").write_text("def run(job):\n    return 'new'\n")
    finder.reload()
    assert ran(finder, "first", "second") == ["new", "new"]


def test_a_package_may_lose_a_module(package: Path) -> None:
    finder = Finder(["changing.*"])
    assert ran(finder, "first", "second") == ["old", "old"]
    (package / "first.py").write_text("def run(job):\n    return 'new'\n")
    (package / "second.py").unlink()
    finder.reload()
    assert ran(finder, "first") == ["new"]
    with pytest.raises(CodeNotFound, match="no module"):
        ran(finder, "second")


def test_a_worker_goes_on_with_the_code_it_has(
    package: Path, caplog: pytest.LogCaptureFixture
) -> None:
    finder = Finder(["changing.first"])
    finder.preload()
    (package / "first.py").write_text("def run(")
    settings = Settings(queues=["mail"], runner=Runner(finder=finder))
    assert settings.renewed() is settings
    assert caplog.messages == ["the code of jobs cannot be loaded anew, and stays as it was"]
    assert ran(finder, "first") == ["old"]


def test_a_declared_job_runs_with_the_arguments_in_its_data() -> None:
    code = Finder([HERE]).find(f"{HERE}.declared", "mail")
    assert code.function(SimpleNamespace(data={"a": 2, "b": 3})) == 5
    assert not code.is_async


def test_a_declared_job_may_be_registered() -> None:
    finder = Finder()
    finder.register("add")(jobs_allowed.declared)
    assert finder.find("add", "mail").function(SimpleNamespace(data={"a": 2})) == 12


def test_a_declared_coroutine_function_is_async() -> None:
    code = Finder([HERE]).find(f"{HERE}.declared_async", "mail")
    assert code.is_async
    assert asyncio.run(code.function(SimpleNamespace(data={"a": 2}))) == 2


@pytest.mark.parametrize("content", ["", "raise ValueError('in its first line')"])
def test_a_module_that_cannot_be_imported_is_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    name = "never_there" if not content else "never_loads"
    if content:
        (tmp_path / f"{name}.py").write_text(content)
    with pytest.raises(InvalidArgument, match=name) as refused:
        Finder([name]).preload()
    assert (refused.value.argument, refused.value.value) == ("modules", name)


def test_allowed_modules_are_loaded_ahead() -> None:
    sys.modules.pop(HERE, None)
    Finder([HERE, "tests.*"]).preload()
    assert HERE in sys.modules
