"""Which code this is: two containers of the same version run the very same files.

layers/core/Makefile writes the fingerprint of the core beside it, so that no cold start reads all
of its files for that. Nothing but the standard library is needed here: the build has nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from duecourse import __version__

CORE = Path(__file__).parents[2]
BUILD = "BUILD"
_CODE = frozenset({".py", ".toml"})
_SHOWN = 12


def code_version(*parts: Path) -> str:
    """Of all these folders (or single files), in this order: 0.1.0+5d41402abc4b."""
    together = hashlib.sha256("".join(_known_or_read(part) for part in parts).encode())
    return f"{__version__}+{together.hexdigest()[:_SHOWN]}"


def fingerprint(part: Path) -> str:
    """It changes with the name and the content of every file of code, and with nothing else."""
    digest = hashlib.sha256()
    for path in sorted(_files(part)):
        name = path.relative_to(part).as_posix().encode()
        content = path.read_bytes()
        # Lengths keep apart what would read the same: a name's end, and a file's.
        digest.update(b"%d %d " % (len(name), len(content)) + name + content)
    return digest.hexdigest()


def write_build(folder: Path = CORE) -> None:
    (folder / BUILD).write_text(fingerprint(folder))


def _known_or_read(part: Path) -> str:
    try:
        return (part / BUILD).read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return fingerprint(part)


def _files(part: Path) -> Iterator[Path]:
    if part.is_file():
        yield part
    yield from (path for path in part.rglob("*") if path.suffix in _CODE and path.is_file())
