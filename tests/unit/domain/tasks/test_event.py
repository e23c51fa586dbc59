"""The event types are complete: the domain uses every one, and nobody writes one as a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from duecourse.domain.tasks.event import EVENT_FAMILIES, EventType

ROOT = Path(__file__).parents[4]
_LIST = "domain/tasks/event.py"
_TYPE = re.compile(rf"(?:{'|'.join(sorted(EVENT_FAMILIES))})[a-z_]+")


def nodes(*folders: str) -> Iterator[tuple[Path, ast.AST]]:
    """Every node of the Python files in these folders, but for the list of types itself."""
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        if not path.as_posix().endswith(_LIST):
            yield from ((path, node) for node in ast.walk(ast.parse(path.read_text())))


def test_the_domain_uses_every_type() -> None:
    used = {
        node.attr
        for _, node in nodes("layers/core/python/duecourse/domain")
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "EventType"
    }
    assert used == set(EventType.__members__)


def test_no_type_is_written_as_a_text() -> None:
    written = [
        f"{path}:{node.lineno} {node.value}"
        for path, node in nodes("layers", "functions", "local")
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _TYPE.fullmatch(node.value)
    ]
    assert written == []


def test_the_families_are_what_the_types_begin_with() -> None:
    assert sorted(EVENT_FAMILIES) == ["breaker:", "budget:", "task:"]
    assert EventType.TASK_FAILED.family == "task:"
