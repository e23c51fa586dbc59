"""The files of the dashboard and the playground: short, complete and without unsafe markup."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[4]
DASHBOARD = ROOT / "functions" / "api" / "dashboard"
PLAYGROUND = ROOT / "local" / "playground"
FILES = sorted([*DASHBOARD.iterdir(), *PLAYGROUND.iterdir()])
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
LONGEST = 250
_UNSAFE_CALLS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|srcdoc"
    r"|setHTML|createContextualFragment|DOMParser|createPolicy|javascript:"
)
_IMPORTED = re.compile(r'(?:from|import) "([^"]+)"')
_OUTSIDE = re.compile(r"(?:https?:|wss?:)?//(?!www\.w3\.org/2000/svg)[a-z0-9-]+\.[a-z]", re.I)


def test_the_folders_contain_files() -> None:
    assert len(SCRIPTS) > 10
    assert len(FILES) > len(SCRIPTS)


def test_a_file_is_short_and_names_no_other_host() -> None:
    lengths = {path.name: len(path.read_text().splitlines()) for path in FILES}
    hosts = {path.name: _OUTSIDE.findall(path.read_text()) for path in FILES}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
    assert {name: found for name, found in hosts.items() if found} == {}


def test_no_script_builds_markup_or_code_from_text() -> None:
    ways = {path.name: _UNSAFE_CALLS.findall(path.read_text()) for path in SCRIPTS}
    assert {name: found for name, found in ways.items() if found} == {}


def test_every_imported_script_exists() -> None:
    imports = [(path, one) for path in SCRIPTS for one in _IMPORTED.findall(path.read_text())]
    assert imports
    for path, imported in imports:
        assert imported.startswith("./"), (path.name, imported)
        assert (path.parent / imported).is_file(), (path.name, imported)


def test_every_script_is_imported() -> None:
    """Each script is imported by the page, or by the module that the local stack names."""
    reached: set[str] = set()
    ahead = [DASHBOARD / "main.js", PLAYGROUND / "playground.js"]
    while ahead:
        path = ahead.pop()
        if path.name not in reached:
            reached.add(path.name)
            ahead += [path.parent / one for one in _IMPORTED.findall(path.read_text())]
    assert reached == {path.name for path in SCRIPTS}


def test_the_page_complies_with_its_content_security_policy() -> None:
    page = (DASHBOARD / "index.html").read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)
    assert re.findall(r"<script\b[^>]*>(.*?)</script>", page, re.DOTALL) == [""]
    for name in re.findall(r'(?:src|href)="(assets/[^"]+)"', page):
        assert (DASHBOARD / Path(name).name).is_file(), name
