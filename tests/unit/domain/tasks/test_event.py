"""EventType is complete: the domain uses every member, and no code writes one as a string."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from duecourse.domain.tasks.event import EVENT_FAMILIES, EventType

ROOT = Path(__file__).parents[4]
_EVENT_MODULE = "domain/tasks/event.py"
_TYPE = re.compile(rf"(?:{'|'.join(sorted(EVENT_FAMILIES))})[a-z_]+")


def ast_nodes(*folders: str) -> Iterator[tuple[Path, ast.AST]]:
    """Yield every AST node of the Python files in the folders, except the module of EventType."""
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        if not path.as_posix().endswith(_EVENT_MODULE):
            yield from ((path, node) for node in ast.walk(ast.parse(path.read_text())))


def test_the_domain_uses_every_event_type() -> None:
    used = {
        node.attr
        for _, node in ast_nodes("layers/core/python/duecourse/domain")
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "EventType"
    }
    assert used == set(EventType.__members__)


def test_no_event_type_is_written_as_a_string_literal() -> None:
    literals = [
        f"{path}:{node.lineno} {node.value}"
        for path, node in ast_nodes("layers", "functions", "local")
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _TYPE.fullmatch(node.value)
    ]
    assert literals == []


def test_event_families_are_the_prefixes_of_the_types() -> None:
    assert sorted(EVENT_FAMILIES) == ["breaker:", "budget:", "task:"]
    assert EventType.TASK_FAILED.family == "task:"
