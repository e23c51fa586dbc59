"""Stored tasks continue unchanged when a release rewords its sentences."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from typing import Any

from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.lifecycle.blocked_outcome import apply_review
from duecourse.domain.lifecycle.verification import hand_over_to_person, request_verification
from duecourse.domain.tasks.run import Mutation, MutationStatus, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.altered_sentences import MARK
from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.reviews import a_task_awaiting_review, review_of
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import (
    PROVIDER_DOWN,
    a_task,
    an_action,
    claim_task,
    quiet_hours_wait,
)
from tests.support.stored_task_decisions import observe, to_stored_item

VERIFIER = {"provider": "scripted", "verifier": {"provider": "scripted"}}


def with_number(number: int, task: Task) -> Task:
    return replace(task, id=f"{number:08x}-0000-4000-8000-000000000000")


def tasks_in_progress() -> dict[str, Task]:
    due = with_number(1, a_task())
    retry = with_number(2, fail_repeatedly(an_action(), 1))
    awaiting_review = with_number(3, a_task_awaiting_review(guidance=("look here",)))
    mutation = Mutation(
        idempotency_key="k", status=MutationStatus.APPLIED, result={"reply": "Name the file."}
    )
    run = a_run(id="r", mutation=mutation, status=RunStatus.COMMITTED, ended_at=NOW)
    completed_review = replace(review_of(awaiting_review), status=Status.COMPLETED, run=run)
    running = with_number(4, claim_task(an_action(verify=True, payload=VERIFIER)))
    awaiting_verifier = request_verification(running, "ok", at=NOW, verify_until=NOW + DAY)
    late_series = with_number(5, a_task(repeat="daily"))
    return {
        "due": due,
        "held": run_transitions.defer(due, until=NOW + HOUR, wait=quiet_hours_wait("13:00")),
        "retry": retry,
        "requeued": run_transitions.requeue(retry, "x", "transient", at=NOW),
        "awaiting review": awaiting_review,
        "reviewed": apply_review(awaiting_review, completed_review, at=NOW + HOUR),
        "for its verifier": awaiting_verifier,
        "for a person": hand_over_to_person(awaiting_verifier),
        "late series": run_transitions.defer(late_series, until=NOW + 2 * DAY, wait=PROVIDER_DOWN),
    }


EXPECTED = {
    "needs a person": ["awaiting review", "for a person"],
    "to verify": ["for a person"],
    "comes when quiet hours are off": "2026-02-17T12:00:00.000Z",
    "reason of the next run": {"reviewed": "transient", "retry": "transient"},
    "events": {
        "requeued": ["task:undelivered"],
        "held": ["task:parked wait"],
        "reviewed": ["task:unblocked review_task_id"],
        "left to a person": ["task:verification_requested wait"],
    },
    "notices": ["check"],
    "guidance before it failed": 1,
    "waited too long for": "circuit_breaker",
}


@cache
def stored_items() -> str:
    return json.dumps({name: to_stored_item(task) for name, task in tasks_in_progress().items()})


def observe_with_altered_sentences() -> dict[str, Any]:
    code = (
        f"import sys; sys.path = {sys.path!r}; "
        "from tests.support import altered_sentences; altered_sentences.install(); "
        "from tests.support.stored_task_decisions import main; main()"
    )
    process = subprocess.run(  # noqa: S603 - this interpreter and our own code
        [sys.executable, "-c", code],
        input=stored_items(),
        capture_output=True,
        text=True,
        check=True,
    )
    output: dict[str, Any] = json.loads(process.stdout)
    return output


def test_stored_tasks_continue() -> None:
    assert observe(json.loads(stored_items())) == EXPECTED


def test_stored_tasks_continue_the_same_way_with_altered_sentences() -> None:
    output = observe_with_altered_sentences()
    assert output["seen"] == EXPECTED
    assert output["a sentence"] == f"{MARK}quiet hours until 13:00 (UTC){MARK}"
