"""A request for a new task: validation of each field, defaults and times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.requests.action_payload import check_action
from duecourse.domain.requests.capabilities import Capabilities

from tests.support.builders.moments import HOUR, MILLISECOND, MINUTE, NOW, parse_instant
from tests.support.builders.tasks import SOON, STACK_CAPABILITIES, a_requested_task, task_from_json

BERLIN = "Europe/Berlin"
INVALID_TIMES = [
    "",
    "   ",
    "soon",
    "2026-02-17",
    "15:00",
    5,
    True,
    [],
    {},
    "2026-02-30T12:00",
    "x" * 65,
]
INVALID_TIMES += ["2026-02-17T25:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00+23:59"]
INVALID_VALUES: dict[str, list[Any]] = {
    "description": ["", " \n", "x" * 4001, 5, [], {}, True, "\ud800"],
    "type": ["", "Action", "sms", 5, [], {}],
    "channel": ["", "pigeon", "Console", 5, ["console"]],
    "sender_id": ["", " ", "x" * 257, 5, "\udfff"],
    "reply_target": ["", " ", "x" * 257, 5, {}],
    "subject": ["", " ", "x" * 257, 5, False],
    "policy": ["", "Omega", "none", 5, []],
    "verify": [True, "false", 0, 1],
    "max_retries": [0, -1, 101, 1.0, "3", True, 10**400],
    "payload": ["{}", 5, [], True, {"a": "\ud800"}, {"\ud800": 1}, {"a": "x" * 32 * 1024}],
    "timezone": ["", "Mars", "Europe", "../etc/passwd", "localtime", 5, [], "\ud800", "x" * 999],
    "repeat": ["", "hourly", "* * *", "60 * * * *", "FREQ=SECONDLY", 5, [], "\ud800", "x" * 501],
    "in": ["", "soon", "-5s", -1, 5e15, True, [], {}, "1y", "36526d", float("inf")],
    "due_at": INVALID_TIMES,
    "colour": ["blue", None],
}


def rejections(
    raw: dict[str, Any], capabilities: Capabilities = STACK_CAPABILITIES
) -> list[tuple[str, str]]:
    with pytest.raises(InvalidFieldsError) as error:
        task_from_json(raw, capabilities=capabilities)
    return [(field_error.field, field_error.message) for field_error in error.value.errors]


@pytest.mark.parametrize(
    ("field", "value"), [(name, value) for name in INVALID_VALUES for value in INVALID_VALUES[name]]
)
def test_an_invalid_value_is_rejected_under_its_field(field: str, value: Any) -> None:
    time_fields = {} if field in ("in", "due_at") else {"in": "5m"}
    raw = {"description": "stretch", **time_fields, field: value}
    assert [name for name, _ in rejections(raw)] == [field]


def test_all_invalid_fields_are_reported_together() -> None:
    raw = {"colour": "blue", "type": "x", "in": "soon", "max_retries": 0}
    assert [name for name, _ in rejections(raw)] == [
        *("colour", "description", "in", "type", "max_retries")  # the JSON first, then the values
    ]


@pytest.mark.parametrize("raw", [{"in": "5m"}, {"in": "5m", "description": None}])
def test_a_task_needs_a_description(raw: dict[str, Any]) -> None:
    assert rejections(raw) == [("description", "is required")]


def test_a_task_needs_a_channel_if_there_is_no_default() -> None:
    capabilities = Capabilities(
        STACK_CAPABILITIES.types, STACK_CAPABILITIES.channels, STACK_CAPABILITIES.policies
    )
    assert rejections({"in": "5m", "description": "x"}, capabilities) == [
        ("channel", "is required: one of console, slack")
    ]


def test_the_default_of_reminders_is_not_that_of_actions() -> None:
    capabilities = replace(
        STACK_CAPABILITIES,
        channels=frozenset({"email"}),
        default_channel=None,
        default_reminder_channel="email",
        only_targets={"email": "subscribers"},
    )
    reminder = task_from_json({"in": "5m", "description": "x"}, capabilities=capabilities)
    action = task_from_json({**ACTION, "payload": SCRIPTED}, capabilities=capabilities)
    assert (reminder.channel, reminder.reply_target) == ("email", "subscribers")
    assert (action.channel, action.reply_target) == ("api", "api")


def test_a_wrong_target_is_reported_with_the_other_errors() -> None:
    capabilities = replace(STACK_CAPABILITIES, only_targets={"console": "all"})
    raw = {"description": "", "in": "5m", "reply_target": "ada"}
    assert [name for name, _ in rejections(raw, capabilities)] == ["reply_target", "description"]


@pytest.mark.parametrize("extra", [{}, {"repeat": "daily"}, {"repeat": "FREQ=DAILY"}])
def test_a_task_needs_a_first_time(extra: dict[str, Any]) -> None:
    assert rejections({"description": "x", **extra}) == [
        ("due_at", "is required: give due_at or in")
    ]


def test_due_at_and_in_are_mutually_exclusive() -> None:
    raw = {"description": "x", "in": "5m", "due_at": "2026-02-17T15:00:00Z"}
    assert rejections(raw) == [("in", "give either due_at or in, not both")]


def test_a_payload_nested_too_deep_is_rejected() -> None:
    payload: dict[str, Any] = {}
    for _ in range(2000):
        payload = {"a": payload}
    raw = {"description": "x", "in": "5m", "payload": payload}
    assert [name for name, _ in rejections(raw)] == ["payload"]


# Actions

ACTION = {"description": "ship it", "in": "5m", "type": "action"}
SCRIPTED = {"provider": "scripted"}


def allow_only_scripted(payload: Mapping[str, Any]) -> None:
    check_action(payload, {"scripted": lambda _: None})


STRICT = replace(STACK_CAPABILITIES, payload_checks={"action": allow_only_scripted})


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_idempotent_must_be_a_boolean(value: Any) -> None:
    payload = {**SCRIPTED, "idempotent": value}
    assert rejections({**ACTION, "payload": payload}) == [
        ("payload", "idempotent: must be true or false"),
    ]


@pytest.mark.parametrize(
    ("verifier", "problem"),
    [
        ("scripted", "verifier: must be a JSON object that names a provider"),
        ({"provider": "oracle"}, "verifier.provider: must be one of: scripted"),
    ],
)
def test_a_verifier_is_checked_like_a_provider(verifier: Any, problem: str) -> None:
    capabilities = replace(STACK_CAPABILITIES, check_verifier=allow_only_scripted)
    payload = {**SCRIPTED, "verifier": verifier}
    assert rejections({**ACTION, "payload": payload}, capabilities) == [("payload", problem)]


@pytest.mark.parametrize("verify", [1, "yes", []])
def test_verify_must_be_a_boolean(verify: Any) -> None:
    raw = {**ACTION, "payload": SCRIPTED, "verify": verify}
    assert rejections(raw) == [("verify", "must be true or false")]


def test_a_reminder_cannot_be_verified() -> None:
    raw = {"description": "x", "in": "5m", "verify": True}
    assert rejections(raw) == [("verify", "must be false: a reminder has no work to verify")]


def test_an_action_does_not_need_a_channel() -> None:
    capabilities = Capabilities(STACK_CAPABILITIES.types, frozenset(), STACK_CAPABILITIES.policies)
    raw = {**ACTION, "payload": SCRIPTED}
    assert task_from_json(raw, capabilities=capabilities).channel == "api"


def test_an_action_needs_a_payload_that_names_its_provider() -> None:
    assert rejections(ACTION, STRICT) == [
        ("payload", "is required: provider: must be one of: scripted"),
    ]


@pytest.mark.parametrize("payload", [{}, {"provider": "oracle"}, {"provider": 5}])
def test_an_action_needs_a_configured_provider(payload: dict[str, Any]) -> None:
    assert rejections({**ACTION, "payload": payload}, STRICT) == [
        ("payload", "provider: must be one of: scripted"),
    ]


def test_an_action_with_a_configured_provider_is_accepted() -> None:
    task = task_from_json({**ACTION, "payload": SCRIPTED}, capabilities=STRICT)
    assert (task.type, task.provider) == ("action", "scripted")


def test_the_payload_of_a_reminder_is_not_validated_as_an_action() -> None:
    raw = {"description": "x", "in": "5m", "payload": {"provider": "oracle"}}
    assert task_from_json(raw, capabilities=STRICT).payload == {"provider": "oracle"}


# The policy


@pytest.mark.parametrize(
    ("fields", "policy", "max_retries"),
    [
        ({}, "omega", 3),
        ({"subject": "story-1"}, "omega", 3),
        ({"type": "action", "payload": SCRIPTED}, "agent", 5),
        ({"type": "action", "payload": SCRIPTED, "subject": "story-1"}, "agent", 5),
    ],
)
def test_the_default_policy_follows_from_type_and_subject(
    fields: dict[str, Any], policy: str, max_retries: int
) -> None:
    task = a_requested_task(**SOON, **fields)
    assert (task.policy, task.max_retries) == (policy, max_retries)


@pytest.mark.parametrize(
    ("policy", "max_retries"),
    [("omega", 3), ("agent", 5), ("enrichment", 3), ("standard", 10)],
)
def test_max_retries_defaults_to_that_of_the_policy(policy: str, max_retries: int) -> None:
    task = a_requested_task(**SOON, policy=policy)
    assert (task.policy, task.max_retries) == (policy, max_retries)


def test_max_retries_overrides_that_of_the_policy() -> None:
    task = a_requested_task(**SOON, policy="agent", max_retries=2)
    assert (task.policy, task.max_retries) == ("agent", 2)


# Defaults


def test_missing_fields_get_their_defaults() -> None:
    task = a_requested_task(**SOON)
    assert (task.type, task.channel, task.sender_id, task.reply_target) == (
        *("reminder", "console", "api", "api"),
    )
    assert (task.timezone, task.repeat, task.policy, task.max_retries) == ("UTC", None, "omega", 3)


def test_reply_target_defaults_to_the_sender() -> None:
    assert a_requested_task(**SOON, sender_id="ada").reply_target == "ada"


def test_null_equals_a_missing_field() -> None:
    assert a_requested_task(**SOON, due_at=None, subject=None) == a_requested_task(**SOON)


@pytest.mark.parametrize(
    ("field", "value"),
    [("description", "x" * 4000), ("sender_id", "é" * 256), ("max_retries", 100)],
)
def test_the_maximum_of_each_field_is_accepted(field: str, value: Any) -> None:
    assert getattr(a_requested_task(**SOON, **{field: value}), field) == value


def test_a_payload_of_exactly_32_kibibytes_is_accepted() -> None:
    payload = {"a": "x" * (32 * 1024 - len('{"a": ""}'))}
    assert a_requested_task(**SOON, payload=payload).payload == payload


# Times


@pytest.mark.parametrize(
    ("fields", "due_at"),
    [
        ({"in": "2h30m"}, "2026-02-17T14:30Z"),
        ({"in": 0}, "2026-02-17T12:00Z"),
        ({"due_at": "2026-02-17T15:00:00"}, "2026-02-17T15:00Z"),
        ({"due_at": "2026-02-17T15:00:00", "timezone": BERLIN}, "2026-02-17T14:00Z"),
        ({"due_at": "2026-02-17T15:00:00Z", "timezone": BERLIN}, "2026-02-17T15:00Z"),
        ({"due_at": "2026-02-18T15:00:00+05:30"}, "2026-02-18T09:30Z"),
        ({"due_at": " 2026-02-17 15:00 "}, "2026-02-17T15:00Z"),
        ({"due_at": "2026-02-17T15:00:00.123999Z"}, "2026-02-17T15:00:00.123Z"),
        ({"due_at": "2026-03-29T02:30", "timezone": BERLIN}, "2026-03-29T01:00Z"),
        ({"due_at": "2026-10-25T02:30", "timezone": BERLIN}, "2026-10-25T00:30Z"),
        ({"due_at": "2026-10-25T01:30Z", "timezone": BERLIN}, "2026-10-25T01:30Z"),
        ({"due_at": "2026-02-21T09:00", "repeat": "weekdays"}, "2026-02-23T09:00Z"),
        ({"due_at": "2026-02-18T09:00", "repeat": "30 * * * *"}, "2026-02-18T09:30Z"),
        ({"repeat": "0 9 * * *"}, "2026-02-18T09:00Z"),
        ({"repeat": "0 12 * * *"}, "2026-02-17T12:00Z"),
        ({"repeat": "0 9 * * *", "timezone": "America/New_York"}, "2026-02-17T14:00Z"),
        ({"in": "1h", "repeat": "once"}, "2026-02-17T13:00Z"),
    ],
)
def test_a_first_time_is_converted_to_its_instant(fields: dict[str, Any], due_at: str) -> None:
    task = a_requested_task(**fields)
    assert (task.due_at, task.nominal_at) == (parse_instant(due_at), parse_instant(due_at))


@pytest.mark.parametrize("age", [MILLISECOND, HOUR, timedelta(days=9999)])
def test_a_time_in_the_past_is_rejected(age: timedelta) -> None:
    raw = {"description": "x", "due_at": (NOW - age).isoformat()}
    assert rejections(raw) == [("due_at", "is in the past")]


def test_the_current_time_is_not_the_past() -> None:
    assert a_requested_task(due_at=NOW.isoformat()).due_at == NOW


def test_a_time_a_century_ahead_is_rejected() -> None:
    raw = {"description": "x", "due_at": "2126-02-20T12:00:00Z"}
    assert rejections(raw) == [("due_at", "must be within 100 years")]


def test_the_creation_time_is_rounded_down_to_milliseconds() -> None:
    task = a_requested_task(**SOON, now=NOW + timedelta(microseconds=1999))
    assert (task.created_at, task.due_at) == (NOW + MILLISECOND, NOW + MILLISECOND + 5 * MINUTE)


@pytest.mark.parametrize("repeat", ["FREQ=DAILY;UNTIL=20250101", "FREQ=DAILY;UNTIL=20260217T1259"])
def test_a_rule_that_never_fires_is_rejected(repeat: str) -> None:
    raw = {"description": "x", "in": "1h", "repeat": repeat}
    assert [name for name, _ in rejections(raw)] == ["repeat"]


def test_a_first_time_skipped_by_dst_stays_the_anchor_of_its_series() -> None:
    task = a_requested_task(due_at="2026-03-29T02:30", timezone=BERLIN, repeat="daily")
    series = task.series
    assert series is not None
    assert series.next_after(task.due_at) == parse_instant("2026-03-30T00:30Z")  # back at 02:30


def test_an_rrule_with_blanks_needs_a_first_time() -> None:
    raw = {"description": "x", "repeat": "FREQ = DAILY ; COUNT=3"}
    assert rejections(raw) == [("due_at", "is required: give due_at or in")]
