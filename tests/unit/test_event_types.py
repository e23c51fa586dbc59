"""The list of event types is whole: whatever the domain tells of is in it, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from duecourse import domain
from duecourse.domain.event_types import EVENT_FAMILIES, EVENT_TYPES

_TYPE = re.compile(r"(?:task|budget|breaker):[a-z_]+")
_LIST = "event_types.py"


def _told() -> set[str]:
    """Every text of the domain that is the type of an event."""
    [folder] = map(Path, domain.__path__)
    trees = [ast.parse(path.read_text()) for path in folder.glob("*.py") if path.name != _LIST]
    texts = [
        node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)
    ]
    return {text for text in texts if isinstance(text, str) and _TYPE.fullmatch(text)}


def test_every_event_that_the_domain_tells_of_is_listed() -> None:
    assert _told() == EVENT_TYPES


def test_the_families_are_what_the_types_begin_with() -> None:
    assert sorted(EVENT_FAMILIES) == ["breaker:", "budget:", "task:"]
