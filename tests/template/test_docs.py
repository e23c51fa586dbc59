"""The documentation is true: settings, links, make targets, policies and states."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.status import TRANSITIONS, Status

from local.runtime.template import ROOT, resources_of_type

ARROWS = [(start, end) for start, ends in TRANSITIONS.items() for end in sorted(ends)]


def _variables(template: dict[str, Any]) -> list[str]:
    functions = resources_of_type(template, "AWS::Lambda::Function").values()
    return sorted({name for one in functions for name in one["Environment"]["Variables"]})


def _targets() -> list[str]:
    return re.findall(r"^([^\s:]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


def _lifecycle() -> str:
    return (ROOT / "docs" / "lifecycle.md").read_text()


def _rows(heading: str) -> list[str]:
    """The table rows of one section of docs/settings.md."""
    page = (ROOT / "docs" / "settings.md").read_text()
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("| `")]


def test_every_environment_variable_is_in_the_settings_table(template: dict[str, Any]) -> None:
    rows = "".join(_rows("Environment variables of the functions"))

    assert [name for name in _variables(template) if f"`{name}`" not in rows] == []


def test_every_parameter_is_in_the_settings_table_with_its_default(
    template: dict[str, Any],
) -> None:
    cells = [[cell.strip() for cell in row.split("|")] for row in _rows("Template parameters")]
    documented = {
        name: default for _, names, default, *_ in cells for name in re.findall(r"`(\w+)`", names)
    }
    defaults = {name: str(one["Default"]) or "none" for name, one in template["Parameters"].items()}

    assert {name: documented.get(name) for name in defaults} == defaults


def _pages() -> list[Path]:
    names = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
    return [*(ROOT / name for name in names), *sorted((ROOT / "docs").rglob("*.md"))]


def _links(page: Path) -> list[tuple[Path, str]]:
    """The targets of a page's relative links, each with its anchor."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [target for target in targets if "://" not in target]
    return [
        ((page.parent / path).resolve() if path else page, anchor)
        for path, _, anchor in (target.partition("#") for target in local)
    ]


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page, or the lines of a file of code."""
    if page.suffix == ".py":
        return {f"L{number}" for number, _ in enumerate(page.read_text().splitlines(), start=1)}
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", _pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_has_a_target(page: Path) -> None:
    links = _links(page)

    assert [str(target) for target, _ in links if not target.exists()] == []
    assert [(t.name, anchor) for t, anchor in links if anchor and anchor not in _anchors(t)] == []


@pytest.mark.parametrize("folder", ["docs", "docs/decisions"])
def test_the_index_of_a_folder_links_every_page_of_it(folder: str) -> None:
    linked = {target for target, _ in _links(ROOT / folder / "README.md")}
    pages = {page for page in (ROOT / folder).glob("*.md") if page.name != "README.md"}

    assert pages
    assert pages <= linked


def test_make_help_lists_every_target() -> None:
    reply = subprocess.run(
        ["make", "--no-print-directory", "help"],  # noqa: S607 - whichever make is here
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    listed = [line.split()[0] for line in reply.stdout.splitlines() if line.strip()]

    assert listed == _targets()
    assert {"setup", "up", "test", "help"} <= set(listed)


def _delays(category: Category) -> str:
    """30s, 2m, 24h as people write them; an hour only from twelve on."""
    texts = []
    for delay in category.delays:
        seconds = round(delay.total_seconds())
        unit, size = ("h", 3600) if seconds >= 43200 else ("m", 60) if seconds >= 60 else ("s", 1)
        texts.append(f"{seconds // size}{unit}")
    return ", ".join(texts)


def test_the_failures_page_lists_the_policies() -> None:
    page = (ROOT / "docs" / "failures.md").read_text()
    agent, enrichment = (read_policies()[name].categories for name in ("agent", "enrichment"))
    rows = [
        f"| {one.name} | {one.limit} | {_delays(one)} |" for one in agent.values() if one.counts
    ]
    rows += [
        f"| {one.name} | yes | {one.subject_limit} | {_delays(one)}"
        for one in enrichment.values()
        if one.delays
    ]

    assert len(rows) == 11
    assert [row for row in rows if row not in page] == []


def test_the_failures_page_lists_the_kinds_with_what_clears_them() -> None:
    page = (ROOT / "docs" / "failures.md").read_text()
    section = page.partition("### Kinds\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith("| `")]
    listed = {row[0].strip("| `"): row[2].strip("`") for row in rows}
    assert listed == {str(kind): kind.clears_by or "–" for kind in Kind}
    assert all(row[3].strip(" |") for row in rows)


def test_the_lifecycle_page_names_every_status() -> None:
    assert [status for status in Status if f"`{status}`" not in _lifecycle()] == []


def test_the_lifecycle_page_lists_every_transition() -> None:
    arrows = [f"{start} → {end}" for start, end in ARROWS]

    assert [arrow for arrow in arrows if arrow not in _lifecycle()] == []


def test_the_lifecycle_page_lists_no_illegal_transition() -> None:
    names = "|".join(Status)
    documented = re.findall(rf"\b({names}) → ({names})\b", _lifecycle())

    assert set(documented) <= {(str(start), str(end)) for start, end in ARROWS}
