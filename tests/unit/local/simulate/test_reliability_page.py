"""The page about reliability names everything that the simulation has."""

from __future__ import annotations

import pytest

from local.runtime.template import ROOT
from local.simulate.fault_texts import FAULT_TEXTS
from local.simulate.invariants import INVARIANT_NAMES
from local.simulate.plan import ALL_FAULTS

PAGE = (ROOT / "docs" / "reliability.md").read_text()


@pytest.mark.parametrize("name", sorted(INVARIANT_NAMES))
def test_every_invariant_is_in_the_table_of_promises(name: str) -> None:
    table = PAGE.partition("## Promises and invariants")[2].partition("## Faults")[0]
    assert name in table


@pytest.mark.parametrize("name", sorted(ALL_FAULTS))
def test_every_fault_is_explained_on_the_page_and_in_stories(name: str) -> None:
    table = PAGE.partition("## Faults")[2].partition("## Add to it")[0]
    assert f"`{name}`" in table
    assert name in FAULT_TEXTS
