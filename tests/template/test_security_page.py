"""Every promise of docs/security.md names a test that exists."""

from __future__ import annotations

import re

from local.runtime.template import ROOT

_TEST = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def _rows() -> list[str]:
    page = (ROOT / "docs" / "security.md").read_text()
    return [
        line
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith("| promise")
    ]


def test_every_promise_names_a_test() -> None:
    assert [row for row in _rows() if not _TEST.search(row)] == []


def test_every_named_test_exists() -> None:
    named = [match for row in _rows() for match in _TEST.findall(row)]
    missing = [
        (path, name)
        for path, name in named
        if not (ROOT / path).is_file() or f"def {name}" not in (ROOT / path).read_text()
    ]

    assert missing == []
