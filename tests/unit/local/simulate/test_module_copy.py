from __future__ import annotations

import sys
from pathlib import Path

import pytest
from duecourse.app import stores
from duecourse.domain.tasks.status import Status

from local.simulate.module_copy import ModuleCopy


def test_two_copies_have_their_own_modules_and_classes() -> None:
    one, other = ModuleCopy(), ModuleCopy()
    name = "duecourse.domain.tasks.status"

    assert one.load(name) is one.load(name)
    assert len({one.load(name).Status, other.load(name).Status, Status}) == 3


def test_an_import_inside_a_function_finds_the_copys_module() -> None:
    copy = ModuleCopy()
    registry = copy.load("duecourse.app.registry")

    policies = copy.load("duecourse.app.stores").policies()

    [policy, *_] = policies.values()
    assert type(policy) is copy.load("duecourse.domain.failures.policy").Policy
    assert registry.stores is copy.load("duecourse.app.stores")


def test_caches_are_not_shared() -> None:
    copied = ModuleCopy().load("duecourse.app.stores")

    assert copied.clock() is copied.clock()
    assert copied.clock() is not stores.clock()


def test_the_process_keeps_its_own_modules() -> None:
    before = dict(sys.modules)

    ModuleCopy().load("functions.scanner.app")

    assert all(sys.modules[name] is module for name, module in before.items())


def test_a_module_of_another_package_is_shared() -> None:
    assert ModuleCopy().load("json") is sys.modules["json"]


def test_a_missing_module_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        ModuleCopy().load("duecourse.nowhere")


def test_a_module_that_cannot_be_imported_is_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Python does: a module whose import failed is not half there."""
    copy = ModuleCopy()
    functions = copy.load("functions")
    monkeypatch.setattr(functions, "__path__", [str(tmp_path)])
    monkeypatch.setitem(sys.modules, "functions.late", sys)
    (tmp_path / "late.py").write_text("raise RuntimeError('not yet')")
    with pytest.raises(RuntimeError):
        copy.load("functions.late")
    (tmp_path / "late.py").write_text("is_ready = True  # longer than before")

    assert copy.load("functions.late").is_ready
