"""Classes, functions and modules have names that a stranger understands: no pronoun, no metaphor,
no bare participle, no name that could hold anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.runtime.template import ROOT

SOURCES = ("layers/core/python/duecourse", "functions", "local", "bench")
METAPHORS = frozenset(
    {
        *("court", "verdictbook", "crier", "undertaker", "clerk", "herald", "follower", "mender"),
        *("desk", "chatdesk", "mailroom", "audience", "instruments", "testimony", "manner"),
        *("knock", "rung", "saying", "panel", "offer", "poster", "pusher", "conductor"),
    }
)
PRONOUNS_AND_PARTICIPLES = frozenset(
    {
        *("told", "kept", "said", "meant", "shown", "given", "heard", "taken", "spoken", "itself"),
        *("described", "registered", "offered", "parts", "asked", "found", "made", "done", "seen"),
        *("claimed", "parked", "committed", "reached", "undelivered", "vanished", "followed"),
        *("cancelled", "paused", "resumed", "retried", "snoozed", "edited", "resolved", "mended"),
        *("rejudged", "reopened", "answered", "varying", "folded", "walk", "news", "notice"),
    }
)
PHRASES = frozenset({"let_through", "let_go", "let_in", "hold_back", "bring_about", "tell_others"})
BANNED_NAMES = METAPHORS | PRONOUNS_AND_PARTICIPLES | PHRASES
# The parsed form of the chat command /done; each such class is named for its command.
ALLOWED = {"layers/core/python/duecourse/domain/chat/commands.py Done"}
BANNED_MODULES = BANNED_NAMES | {"utils", "helpers", "common", "base", "manager", "misc"}


def _files() -> list[Path]:
    return sorted(path for source in SOURCES for path in (ROOT / source).rglob("*.py"))


def _definitions(tree: ast.Module) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    yield from (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef | ast.FunctionDef))


def _is_banned(name: str) -> bool:
    return name.strip("_").lower() in BANNED_NAMES


def test_there_are_files_to_look_at() -> None:
    assert len(_files()) > 300


def test_no_class_or_function_has_a_name_that_says_nothing() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
        for path in _files()
        for node in _definitions(ast.parse(path.read_text()))
        if _is_banned(node.name) and f"{path.relative_to(ROOT)} {node.name}" not in ALLOWED
    ]
    assert found == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {path: path.parent.name if path.stem == "__init__" else path.stem for path in _files()}
    assert [str(path) for path, name in names.items() if name in BANNED_MODULES] == []


@pytest.mark.parametrize("name", ["_told", "Crier", "Court", "let_through", "_kept", "Undertaker"])
def test_the_names_of_the_first_edition_would_be_found(name: str) -> None:
    assert _is_banned(name)
