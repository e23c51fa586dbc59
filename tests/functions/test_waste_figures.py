"""The documents show what `make bench-waste` prints, and `standard` meets its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from bench.waste import compare_all, format_mixes
from bench.waste_report import Figures, read_page


@pytest.fixture(scope="module")
def mixes() -> Mapping[str, Sequence[Figures]]:
    return compare_all()


def _figures(tables: str) -> dict[tuple[str, str], list[float]]:
    """Return the three counts of each row, by the title of its table and its name."""
    found, title = {}, ""
    for line in tables.splitlines():
        name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if name.endswith(" mix"):
            title = name
        elif cells and cells[0][0].isdigit():
            found[title, name] = [float(cell.replace(",", "")) for cell in cells[:3]]
    return found


def test_the_documents_show_the_tables(mixes: Mapping[str, Sequence[Figures]]) -> None:
    shown, measured = _figures(read_page()), _figures("\n".join(format_mixes(mixes)))
    assert shown.keys() == measured.keys(), "python -m bench.waste --write"
    assert len(shown) == sum(len(figures) for figures in mixes.values())
    for row, (wasted, people, recovered) in measured.items():
        # Rules and corpus may change a little without new tables.
        expected = [
            pytest.approx(wasted, rel=0.05, abs=20),
            pytest.approx(people, rel=0.05, abs=20),
            pytest.approx(recovered, abs=0.02),
        ]
        assert shown[row] == expected, f"{row}: python -m bench.waste --write"


@pytest.mark.parametrize(
    ("mix", "figure", "least", "most"),
    [
        ("agent mix", "wasted", 0, 900),
        ("agent mix", "recovered", 0.97, 1),
        ("provider mix", "wasted", 0, 220),
        ("provider mix", "median_without_people", 0, 600),
    ],
)
def test_standard_meets_its_targets(
    mixes: Mapping[str, Sequence[Figures]], mix: str, figure: str, least: float, most: float
) -> None:
    (standard,) = (one for one in mixes[mix] if one.strategy == "policy `standard`")
    assert least <= getattr(standard, figure) <= most
