"""Which code this is: two containers of the same version run the very same files.

layers/core/Makefile writes the fingerprint of the core beside it, so that no cold start reads all
of its files for that. Nothing but the standard library is needed here: the build has nothing else.
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
    """Of all these folders (or single files), in this order: 0.1.0+5d41402abc4b."""
    together = hashlib.sha256(
        "".join(_read_or_compute_fingerprint(part) for part in paths).encode()
    )
    return f"{__version__}+{together.hexdigest()[:_DIGEST_LENGTH]}"


def fingerprint(root: Path) -> str:
    """It changes with the name and the content of every file of code, and with nothing else."""
    digest = hashlib.sha256()
    for path in sorted(_code_files(root)):
        name = path.relative_to(root).as_posix().encode()
        content = path.read_bytes()
        # Lengths keep apart what would read the same: a name's end, and a file's.
        digest.update(b"%d %d " % (len(name), len(content)) + name + content)
    return digest.hexdigest()


def write_build_file(folder: Path = CORE_FOLDER) -> None:
    (folder / BUILD_FILE).write_text(fingerprint(folder))


def _read_or_compute_fingerprint(path: Path) -> str:
    try:
        return (path / BUILD_FILE).read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return fingerprint(path)


def _code_files(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
    yield from (
        path for path in root.rglob("*") if path.suffix in _CODE_SUFFIXES and path.is_file()
    )
