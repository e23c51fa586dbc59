"""Tasks as DynamoDB items: the stored form is compared literally and does not change."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.packed_attributes import PACKED, unpack
from duecourse.adapters.aws.dynamodb.task_mapper import (
    from_stored,
    to_item,
    to_stored,
    to_task,
)
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.lifecycle.verification import request_verification
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.tasks.recent_errors import RecentErrors
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    FirstFailure,
    IndeterminatePolicy,
    Mutation,
    MutationStatus,
    Phase,
    PreviousFailure,
    ProviderCall,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ReviewLink, Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.moments import HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, claim_task

ITEMS = json.loads(Path(__file__).with_name("stored_tasks.json").read_text())
EVERY_FIELD_OF_A_RUN = Run(
    id="run-2",
    attempt=2,
    reason=Reason.USER_RETRY,
    mutation=Mutation(
        idempotency_key="run-1", status=MutationStatus.APPLIED, result={"ts": [1, None]}
    ),
    nominal_at=NOW,
    started_at=NOW + MINUTE,
    lease_expires_at=NOW + 2 * MINUTE,
    handler_version="7",
    retry_of="run-1",
    phase=Phase.MUTATED,
    status=RunStatus.FAILED_LOGIC,
    prepare_result={"draft": "ä"},
    error="boom",
    category="logic",
    diagnosis=RunDiagnosis(confidence=0.9, pattern="x", guidance_lines=1),
    ended_at=NOW + 3 * MINUTE,
    indeterminate_policy=IndeterminatePolicy.ASK_PERSON,
    has_emit=True,
    is_early=True,
    call=ProviderCall(provider="anthropic", milliseconds=12),
    verify_until=NOW + 4 * MINUTE,
    verifier_attempts=1,
    is_verified=True,
    previous_failure=PreviousFailure(category="transient", fingerprint="f", delay_seconds=60),
    first_failure=FirstFailure("2026-02-16", "transient"),
    first_failed_at=NOW,
    waited_for=Wait(WaitReason.BUDGET, NOW, {"budget": "daily"}),
    originally_due_at=NOW - MINUTE,
)
EVERY_FIELD = a_task(
    type="action",
    due_at=NOW + HOUR + MILLISECOND,
    nominal_at=NOW + HOUR,
    anchor=datetime(2026, 2, 1, 9, 30),  # noqa: DTZ001 - a time on the wall
    timezone="Europe/Berlin",
    repeat="daily",
    paused=True,
    delivered_at=NOW - MINUTE,
    retry_count=2,
    max_retries=5,
    failed_occurrences=1,
    last_error="boom",
    last_error_category="transient",
    last_error_kind=Kind.NETWORK,
    next_retry_at=NOW + HOUR,
    recovery_action=Action.RETRY,
    guidance=("look here", "ä"),
    policy="agent",
    subject="story-1",
    payload={"provider": "anthropic", "n": [1, 2.5, None]},
    verify=True,
    run=EVERY_FIELD_OF_A_RUN,
    skipped=SkippedOccurrences(2, SkipReason.OUTAGE),
    wait=Wait(WaitReason.CIRCUIT_BREAKER, NOW + HOUR, {"provider": "x"}),
    waiting_since=NOW - 4 * HOUR,
    reviewed_at=NOW - 3 * HOUR,
    closed_at=NOW - HOUR,
    blocked_at=NOW - 2 * HOUR,
    request_hash="abc",
    created_by="ci",
    rescheduled_at=NOW - MINUTE,
    owner_rescheduled_at=NOW - 2 * MINUTE,
    snooze_of="0a1b2c3e-0000-4000-8000-000000000000",
    review=ReviewLink("0a1b2c3f-0000-4000-8000-000000000000", 3, "a page of words"),
    recent_errors=RecentErrors(
        by_day={"2026-02-17": 1}, latest=(NOW,), last_category="transient", budget_blocked_on=None
    ),
    late_report=LateReport(
        run_id="run-1", started_at=NOW, error="boom", effect=Effect.APPLIED, reported_at=NOW + HOUR
    ),
    version=12,
)
TASKS = {
    "new": a_task(),
    "running": claim_task(a_task()),
    "every field": EVERY_FIELD,
    "blocked": a_task(status=Status.BLOCKED, blocked_at=NOW, run=a_run()),
    "to verify": request_verification(claim_task(a_task()), "ok", at=NOW, verify_until=NOW + HOUR),
    "closed": a_task(status=Status.DELIVERED, delivered_at=NOW, closed_at=NOW),
}
# How the index keys differ from the items in the file, which code before lanes wrote.
INDEX_KEYS: dict[str, dict[str, Any]] = {
    "every field": {"due_shard": {"N": "7000"}},
    "to verify": {"due_shard": {"N": "6000"}, "retry_lane": None, "next_retry_at": None},
    "closed": {"open_sender": {"S": "console#ada"}},
}
PACKED_TASKS = ("every field",)  # of more than a kilobyte
by_name = pytest.mark.parametrize("name", TASKS)


def stored_item(task: Task) -> dict[str, Any]:
    item: dict[str, Any] = to_item(task, shard_count=4, retention=timedelta(days=30)).serialize()
    return item


@by_name
def test_a_task_is_stored_in_its_known_form_with_its_schema(name: str) -> None:
    schema = {"schema_version": {"N": "2" if name in PACKED_TASKS else "1"}}
    expected = ITEMS[name] | INDEX_KEYS.get(name, {}) | schema
    stored = unpack(stored_item(TASKS[name]))
    assert stored == {key: value for key, value in expected.items() if value}


@by_name
@pytest.mark.parametrize("schema", [{}, {"schema_version": {"N": "1"}}], ids=["none", "1"])
def test_a_stored_item_is_read_as_its_task(name: str, schema: Any) -> None:
    assert to_task(TaskItem.from_raw_data(ITEMS[name] | schema)) == TASKS[name]


@by_name
def test_a_task_is_read_as_it_was_stored(name: str) -> None:
    assert to_task(TaskItem.from_raw_data(stored_item(TASKS[name]))) == TASKS[name]


def test_legacy_attributes_are_ignored_in_an_item_with_a_schema() -> None:
    link = {"payload": {"S": json.dumps({"snooze_of": EVERY_FIELD.snooze_of})}}
    older, newer = ITEMS["new"] | link, ITEMS["new"] | link | {"schema_version": {"N": "1"}}
    assert to_task(TaskItem.from_raw_data(older)).snooze_of == EVERY_FIELD.snooze_of
    assert to_task(TaskItem.from_raw_data(newer)).snooze_of is None


def test_every_field_of_a_task_is_an_attribute_of_its_item() -> None:
    names = {field.name for field in fields(Task)} - {"unknown_attributes"}
    assert names <= set(TaskItem.get_attributes())


def test_the_example_tasks_set_every_field() -> None:
    assert _fields_at_default(EVERY_FIELD, a_task()) == {
        "id",
        "channel",
        "sender_id",
        "reply_target",
        "description",
        "created_at",
        "status",
        "unknown_attributes",
    }
    assert _fields_at_default(EVERY_FIELD_OF_A_RUN, a_run()) == {"nominal_at"}


def _fields_at_default(full: Any, plain: Any) -> set[str]:
    names = [field.name for field in fields(full)]
    return {name for name in names if getattr(full, name) == getattr(plain, name)}


@by_name
def test_without_a_model_a_task_is_stored_and_read_in_the_same_form(name: str) -> None:
    unknown = {"added_later": {"S": "x"}}
    task = replace(TASKS[name], unknown_attributes=unknown)

    stored = to_stored(task, shard_count=4, retention=timedelta(days=30))

    assert stored == stored_item(task)
    assert from_stored(stored) == to_task(TaskItem.from_raw_data(stored)) == TASKS[name]
    assert from_stored(stored).unknown_attributes == unknown


@by_name
@pytest.mark.parametrize(
    "broken",
    [
        {"schema_version": {"N": "99"}},
        {"due_at": {"S": "tomorrow"}},
        {"due_at": {"N": "1"}},
        {"timezone": {"S": "Mars/Base"}},
        {"channel": {"NULL": True}},
    ],
    ids=str,
)
def test_without_a_model_an_unreadable_item_is_the_same_error(name: str, broken: Any) -> None:
    stored = stored_item(TASKS[name]) | broken
    with pytest.raises(UnreadableItemError) as expected:
        to_task(TaskItem.from_raw_data(stored))

    with pytest.raises(UnreadableItemError) as raised:
        from_stored(stored)

    assert str(raised.value) == str(expected.value)


def test_a_kind_that_only_newer_code_knows_is_read_as_unknown() -> None:
    stored = to_stored(a_task(last_error_kind=Kind.NETWORK), shard_count=1, retention=HOUR)
    stored["last_error_kind"] = {"S": "cosmic_rays"}
    assert from_stored(stored).last_error_kind is Kind.UNKNOWN


def test_a_task_stored_before_there_were_kinds_has_none() -> None:
    stored = to_stored(a_task(last_error_category="unknown"), shard_count=1, retention=HOUR)
    assert "last_error_kind" not in stored
    assert from_stored(stored).last_error_kind is None


def test_the_kind_is_never_packed_because_older_code_cannot_unpack_it() -> None:
    failed = replace(EVERY_FIELD, last_error="boom " * 300)
    stored = to_stored(failed, shard_count=1, retention=HOUR)
    assert PACKED in stored
    assert stored["last_error_kind"] == {"S": "network"}
