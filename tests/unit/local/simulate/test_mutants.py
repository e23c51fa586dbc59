"""Every planted bug can be planted. `make simulate-mutants` shows that each is found."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from local.simulate.mutants import MUTANTS
from local.simulate.source_edit import SourceEdit, SourceEditError


def read_source(module: str) -> str:
    loader: Any = getattr(find_spec(module), "loader", None)
    source: str = loader.get_source(module)
    return source


@pytest.mark.parametrize("name", MUTANTS)
def test_the_edit_of_a_mutant_applies_and_compiles(name: str) -> None:
    edit = MUTANTS[name].edit
    source = read_source(edit.module)
    edited = edit.apply(source)
    compile(edited, edit.module, "exec")
    assert edited != source


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_in_the_product(name: str) -> None:
    assert MUTANTS[name].edit.module.partition(".")[0] in ("duecourse", "functions")


def test_no_mutant_is_planted_twice() -> None:
    edits = [one.edit for one in MUTANTS.values()]
    assert len(set(edits)) == len(edits)


@pytest.mark.parametrize("source", ["", "a b a"])
def test_a_text_that_does_not_occur_once_is_refused(source: str) -> None:
    with pytest.raises(SourceEditError, match=r"x: 'a' occurs [02] times, not once"):
        SourceEdit("x", "a", "b").apply(source)
