"""The build stores the parsed policies. They are used only with the files and code they are of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from duecourse.adapters.runtime import policy_files
from duecourse.adapters.runtime.policy_files import (
    BUILTIN_FOLDER,
    PARSED_FILE,
    read_policies,
    write_parsed_policies,
)
from duecourse.domain.failures.policy_loader import load_policies


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    built = Path(copytree(BUILTIN_FOLDER, tmp_path / "policies"))
    write_parsed_policies(built)
    read_policies.cache_clear()
    yield built
    read_policies.cache_clear()


def _count_parsing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    calls: list[int] = []

    def count(texts: dict[str, str], measured: dict[str, list[str]]) -> object:
        calls.append(len(texts))
        return load_policies(texts, measured)

    monkeypatch.setattr(policy_files, "load_policies", count)
    return calls


def test_stored_policies_are_read_without_parsing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = read_policies(BUILTIN_FOLDER)
    calls = _count_parsing(monkeypatch)

    stored = read_policies(folder)

    assert calls == []
    assert stored.keys() == parsed.keys()
    for name, policy in parsed.items():
        assert stored[name].categories == policy.categories
        assert [rule.id for rule in stored[name].rules] == [rule.id for rule in policy.rules]
        assert [rule.phrases for rule in stored[name].rules] == [r.phrases for r in policy.rules]


def test_policies_stored_from_other_files_are_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = folder / "agent.toml"
    changed.write_text(changed.read_text().replace("max_retries = 5", "max_retries = 4"))
    calls = _count_parsing(monkeypatch)

    assert read_policies(folder)["agent"].max_retries == 4
    assert len(calls) == 1


def test_policies_stored_by_other_code_are_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policy_files, "read_build_fingerprint", lambda: "another build")
    calls = _count_parsing(monkeypatch)

    read_policies(folder)

    assert len(calls) == 1


def test_the_source_tree_has_no_stored_policies() -> None:
    assert not (BUILTIN_FOLDER / PARSED_FILE).exists()
