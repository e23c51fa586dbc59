"""A new API token is in nothing that is stored, listed or logged."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token
from duecourse.domain.failures.failure import Failure
from duecourse.domain.journal.failure_events import error_detail
from duecourse.domain.journal.run_record import to_logged_error
from duecourse.domain.requests.json import task_to_json
from duecourse.domain.text.redact_json import redact_json

from tests.support.builders.failures import a_run_record, fail_task
from tests.support.builders.tasks import a_task, claim_task

TOKEN = format_token(bytes(range(ENTROPY_BYTES)))
TEXTS = [
    TOKEN,
    f"HTTP 401 for Authorization: Bearer {TOKEN}",
    f"curl -H 'Authorization: Bearer {TOKEN}' https://x.test/tasks failed",
    f"duecourse tasks --token {TOKEN}",
    json.dumps(json.dumps({"token": TOKEN})),
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_new_token_is_not_in_the_task_the_error_log_or_the_journal(text: str) -> None:
    failure = Failure.create(text, type=text, code=text, traceback=text)
    task = fail_task(claim_task(a_task()), failure)
    assert task.run is not None
    stored = [
        failure.to_json(),
        task_to_json(task),
        task.last_error,
        error_detail(task.run),
        repr(to_logged_error(replace(a_run_record(), run=task.run))),
        repr(task),
    ]
    assert [value for value in stored if TOKEN[3:20] in str(value)] == []


@pytest.mark.parametrize("text", TEXTS)
def test_a_new_token_is_not_in_json_that_is_listed_or_logged(text: str) -> None:
    assert TOKEN[3:20] not in str(redact_json({"result": [text, {"note": text}]}))
