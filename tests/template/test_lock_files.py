"""Every package that is installed is pinned, and checked against the hashes of the lock file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local.runtime.template import ROOT

LOCK_FILES = sorted([*ROOT.glob("requirements*.txt"), ROOT / "layers/deps/requirements.txt"])
every_lock_file = pytest.mark.parametrize(
    "path", LOCK_FILES, ids=lambda path: str(path.relative_to(ROOT))
)


def _requirements(path: Path) -> list[str]:
    """Return the requirements of a lock file, each with its hashes."""
    return path.read_text().replace("\\\n", "").strip().splitlines()


@every_lock_file
def test_every_package_is_pinned_with_hashes(path: Path) -> None:
    found = _requirements(path)

    assert found
    for requirement in found:
        assert re.match(r"[\w.-]+==[\w.]+ ", requirement), requirement
        assert re.findall(r"--hash=sha256:[0-9a-f]{64}(?: |$)", requirement), requirement


@every_lock_file
def test_a_lock_file_has_what_was_asked_for(path: Path) -> None:
    asked = [
        re.split(r"[\[=<> #]", line)[0]
        for line in path.with_suffix(".in").read_text().splitlines()
        if line and not line.startswith("-r")
    ]
    pinned = {re.split(r"[\[=]", one)[0].lower() for one in _requirements(path)}

    assert [name for name in asked if name.lower() not in pinned] == []


def test_nothing_is_installed_without_its_hash() -> None:
    makefiles = [ROOT / "Makefile", ROOT / "layers/deps/Makefile"]
    text = "\n".join(path.read_text() for path in makefiles).replace("\\\n", " ")
    is_install = re.compile(r"install.*\s-r\s|\(INSTALL\)").search
    installs = [line.strip() for line in text.splitlines() if is_install(line)]

    assert len(installs) == 6
    assert "INSTALL := $(PIP) install --require-hashes --no-deps" in text
    for line in installs:
        assert "$(INSTALL)" in line or "--require-hashes" in line, line
