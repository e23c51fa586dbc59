"""Loading custom handlers from a module, and rejecting invalid ones."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from duecourse.adapters.runtime.custom_handlers import find_code_path, load_handlers
from duecourse.app import registry
from duecourse.domain.errors import SettingsError
from duecourse.domain.tasks.handler import capabilities_of
from duecourse.domain.tasks.run import IndeterminatePolicy

from local.runtime.template import ROOT, load_template, resources_of_type
from tests.support.builders.tasks import a_task

NAME = "a_team_of_tests"
GOOD = """
    from duecourse import Handler

    class Lights(Handler):
        pass

    HANDLERS = {"lights": Lights(), "lights-2_off": Lights()}
"""
Write = Callable[[str], None]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    monkeypatch.syspath_prepend(str(tmp_path))
    yield lambda code: write_module(tmp_path / f"{NAME}.py", code)
    sys.modules.pop(NAME, None)


def write_module(path: Path, code: str) -> None:
    path.write_text(dedent(code))


def test_the_handlers_of_the_module_are_loaded(write: Write) -> None:
    write(GOOD)
    found = load_handlers(NAME, reserved_types=["reminder"])
    assert sorted(found) == ["lights", "lights-2_off"]
    assert type(found["lights"]).__name__ == "Lights"


def test_a_builtin_type_cannot_be_replaced(write: Write) -> None:
    write(GOOD)
    with pytest.raises(SettingsError, match="lights is the type of a built-in handler"):
        load_handlers(NAME, reserved_types=["lights"])


@pytest.mark.parametrize(
    "name",
    ["'Lights'", "''", "'2lights'", "'on off'", "'a' * 51", "'lichter\\u00e4'", "'a\\n'", "7"],
)
def test_an_invalid_type_name_is_rejected(write: Write, name: str) -> None:
    write(GOOD + f"\n    HANDLERS = {{{name}: Lights()}}")
    with pytest.raises(SettingsError, match="is not a valid type"):
        load_handlers(NAME, reserved_types=[])


def test_a_class_instead_of_a_handler_instance_is_rejected(write: Write) -> None:
    write(GOOD + "\n    HANDLERS = {'lights': Lights}")
    with pytest.raises(SettingsError, match="not an instance of Handler but the class Lights"):
        load_handlers(NAME, reserved_types=[])


def test_a_value_that_is_not_a_handler_is_rejected(write: Write) -> None:
    write(GOOD + "\n    HANDLERS = {'lights': print}")
    with pytest.raises(SettingsError, match="not an instance of Handler but a builtin_function"):
        load_handlers(NAME, reserved_types=[])


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        ("def let_go(self, work): pass", "let_go", "release"),
        ("repeat_is_harmless = True", "repeat_is_harmless", "idempotent"),
        ("def __init__(self): self.repeat_is_harmless = True", "repeat_is_harmless", "idempotent"),
        ("def is_harmless(self, task): return True", "is_harmless", "is_idempotent"),
        ("def mutate(self, work): return work.key", "work.key", "context.idempotency_key"),
        ("def emit(self, run): print(f'{run.key}')", "work.key", "context.idempotency_key"),
        ("def mutate(self, w): return [w.key for _ in '1']", "work.key", "context.idempotency_key"),
        ("def reconcile(self, w): return w.key.upper()", "work.key", "context.idempotency_key"),
    ],
)
def test_a_handler_with_a_method_name_of_version_0_1_is_rejected(
    write: Write, body: str, old: str, new: str
) -> None:
    write(GOOD.replace("pass", body))
    text = f"{NAME}: class Lights uses {old}: rename it to {new}"
    with pytest.raises(SettingsError, match=re.escape(text)):
        load_handlers(NAME, reserved_types=[])


def test_names_that_only_look_outdated_are_accepted(write: Write) -> None:
    write(
        GOOD.replace(
            "pass",
            "def mutate(self, context): return context.task.key, self.key, context.idempotency_key",
        )
    )
    assert load_handlers(NAME, reserved_types=[])


def test_all_errors_are_reported_together(write: Write) -> None:
    write("HANDLERS = {'A': 1, 'b': 2}")
    with pytest.raises(SettingsError) as refused:
        load_handlers(NAME, reserved_types=["b"])
    assert str(refused.value).count(NAME) == 4


def test_a_module_without_handlers_is_rejected(write: Write) -> None:
    write("")
    with pytest.raises(SettingsError, match=f"{NAME} does not define the dict HANDLERS"):
        load_handlers(NAME, reserved_types=[])


@pytest.mark.parametrize("name", ["no_such_module", "no_such.module", ".", "os.path.x"])
def test_the_error_for_a_missing_module_names_it(name: str) -> None:
    with pytest.raises(SettingsError, match=f"HANDLERS_MODULE: there is no module {name}$"):
        load_handlers(name, reserved_types=[])


def test_an_error_inside_the_custom_module_is_raised_unchanged(write: Write) -> None:
    write("import a_module_that_is_nowhere")
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_nowhere"):
        load_handlers(NAME, reserved_types=[])


def test_the_code_of_a_package_is_its_folder(tmp_path: Path, write: Write) -> None:
    (tmp_path / NAME).mkdir()
    write_module(tmp_path / NAME / "__init__.py", "raise RuntimeError")
    assert find_code_path(NAME) == tmp_path / NAME
    assert write is not None


def test_the_code_of_a_module_is_its_file_and_is_found_without_importing_it(
    tmp_path: Path, write: Write
) -> None:
    write("raise RuntimeError")
    assert find_code_path(NAME) == tmp_path / f"{NAME}.py"


def test_the_default_handler_table_is_empty_and_can_be_loaded() -> None:
    assert load_handlers("functions.worker.handlers", reserved_types=[]) == {}


def test_the_module_in_the_template_is_importable_as_in_lambda() -> None:
    functions = resources_of_type(load_template(), "AWS::Lambda::Function").values()
    [module] = {one["Environment"]["Variables"]["HANDLERS_MODULE"] for one in functions}
    code = (
        "import sys; from duecourse.adapters.runtime.custom_handlers import load_handlers; "
        "load_handlers(sys.argv[1], reserved_types=[])"
    )
    subprocess.run(  # noqa: S603 - our own interpreter, our own words
        [sys.executable, "-B", "-c", code, module],
        env={"PYTHONPATH": f"{ROOT / 'layers' / 'core' / 'python'}:{ROOT / 'functions'}"},
        cwd=sys.prefix,
        check=True,
        timeout=60,
    )


def test_a_remote_handler_has_the_phases_of_its_function() -> None:
    handler = registry.remote("arn:lights", phases=frozenset({"mutate", "reconcile"}))

    capabilities = capabilities_of(handler, a_task(type="lights"))
    assert (capabilities.has_prepare, capabilities.has_emit, capabilities.indeterminate_policy) == (
        False,
        False,
        IndeterminatePolicy.RECONCILE,
    )
