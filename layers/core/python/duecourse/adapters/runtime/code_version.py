"""The version of the running code: the same version means the same files.

layers/core/Makefile stores the core's fingerprint in a BUILD file, so a cold start does not have to
read all files. This module uses only the standard library, because the build has nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from duecourse.version import __version__

CORE_FOLDER = Path(__file__).parents[2]
BUILD_FILE = "BUILD"
_CODE_SUFFIXES = frozenset({".py", ".toml"})
_DIGEST_LENGTH = 12


def code_version(*paths: Path) -> str:
    """Return the version of these folders or files, in this order, such as 0.1.0+5d41402abc4b."""
    digest = hashlib.sha256("".join(_read_or_compute_fingerprint(part) for part in paths).encode())
    return f"{__version__}+{digest.hexdigest()[:_DIGEST_LENGTH]}"


def fingerprint(root: Path) -> str:
    """Return a hash of the names and contents of all code files below `root`."""
    digest = hashlib.sha256()
    for path in sorted(_code_files(root)):
        name = path.relative_to(root).as_posix().encode()
        content = path.read_bytes()
        # The lengths mark where a name ends and a content begins.
        digest.update(b"%d %d " % (len(name), len(content)) + name + content)
    return digest.hexdigest()


def write_build_file(folder: Path = CORE_FOLDER) -> None:
    (folder / BUILD_FILE).write_text(fingerprint(folder))


def read_build_fingerprint(folder: Path = CORE_FOLDER) -> str | None:
    """Return the fingerprint that the build stored, or None outside a build."""
    try:
        return (folder / BUILD_FILE).read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _read_or_compute_fingerprint(path: Path) -> str:
    return read_build_fingerprint(path) or fingerprint(path)


def _code_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    yield from (
        path for path in root.rglob("*") if path.suffix in _CODE_SUFFIXES and path.is_file()
    )
