"""Classes, functions, parameters, constants and modules have names that a stranger understands.

No pronoun, no metaphor, no bare participle, no name that could hold anything; in tests as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from local.runtime.template import ROOT

SOURCES = ("layers/core/python/duecourse", "functions", "local", "bench", "docs/examples")
TESTS = tuple(
    f"tests/{folder}"
    for folder in (
        *("support", "contract", "functions", "properties"),
        *("template", "cli", "simulation", "browser", "unit"),
    )
)
METAPHORS = frozenset(
    {
        *("court", "verdictbook", "crier", "undertaker", "clerk", "herald", "follower", "mender"),
        *("desk", "chatdesk", "mailroom", "audience", "instruments", "testimony", "manner"),
        *("knock", "rung", "saying", "panel", "offer", "poster", "pusher", "conductor"),
        *("book", "books", "inbox", "tally", "doubt", "indoubt", "in_doubt"),
    }
)
PRONOUNS_AND_PARTICIPLES = frozenset(
    {
        *("told", "kept", "said", "meant", "shown", "given", "heard", "taken", "spoken", "itself"),
        *("described", "registered", "offered", "parts", "asked", "found", "made", "done", "seen"),
        *("claimed", "parked", "committed", "reached", "undelivered", "vanished", "followed"),
        *("cancelled", "paused", "resumed", "retried", "snoozed", "edited", "resolved", "mended"),
        *("rejudged", "reopened", "answered", "varying", "folded", "walk", "news", "notice"),
        *("ran", "looked", "wish", "mine", "theirs", "hear", "concerns", "together", "telling"),
        *("notices", "shipped"),
    }
)
PHRASES = frozenset(
    {
        *("let_through", "let_go", "let_in", "hold_back", "bring_about", "tell_others", "find_out"),
        *("kept_from_running", "run_to_try_again", "has_vanished", "send_back", "lost_a_race"),
        *("replaces_the_one_before", "repeat_is_harmless", "is_told", "mark_of", "said_to_be"),
        *("asked_at", "owner_asked_at", "wanted_at", "waits_for", "as_of", "sent_on"),
        *("blocked_hours", "verification_hours", "lateness_seconds", "team_handlers"),
    }
)
PREFIXES = ("kept_", "shipped_", "told_", "said_")
BANNED_NAMES = METAPHORS | PRONOUNS_AND_PARTICIPLES | PHRASES
BANNED_MODULES = BANNED_NAMES | {"utils", "helpers", "common", "base", "manager", "misc"}
# Inside the name of a test, where a sentence about behaviour has an actor and a verb.
BANNED_WORDS = frozenset({"told", "heard", "whoever", "anew", "parked", "wish", "saying", "hears"})
ALLOWED = {
    # The parsed form of the chat command /done; each such class is named for its command.
    "layers/core/python/duecourse/domain/chat/commands.py Done",
}
# RFC 5545 calls FREQ, BYDAY and the like the parts of a rule; a path and a duration have parts too.
TERMS_FOR_VALUES = {"parts"}
Names = Callable[[ast.Module], Iterator[tuple[int, str]]]


def _files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def _definitions(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.lineno, node.name


def _parameters(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.arg not in TERMS_FOR_VALUES:
            yield node.lineno, node.arg


def _module_values(tree: ast.Module) -> Iterator[tuple[int, str]]:
    assignments = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    targets = chain.from_iterable(
        node.targets if isinstance(node, ast.Assign) else [node.target] for node in assignments
    )
    for node in chain.from_iterable(ast.walk(target) for target in targets):
        if isinstance(node, ast.Name) and node.id.lower() not in TERMS_FOR_VALUES:
            yield node.lineno, node.id


def _variables(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


@cache
def _names_of(path: Path) -> dict[Names, list[tuple[int, str]]]:
    """Return the names of each kind. Every file is parsed once for all tests."""
    tree = ast.parse(path.read_text())
    kinds: tuple[Names, ...] = (_definitions, _parameters, _module_values, _variables)
    return {kind: list(kind(tree)) for kind in kinds}


def _is_banned(name: str) -> bool:
    plain = name.strip("_").lower()
    return plain in BANNED_NAMES or plain.startswith(PREFIXES)


def _banned(names: Names) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in _files(*SOURCES, *TESTS)
        for line, name in _names_of(path)[names]
        if _is_banned(name) and f"{path.relative_to(ROOT)} {name}" not in ALLOWED
    ]


@pytest.mark.parametrize("folder", [*SOURCES, *TESTS])
def test_every_folder_has_files_to_check(folder: str) -> None:
    assert _files(folder)


# Short-lived variables may be participles that say what happened, such as `found` and `claimed`.
VAGUE_VARIABLES = frozenset(
    {
        *("told", "kept", "said", "meant", "heard", "theirs", "mine", "wish", "looked", "ran"),
        *("asked", "gone", "spoken", "taken", "given", "shown"),
    }
)


def test_no_variable_of_the_sources_is_a_pronoun_or_a_verb_of_speech() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in _files(*SOURCES)
        for line, name in _names_of(path)[_variables]
        if name in VAGUE_VARIABLES
    ] == []


@pytest.mark.parametrize("names", [_definitions, _parameters, _module_values])
def test_no_name_is_banned(names: Names) -> None:
    assert _banned(names) == []


def test_no_test_name_contains_a_banned_word() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in _files(*TESTS)
        for line, name in _names_of(path)[_definitions]
        if BANNED_WORDS & set(name.lower().split("_"))
    ] == []


def test_no_module_has_a_banned_name() -> None:
    files = _files(*SOURCES, *TESTS)
    names = {path: path.parent.name if path.stem == "__init__" else path.stem for path in files}
    assert [
        str(path)
        for path, name in names.items()
        if name.removeprefix("test_") in BANNED_MODULES or name.startswith(PREFIXES)
    ] == []


@pytest.mark.parametrize(
    "name", ["_told", "Crier", "Court", "let_through", "_kept", "Undertaker", "kept_tokens", "RAN"]
)
def test_the_names_of_the_first_edition_are_banned(name: str) -> None:
    assert _is_banned(name)


def test_each_kind_of_name_is_read() -> None:
    tree = ast.parse("A, b = 1, 2\nc: int = 3\nclass D:\n def e(self, f, *, g): return lambda h: h")
    assert [name for _, name in _definitions(tree)] == ["D", "e"]
    assert sorted(name for _, name in _parameters(tree)) == ["f", "g", "h", "self"]
    assert [name for _, name in _module_values(tree)] == ["A", "b", "c"]
