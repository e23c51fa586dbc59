"""`duecourse classify`: read one failure per line, write one diagnosis per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy
from duecourse.domain.tasks.failure_kind import kind_to_json


def classify_lines(lines: Iterable[str], policy: Policy) -> Iterator[str]:
    """Yield the diagnoses in order. Raises ValueError naming the line and the field."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            fields = _parse_line(line, number)
            evidence = {name: fields.get(name) for name in ("type", "code", "status")}
            failure = Failure.create(fields.get("message") or "", **evidence)
            yield json.dumps(_to_json(fields.get("id"), diagnose(failure, policy)))


def _parse_line(line: str, number: int) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise ValueError(f"line {number} must be a JSON object")
    if problem := _find_problem(fields):
        raise ValueError(f"line {number}: {problem}")
    return fields


def _find_problem(fields: dict[str, Any]) -> str | None:
    # The message may be missing.
    if not isinstance(fields.get("message"), str | None):
        return "message must be a string"
    for name in ("type", "code"):
        # Some providers use numeric codes.
        if not isinstance(fields.get(name), str | int | None) or isinstance(fields.get(name), bool):
            return f"{name} must be a string"
    status = fields.get("status")
    if not isinstance(status, int | None) or isinstance(status, bool):
        return "status must be an integer"
    return None


def _to_json(line_id: Any, diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "id": line_id,
        "category": diagnosis.category,
        **kind_to_json(diagnosis.kind),
        "likely": diagnosis.likely.to_json() if diagnosis.likely else None,
        "confidence": diagnosis.confidence,
        "pattern": diagnosis.pattern,
        "location": diagnosis.location.to_json() if diagnosis.location else None,
    }
