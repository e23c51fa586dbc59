"""Load a team's own handlers from the module named in the settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from duecourse.adapters.runtime.outdated_handlers import find_outdated_names
from duecourse.domain.errors import SettingsError
from duecourse.domain.tasks.handler import Handler

SETTING_NAME = "HANDLERS_MODULE"
_TYPE_PATTERN = re.compile(r"[a-z][a-z0-9_-]{0,49}")


def find_code_path(module: str) -> Path:
    """Return the package's folder, or the module's file, without running its code."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise SettingsError([f"{SETTING_NAME}: there is no module {module}"])
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def load_handlers(module: str, *, reserved_types: Collection[str]) -> Mapping[str, Handler]:
    """Return the module's handlers by task type. Raises SettingsError listing all invalid ones.

    A handler with names of version 0.1 is invalid: those names would have no effect.
    """
    find_code_path(module)
    found = getattr(import_module(module), "HANDLERS", None)
    if not isinstance(found, Mapping):
        raise SettingsError([f"{SETTING_NAME}: {module} does not define the dict HANDLERS"])
    problems = [
        f"{module}: {text}"
        for name, one in found.items()
        for text in _find_problems(name, one, reserved_types)
    ]
    if problems:
        raise SettingsError(problems)
    return dict(found)


def _find_problems(name: Any, handler: Any, reserved_types: Collection[str]) -> Iterator[str]:
    if not isinstance(name, str) or not _TYPE_PATTERN.fullmatch(name):
        yield f"{name!r} is not a valid type: use small letters, digits, - and _, at most 50"
    elif name in reserved_types:
        yield f"{name} is the type of a built-in handler: choose another"
    if not isinstance(handler, Handler):
        yield f"the value of {name!r} is not an instance of Handler but {_describe_value(handler)}"
        return
    for outdated in find_outdated_names(handler):
        yield f"class {type(handler).__name__} uses {outdated.old}: rename it to {outdated.new}"


def _describe_value(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else f"a {type(value).__name__}"
