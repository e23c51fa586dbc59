"""PATCH requests: which fields change, and how times and retries follow."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.requests.action_payload import check_action
from duecourse.domain.requests.task_changes import parse_changes
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.task_edit import TaskEdit

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import HOUR, NOW, parse_instant
from tests.support.builders.tasks import STACK_CAPABILITIES, a_requested_task

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def patch_task(task: Task, *, now: datetime = NOW, **raw: Any) -> Task:
    return user_actions.edit(
        task, parse_changes(task, raw, capabilities=STACK_CAPABILITIES, now=now)
    )


def invalid_fields(task: Task, *, now: datetime = NOW, **raw: Any) -> list[str]:
    with pytest.raises(InvalidFieldsError) as error:
        parse_changes(task, raw, capabilities=STACK_CAPABILITIES, now=now)
    return [field_error.field for field_error in error.value.errors]


def a_one_shot(**fields: Any) -> Task:
    return a_requested_task(**{"due_at": "2026-02-18T09:00", "timezone": BERLIN, **fields})


def test_only_named_fields_change() -> None:
    task = a_one_shot(payload={"a": 1}, max_retries=5)
    edit = parse_changes(task, {"description": "walk"}, capabilities=STACK_CAPABILITIES, now=NOW)
    assert edit == TaskEdit(description="walk")


@pytest.mark.parametrize("raw", [{"in": "5h"}, {"repeat": "daily"}, {"timezone": NEW_YORK}])
def test_a_new_time_sets_rescheduled_at(raw: dict[str, Any]) -> None:
    task = replace(a_one_shot(), rescheduled_at=NOW - HOUR, owner_rescheduled_at=NOW - HOUR)
    after = patch_task(task, **raw)
    assert (after.rescheduled_at, after.owner_requested_at) == (NOW, None)


def test_a_series_changed_to_a_one_shot_has_no_owner_requested_at() -> None:
    assert patch_task(a_one_shot(repeat="daily"), repeat=None).owner_requested_at is None


@pytest.mark.parametrize("raw", [{"description": "walk"}, {"due_at": "2026-02-18T09:00"}])
def test_an_unchanged_time_keeps_owner_requested_at(raw: dict[str, Any]) -> None:
    task = replace(a_one_shot(), rescheduled_at=NOW - HOUR, owner_rescheduled_at=NOW - HOUR)
    assert patch_task(task, **raw).owner_requested_at == NOW - HOUR


def test_an_empty_request_is_rejected() -> None:
    assert invalid_fields(a_one_shot()) == ["body"]


@pytest.mark.parametrize(
    "field", ["id", "status", "type", "channel", "sender_id", "reply_target", "subject", "verify"]
)
def test_a_field_that_cannot_be_edited_is_rejected(field: str) -> None:
    raw: dict[str, Any] = {field: "x"}
    assert invalid_fields(a_one_shot(), **raw) == [field]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("description", ""),
        ("payload", []),
        ("policy", "none"),
        ("max_retries", 0),
        ("in", "soon"),
        ("due_at", "2026-02-17T11:59:59Z"),
        ("timezone", "Mars"),
        ("repeat", "hourly"),
        ("repeat", "FREQ=DAILY;UNTIL=20260101"),
    ],
)
def test_an_edit_is_validated_like_a_new_task(field: str, value: Any) -> None:
    assert invalid_fields(a_one_shot(), **{field: value}) == [field]


def test_a_new_payload_of_an_action_is_validated() -> None:
    capabilities = replace(
        STACK_CAPABILITIES, payload_checks={"action": lambda payload: check_action(payload, {})}
    )
    action = a_one_shot(type="action", payload={"provider": "scripted"})
    with pytest.raises(InvalidFieldsError, match="payload: provider: must be one of"):
        parse_changes(
            action, {"payload": {"provider": "oracle"}}, capabilities=capabilities, now=NOW
        )


def test_a_new_payload_of_a_reminder_is_not_validated_as_an_action() -> None:
    capabilities = replace(
        STACK_CAPABILITIES, payload_checks={"action": lambda payload: check_action(payload, {})}
    )
    payload = {"provider": "oracle"}
    edit = parse_changes(a_one_shot(), {"payload": payload}, capabilities=capabilities, now=NOW)
    assert edit == TaskEdit(payload=payload)


# The policy


@pytest.mark.parametrize(
    ("raw", "max_retries"),
    [
        ({"policy": "agent"}, 5),
        ({"policy": "agent", "max_retries": 2}, 2),
        ({"policy": "omega"}, 3),
        ({"description": "walk"}, 3),
    ],
)
def test_a_new_policy_sets_its_own_max_retries(raw: dict[str, Any], max_retries: int) -> None:
    assert patch_task(a_one_shot(), **raw).max_retries == max_retries


def test_an_explicit_max_retries_survives_a_new_policy() -> None:
    assert patch_task(a_one_shot(max_retries=9), policy="agent").max_retries == 9


# The time


@pytest.mark.parametrize(
    ("raw", "due_at"),
    [
        ({"in": "1h"}, "2026-02-17T13:00Z"),
        ({"due_at": "2026-03-01T09:00Z"}, "2026-03-01T09:00Z"),
        ({"due_at": "2026-03-01T09:00"}, "2026-03-01T08:00Z"),
        ({"due_at": "2026-03-01T09:00", "timezone": NEW_YORK}, "2026-03-01T14:00Z"),
        ({"timezone": NEW_YORK}, "2026-02-18T14:00Z"),
        ({"repeat": "daily"}, "2026-02-18T08:00Z"),
        ({"repeat": "0 15 * * *"}, "2026-02-17T14:00Z"),
        ({"repeat": None}, "2026-02-18T08:00Z"),
    ],
)
def test_a_one_shot_is_rescheduled(raw: dict[str, Any], due_at: str) -> None:
    task = patch_task(a_one_shot(), **raw)
    assert (task.due_at, task.nominal_at) == (parse_instant(due_at), parse_instant(due_at))


def test_a_new_timezone_keeps_the_wall_clock_time_of_a_series() -> None:
    task = patch_task(a_one_shot(repeat="daily"), timezone=NEW_YORK)
    assert (task.timezone, task.due_at) == (NEW_YORK, parse_instant("2026-02-18T14:00Z"))


def test_a_series_on_the_31st_survives_a_new_timezone_in_february() -> None:
    in_january = a_requested_task(
        due_at="2026-01-31T09:00",
        timezone=BERLIN,
        repeat="monthly",
        now=parse_instant("2026-01-01"),
    )
    in_february = replace(
        in_january,
        due_at=parse_instant("2026-02-28T08:00"),
        nominal_at=parse_instant("2026-02-28T08:00"),
    )
    task = patch_task(in_february, timezone=NEW_YORK)
    series = task.series
    assert series is not None
    assert (task.due_at, series.next_after(task.due_at)) == (
        parse_instant("2026-02-28T14:00Z"),
        parse_instant("2026-03-31T13:00Z"),
    )


def test_a_new_first_time_is_the_new_anchor_of_a_series() -> None:
    task = patch_task(a_one_shot(repeat="monthly"), due_at="2026-03-31T10:00")
    assert task.anchor == datetime.fromisoformat("2026-03-31T10:00")


def test_a_series_can_become_a_one_shot() -> None:
    task = patch_task(a_one_shot(repeat="daily"), repeat=None)
    assert (task.repeat, task.due_at) == (None, parse_instant("2026-02-18T08:00Z"))


def test_a_new_rule_starts_from_the_next_occurrence() -> None:
    task = patch_task(a_one_shot(repeat="daily"), repeat="weekly")
    series = task.series
    assert series is not None
    assert series.next_after(task.due_at) == parse_instant("2026-02-25T08:00Z")


def test_a_new_timezone_cannot_move_a_one_shot_into_the_past() -> None:
    due_soon = a_one_shot(due_at="2026-02-17T13:30")  # 12:30 in UTC
    assert invalid_fields(due_soon, timezone="Asia/Tokyo") == ["timezone"]


def test_a_new_timezone_advances_a_series_instead_of_moving_it_into_the_past() -> None:
    due_soon = a_one_shot(due_at="2026-02-17T13:30", repeat="daily")
    assert patch_task(due_soon, timezone="Asia/Tokyo").due_at == parse_instant("2026-02-18T04:30Z")


def test_a_new_time_resets_the_retry_count() -> None:
    task = patch_task(fail_repeatedly(a_one_shot(), 1), now=NOW + 72 * HOUR, **{"in": "1h"})
    assert (task.retry_count, task.next_retry_at) == (0, None)


def test_a_new_description_keeps_the_retry_count() -> None:
    task = patch_task(fail_repeatedly(a_one_shot(), 1), description="walk")
    assert task.retry_count == 1


def test_a_one_shot_at_the_second_instant_of_a_repeated_time_stays_there() -> None:
    task = a_one_shot(due_at="2026-10-25T01:30Z")
    assert patch_task(task, repeat=None).due_at == parse_instant("2026-10-25T01:30Z")


def test_a_series_at_a_skipped_time_keeps_it_in_a_timezone_without_the_gap() -> None:
    task = a_one_shot(due_at="2026-03-29T02:30", repeat="daily")
    assert patch_task(task, timezone=NEW_YORK).due_at == parse_instant("2026-03-29T06:30Z")
