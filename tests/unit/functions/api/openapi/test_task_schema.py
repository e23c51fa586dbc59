"""The API describes the fields of a task that it shows, and no others."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.requests.json import PUBLIC_FIELDS

from functions.api.http.task_response import show_task
from functions.api.openapi.examples import EXAMPLES
from functions.api.openapi.schemas.registry import SCHEMAS
from tests.support.builders.tasks import a_task

RESPONSE_FIELDS = list(show_task(a_task(), blocked_for=timedelta(0)))


@pytest.mark.parametrize(("shape", "more"), [("Task", []), ("RunningTask", ["started_at"])])
def test_the_schema_lists_the_response_fields_in_order(shape: str, more: list[str]) -> None:
    assert list(SCHEMAS[shape]["properties"]) == [*RESPONSE_FIELDS, *more]


def test_every_public_field_is_in_the_response_and_the_example() -> None:
    assert set(PUBLIC_FIELDS) <= set(RESPONSE_FIELDS)
    assert list(EXAMPLES["Task"]) == RESPONSE_FIELDS
