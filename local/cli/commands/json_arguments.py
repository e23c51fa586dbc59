"""Parse flags that contain JSON, or name a file with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from local.cli.errors import UsageError


def parse_json_object(text: str, *, flag: str) -> dict[str, Any]:
    """Return the object. Raises UsageError naming the flag."""
    return _require_object(_parse_json(text, flag), flag)


def parse_json_object_or_file(text: str, *, flag: str) -> dict[str, Any]:
    """Return the object in `text`, in the file `@name`, or in standard input (`@-`).

    Raises UsageError naming the flag.
    """
    if not text.startswith("@"):
        return parse_json_object(text, flag=flag)
    if text == "@-":
        return _require_object(_parse_json(sys.stdin.buffer.read(), f"{flag} {text}"), flag)
    return _require_object(read_json_file(Path(text[1:]), flag=flag), flag)


def read_json_file(path: Path, *, flag: str) -> Any:
    """Return the file's JSON. Raises UsageError naming the flag and the file."""
    try:
        return _parse_json(path.read_bytes(), f"{flag} {path}")
    except OSError as error:
        raise UsageError(f"{flag} {path}: {error.strerror}") from None


def _parse_json(text: str | bytes, label: str) -> Any:
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise UsageError(f"{label} is not JSON: it is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{label} is not JSON: {error}") from None


def _require_object(value: Any, flag: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{flag} must be a JSON object")
    return value
