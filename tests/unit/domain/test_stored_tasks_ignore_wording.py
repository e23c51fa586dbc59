"""A release may word its sentences differently: what is stored already goes on as before."""

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


def numbered(number: int, task: Task) -> Task:
    return replace(task, id=f"{number:08x}-0000-4000-8000-000000000000")


def midway() -> dict[str, Task]:
    due = numbered(1, a_task())
    retry = numbered(2, fail_repeatedly(an_action(), 1))
    awaiting = numbered(3, a_task_awaiting_review(guidance=("look here",)))
    answer = Mutation(
        idempotency_key="k", status=MutationStatus.APPLIED, result={"reply": "Name the file."}
    )
    run = a_run(id="r", mutation=answer, status=RunStatus.COMMITTED, ended_at=NOW)
    done = replace(review_of(awaiting), status=Status.COMPLETED, run=run)
    work = numbered(4, claim_task(an_action(verify=True, payload=VERIFIER)))
    by_verifier = request_verification(work, "ok", at=NOW, verify_until=NOW + DAY)
    late = numbered(5, a_task(repeat="daily"))
    return {
        "due": due,
        "held": run_transitions.defer(due, until=NOW + HOUR, wait=quiet_hours_wait("13:00")),
        "retry": retry,
        "requeued": run_transitions.requeue(retry, "x", "transient", at=NOW),
        "awaiting review": awaiting,
        "reviewed": apply_review(awaiting, done, at=NOW + HOUR),
        "for its verifier": by_verifier,
        "for a person": hand_over_to_person(by_verifier),
        "late series": run_transitions.defer(late, until=NOW + 2 * DAY, wait=PROVIDER_DOWN),
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
def items() -> str:
    return json.dumps({name: to_stored_item(task) for name, task in midway().items()})


def seen_with_other_sentences() -> dict[str, Any]:
    code = (
        f"import sys; sys.path = {sys.path!r}; "
        "from tests.support import altered_sentences; altered_sentences.install(); "
        "from tests.support.stored_task_decisions import main; main()"
    )
    ran = subprocess.run(  # noqa: S603 - this interpreter, and code of ours
        [sys.executable, "-c", code],
        input=items(),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_tasks_that_were_stored_midway_go_on() -> None:
    assert observe(json.loads(items())) == EXPECTED


def test_they_go_on_in_the_same_way_when_every_sentence_is_another() -> None:
    found = seen_with_other_sentences()
    assert found["seen"] == EXPECTED
    assert found["a sentence"] == f"{MARK}quiet hours until 13:00 (UTC){MARK}"
