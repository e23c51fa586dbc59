"""Stored waits, and how the sentences that older code stored are read."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.older_items import read_run
from duecourse.adapters.aws.dynamodb.task_mapper import to_item, to_task
from duecourse.domain.requests.stored_run import run_to_stored
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.reviews import a_task_awaiting_review, review_of
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task

AT = "2026-02-17T13:00:00.000Z"
LATER = NOW + HOUR
MONEY = (
    "budget daily has 0.5 of 5 dollars left for 2026-02-17 and the call may cost 0.75: "
    f"it is whole again at {AT}"
)
OLD_SENTENCES = [
    (
        "quiet hours until 07:00 (Europe/Berlin)",
        Wait(WaitReason.QUIET_HOURS, None, {"end": "07:00", "zone": "Europe/Berlin"}),
    ),
    ("somebody to say whether it was done well", Wait(WaitReason.VERIFICATION)),
    ("its verifier to say whether it was done well", Wait(WaitReason.VERIFIER)),
    ("its message died before a worker took it: it was sent again", Wait(WaitReason.REQUEUED)),
    (
        "50 other retries wait: it comes after them",
        Wait(WaitReason.RETRY_THROTTLE, None, {"limit": 50}),
    ),
    (
        "the review of its specification, task 0a1b2c3d",
        Wait(WaitReason.SPEC_REVIEW, task_id="0a1b2c3d"),
    ),
    (
        f"provider openai is down: tried again from {AT} on",
        Wait(WaitReason.CIRCUIT_BREAKER, LATER, {"provider": "openai"}),
    ),
    (
        f"subject story 1 was tried in vain: not again before {AT}",
        Wait(WaitReason.SUBJECT_COOLDOWN, LATER, {"subject": "story 1"}),
    ),
    (
        f"budget daily is used up for today: it is whole again at {AT}",
        Wait(WaitReason.BUDGET, LATER, {"budget": "daily"}),
    ),
    (MONEY, Wait(WaitReason.BUDGET, None, {"budget": "daily", "message": MONEY})),
    ("better days", Wait(WaitReason.OTHER, None, {"message": "better days"})),
]


@pytest.mark.parametrize(("sentence", "wait"), OLD_SENTENCES)
def test_the_sentence_of_an_older_item_is_read_as_its_wait(sentence: str, wait: Wait) -> None:
    assert read_wait(waits_for={"S": sentence}) == wait


def test_any_budget_sentence_of_an_older_item_is_read_as_a_budget_wait() -> None:
    wait = read_wait(
        waits_for={"S": "insufficient quota"}, recovery_action={"S": "wait_for_budget"}
    )
    assert wait == Wait(WaitReason.BUDGET, None, {"message": "insufficient quota"})


def test_an_item_without_wait_and_sentence_has_no_wait() -> None:
    assert read_wait() is None


def read_wait(**attributes: dict[str, str]) -> Wait | None:
    return read_older_task(attributes).wait


def read_older_task(attributes: dict[str, Any]) -> Task:
    """Read an item without a schema version."""
    item = {**stored_item(a_task()), **attributes}
    del item["schema_version"]
    return to_task(TaskItem.from_raw_data(item))


@pytest.mark.parametrize("wait", [None, *(wait for _, wait in OLD_SENTENCES)])
def test_a_stored_wait_is_read_back_unchanged(wait: Wait | None) -> None:
    item = stored_item(a_task(wait=wait))
    assert to_task(TaskItem.from_raw_data(item)).wait == wait
    assert ("wait" in item) is (wait is not None)


def stored_item(task: Task) -> dict[str, Any]:
    item: dict[str, Any] = to_item(task, shard_count=4, retention=DAY).serialize()
    return item


@pytest.mark.parametrize(("sentence", "wait"), OLD_SENTENCES)
def test_the_sentence_of_an_older_run_is_read_as_its_wait(sentence: str, wait: Wait) -> None:
    assert read_run({**run_to_stored(a_run()), "waited_for": sentence}).waited_for == wait


@pytest.mark.parametrize("wait", [None, Wait(WaitReason.BUDGET, LATER)])
def test_the_wait_of_a_current_run_is_read_unchanged(wait: Wait | None) -> None:
    run = a_run(waited_for=wait)
    assert read_run(run_to_stored(run)) == run


def reviewed_at(**attributes: Any) -> datetime | None:
    """Return `reviewed_at` of a task resumed by its review, as older code stored it."""
    lines = [{"S": "Mend it."}, {"S": "The specification was reviewed: name the file."}]
    guidance = {"guidance": {"L": lines}, "recovery_action": {"S": "retry_with_spec_refresh"}}
    return read_older_task({**guidance, **attributes}).reviewed_at


def test_an_older_item_was_reviewed_if_its_guidance_ends_with_the_review() -> None:
    assert reviewed_at() == NOW


@pytest.mark.parametrize(
    "attributes",
    [
        {"recovery_action": {"S": "retry_with_guidance"}},
        {"guidance": {"L": [{"S": "The specification was reviewed."}, {"S": "It failed."}]}},
        {"guidance": {"L": []}},
    ],
    ids=["another step since", "failed since", "no guidance"],
)
def test_an_older_item_that_failed_after_its_review_counts_as_not_reviewed(
    attributes: dict[str, Any],
) -> None:
    assert reviewed_at(**attributes) is None


def test_a_current_item_stores_when_it_was_reviewed() -> None:
    assert reviewed_at(reviewed_at={"S": AT}) == LATER


@pytest.mark.parametrize(
    ("diagnosis", "lines"),
    [
        ({"action": "retry"}, 0),
        ({"action": "retry_with_guidance"}, 1),
        ({"action": "retry_with_spec_refresh"}, 1),
        ({"action": "escalate_to_human"}, 1),
        ({"action": "mark_as_blocked"}, 1),
        ({"action": "retry", "origin": "rejected"}, 1),
        ({"action": "mark_as_blocked", "origin": "rejected"}, 2),
        ({"action": "retry_with_guidance", "guidance_lines": 0}, 0),
    ],
)
def test_the_guidance_lines_of_an_older_run_follow_from_its_decision(
    diagnosis: dict[str, Any], lines: int
) -> None:
    run = read_run({**run_to_stored(a_run()), "diagnosis": diagnosis})
    assert run.diagnosis is not None
    assert run.diagnosis.guidance_lines == lines


def test_an_older_task_waits_for_the_review_in_its_run() -> None:
    """The stored sentence has only the first characters of the review's id."""
    task = a_task_awaiting_review()
    item = to_item(task, shard_count=1, retention=DAY).serialize()
    del item["schema_version"], item["wait"]
    item["waits_for"] = {"S": f"the review of its specification, task {review_of(task).short_id}"}
    assert to_task(TaskItem.from_raw_data(item)).wait == task.wait


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("paused", SkipReason.PAUSED),
        ("missed while nothing ran", SkipReason.OUTAGE),
        ("missed while it waited: provider x is down", SkipReason.DEFERRED),
        ("missed while it waited", SkipReason.DEFERRED),
        ("missed while it was being retried", SkipReason.RETRY_OVERLAPPED),
        ("missed while it ran", SkipReason.RUN_OVERLAPPED),
        ("missed while its work was checked", SkipReason.VERIFICATION_OVERLAPPED),
        ("a reason that only newer code knows", SkipReason.OTHER),
        *((str(reason), reason) for reason in SkipReason),
    ],
)
def test_a_stored_skip_reason_is_read_as_a_code_or_as_the_sentence_of_older_code(
    stored: str, reason: SkipReason
) -> None:
    item = to_item(a_task(), shard_count=1, retention=DAY).serialize()
    item["skipped"] = {"S": json.dumps([2, stored])}
    assert to_task(TaskItem.from_raw_data(item)).skipped == SkippedOccurrences(2, reason)
