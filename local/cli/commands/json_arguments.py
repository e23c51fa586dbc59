"""JSON that a flag gives, or names the file of."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from local.cli.errors import UsageError


def json_object(text: str, *, flag: str) -> dict[str, Any]:
    """Raises UsageError naming the flag."""
    return _object(_loaded(text, flag), flag)


def json_object_or_file(text: str, *, flag: str) -> dict[str, Any]:
    """`@name` is a file, `@-` standard input. Raises UsageError naming the flag."""
    if not text.startswith("@"):
        return json_object(text, flag=flag)
    if text == "@-":
        return _object(_loaded(sys.stdin.buffer.read(), f"{flag} {text}"), flag)
    return _object(json_in_file(Path(text[1:]), flag=flag), flag)


def json_in_file(path: Path, *, flag: str) -> Any:
    """Raises UsageError naming the flag and the file."""
    try:
        return _loaded(path.read_bytes(), f"{flag} {path}")
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}") from None


def _loaded(text: str | bytes, where: str) -> Any:
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise UsageError(f"{where}: is not JSON: it is no text") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where}: is not JSON: {error}") from None


def _object(value: Any, flag: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{flag}: must be a JSON object")
    return value
