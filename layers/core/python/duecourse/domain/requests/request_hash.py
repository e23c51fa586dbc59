"""Hashes that tell whether two requests with the same idempotency key are the same request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from duecourse.domain.requests.new_task import NewTask


def hash_json(request: Mapping[str, Any]) -> str:
    """Return the hash of a JSON request. It is stored with the task and must never change."""
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


def hash_new_task(new_task: NewTask) -> str:
    """Return the hash of a request that was built in code. Fields that are None do not count."""
    values = asdict(new_task, dict_factory=_without_none)
    return hash_json(json.loads(json.dumps(values, default=str)))


def _without_none(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Leave fields out that are None, so that a field added later changes no hash."""
    return {name: value for name, value in items if value is not None}
