"""The walks of docs/architecture.md: which functions a task passes through, with their lines.

`python -m tests.support.walks` (`make walks`) writes the current line numbers into the page.
"""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Any

from local.runtime.template import ROOT

PAGE = ROOT / "docs" / "architecture.md"
_STEP = re.compile(
    r"\[`(?P<short>[^`:]+):\d+`\]\(\.\./(?P<path>[^)#]+)#L(?P<line>\d+)\) `(?P<name>[\w.]+)`"
)


@dataclass(frozen=True)
class Step:
    """One function of a walk: its file below the root, its qualified name and its line."""

    path: str
    name: str
    line: int


def walks() -> dict[str, list[Step]]:
    """Return the steps of each walk by its heading."""
    sections = PAGE.read_text().split("\n### ")[1:]
    steps = {section.partition("\n")[0]: list(_steps(section)) for section in sections}
    return {heading: found for heading, found in steps.items() if found}


def _steps(section: str) -> Iterator[Step]:
    for match in _STEP.finditer(section):
        yield Step(match["path"], match["name"], int(match["line"]))


@cache
def _definitions(path: str) -> dict[str, int]:
    """Return the line of each function and class of a file by its qualified name."""
    found: dict[str, int] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                found[prefix + child.name] = child.lineno
                visit(child, f"{prefix}{child.name}.")

    visit(ast.parse((ROOT / path).read_text()), "")
    return found


def line_of(step: Step) -> int | None:
    return _definitions(step.path).get(step.name) if (ROOT / step.path).is_file() else None


def update_lines() -> None:
    """Write the current line of each step into the page. Raises KeyError for an unknown name."""

    def renumber(match: re.Match[str]) -> str:
        line = _definitions(match["path"])[match["name"]]
        path = match["path"]
        return f"[`{match['short']}:{line}`](../{path}#L{line}) `{match['name']}`"

    PAGE.write_text(_STEP.sub(renumber, PAGE.read_text()))


@contextmanager
def traced_calls() -> Iterator[list[tuple[str, str]]]:
    """Collect the file and qualified name of each project function called meanwhile."""
    calls: list[tuple[str, str]] = []
    root = f"{ROOT}/"

    def profile(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(root):
            calls.append((path.removeprefix(root), frame.f_code.co_qualname))

    before: tuple[Callable[..., Any] | None, ...] = (sys.getprofile(), threading.getprofile())
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield calls
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])


def first_step_out_of_order(steps: list[Step], calls: list[tuple[str, str]]) -> Step | None:
    """Return the first step that no call after those of the earlier steps matches, else None."""
    remaining = iter(calls)
    return next((step for step in steps if (step.path, step.name) not in remaining), None)


if __name__ == "__main__":
    update_lines()
