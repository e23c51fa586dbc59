"""The version of the code: it changes with the code, and with nothing else."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from duecourse.adapters.runtime.code_version import (
    BUILD_FILE,
    CORE_FOLDER,
    code_version,
    fingerprint,
)
from duecourse.version import __version__

from local.runtime.template import ROOT


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "code" / "sub").mkdir(parents=True)
    (tmp_path / "code" / "one.py").write_text("a = 1\n")
    (tmp_path / "code" / "sub" / "two.py").write_text("b = 2\n")
    (tmp_path / "code" / "sub" / "rules.toml").write_text("c = 3\n")
    return tmp_path / "code"


def test_the_version_is_the_release_and_twelve_digits_of_the_code_hash(folder: Path) -> None:
    assert re.fullmatch(re.escape(__version__) + r"\+[0-9a-f]{12}", code_version(folder))


@pytest.mark.parametrize("file", ["one.py", "sub/two.py", "sub/rules.toml"])
def test_a_changed_file_changes_the_version(folder: Path, file: str) -> None:
    before = code_version(folder)
    (folder / file).write_text("z = 9\n")
    assert code_version(folder) != before


def test_a_new_empty_file_changes_the_version(folder: Path) -> None:
    before = code_version(folder)
    (folder / "three.py").touch()
    assert code_version(folder) != before


def test_a_renamed_file_changes_the_version(folder: Path) -> None:
    before = code_version(folder)
    (folder / "one.py").rename(folder / "uno.py")
    assert code_version(folder) != before


def test_moving_text_from_a_name_to_a_content_changes_the_version(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, name, content in [(one, "a.py", "b.py"), (other, "a.pyb.py", "")]:
        folder.mkdir()
        (folder / name).write_text(content)
    assert fingerprint(one) != fingerprint(other)


def test_bytecode_and_the_path_of_the_folder_do_not_change_the_version(folder: Path) -> None:
    before = code_version(folder)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "one.cpython-311.pyc").write_bytes(b"\0")
    assert code_version(folder.rename(folder.parent / "elsewhere")) == before


def test_every_folder_affects_the_version(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "handlers"
    other.mkdir()
    assert len({code_version(folder), code_version(folder, other), code_version(other)}) == 3


def test_a_single_file_can_replace_a_folder(folder: Path) -> None:
    before = code_version(folder / "one.py")
    (folder / "sub" / "two.py").write_text("z = 9\n")
    assert code_version(folder / "one.py") == before
    (folder / "one.py").write_text("z = 9\n")
    assert code_version(folder / "one.py") != before


def test_the_fingerprint_written_by_the_build_replaces_the_files(folder: Path) -> None:
    before = code_version(folder)
    (folder / BUILD_FILE).write_text(fingerprint(folder) + "\n")
    assert code_version(folder) == before
    (folder / "one.py").write_text("never read\n")
    assert code_version(folder) == before


def test_the_build_of_the_layer_writes_the_fingerprint_of_the_core(tmp_path: Path) -> None:
    subprocess.run(  # noqa: S603 - our own Makefile
        ["make", "-s", "build-CoreLayer", f"ARTIFACTS_DIR={tmp_path}"],  # noqa: S607 - likewise
        cwd=ROOT / "layers" / "core",
        check=True,
        timeout=120,
    )
    built = tmp_path / "python" / "duecourse"

    assert (built / BUILD_FILE).read_text() == fingerprint(CORE_FOLDER)
    assert code_version(built) == code_version(CORE_FOLDER)
