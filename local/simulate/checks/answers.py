"""Invariants of what leaves the stack: answers, messages and log lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from http import HTTPStatus

from local.simulate.actor import Answer
from local.simulate.observed import Observed
from local.simulate.workload.create_operations import CANARY


def no_unexplained_5xx(observed: Observed) -> Iterator[str | None]:
    for answer in observed.answers:
        is_error = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        is_explained = not is_error or answer.was_struck or _is_about_newer(answer, observed)
        line = f"{answer.method} {answer.target} answered {answer.status}: {answer.body}"
        yield None if is_explained else line


def _is_about_newer(answer: Answer, observed: Observed) -> bool:
    """Return whether the answer says that a task which newer code stored cannot be read."""
    text = json.dumps(answer.body)
    names_one = any(f"cannot read task {one}" in text for one in observed.newer_ids)
    return names_one and answer.status == HTTPStatus.SERVICE_UNAVAILABLE


def no_secret_answered(observed: Observed) -> Iterator[str | None]:
    for answer in observed.answers:
        is_secret = CANARY in json.dumps(answer.body)
        yield f"{answer.method} {answer.target}: {answer.body}" if is_secret else None
    for record in observed.records.values():
        text = json.dumps(asdict(record))
        yield f"task {record.name}: {text}" if CANARY in text else None


def no_secret_sent(observed: Observed) -> Iterator[str | None]:
    for one in observed.sent:
        yield f"{one.target} got: {one.content.text}" if CANARY in one.content.text else None


def no_secret_logged(observed: Observed) -> Iterator[str | None]:
    for line in observed.log_lines:
        yield line if CANARY in line else None
