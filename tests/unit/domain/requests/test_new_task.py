"""A request for a new task: what each field refuses, and what times come to mean."""

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
TIMES = ["", "   ", "soon", "2026-02-17", "15:00", 5, True, [], {}, "2026-02-30T12:00", "x" * 65]
TIMES += ["2026-02-17T25:00", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00+23:59"]
BAD: dict[str, list[Any]] = {
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
    "due_at": TIMES,
    "colour": ["blue", None],
}


def refusals(
    raw: dict[str, Any], offer: Capabilities = STACK_CAPABILITIES
) -> list[tuple[str, str]]:
    with pytest.raises(InvalidFieldsError) as refused:
        task_from_json(raw, capabilities=offer)
    return [(error.field, error.message) for error in refused.value.errors]


@pytest.mark.parametrize(("field", "value"), [(name, bad) for name in BAD for bad in BAD[name]])
def test_a_bad_value_is_refused_under_its_own_name(field: str, value: Any) -> None:
    start = {} if field in ("in", "due_at") else {"in": "5m"}
    raw = {"description": "stretch", **start, field: value}
    assert [name for name, _ in refusals(raw)] == [field]


def test_all_that_is_wrong_is_said_in_one_go() -> None:
    raw = {"colour": "blue", "type": "x", "in": "soon", "max_retries": 0}
    assert [name for name, _ in refusals(raw)] == [
        *("colour", "description", "in", "type", "max_retries")  # the JSON first, then the values
    ]


@pytest.mark.parametrize("raw", [{"in": "5m"}, {"in": "5m", "description": None}])
def test_a_task_needs_a_description(raw: dict[str, Any]) -> None:
    assert refusals(raw) == [("description", "is required")]


def test_a_task_needs_a_channel_where_there_is_no_default() -> None:
    offer = Capabilities(
        STACK_CAPABILITIES.types, STACK_CAPABILITIES.channels, STACK_CAPABILITIES.policies
    )
    assert refusals({"in": "5m", "description": "x"}, offer) == [("channel", "is required")]


@pytest.mark.parametrize("extra", [{}, {"repeat": "daily"}, {"repeat": "FREQ=DAILY"}])
def test_a_task_needs_a_first_time(extra: dict[str, Any]) -> None:
    assert refusals({"description": "x", **extra}) == [("due_at", "is required: give due_at or in")]


def test_a_first_time_is_given_in_one_way_only() -> None:
    raw = {"description": "x", "in": "5m", "due_at": "2026-02-17T15:00:00Z"}
    assert refusals(raw) == [("in", "give either due_at or in, not both")]


def test_a_payload_nested_too_deep_is_refused() -> None:
    payload: dict[str, Any] = {}
    for _ in range(2000):
        payload = {"a": payload}
    raw = {"description": "x", "in": "5m", "payload": payload}
    assert [name for name, _ in refusals(raw)] == ["payload"]


# Actions

ACTION = {"description": "ship it", "in": "5m", "type": "action"}
SCRIPTED = {"provider": "scripted"}


def only_scripted(payload: Mapping[str, Any]) -> None:
    check_action(payload, {"scripted": lambda _: None})


STRICT = replace(STACK_CAPABILITIES, payload_checks={"action": only_scripted})


@pytest.mark.parametrize("harmless", [None, 1, "yes"])
def test_whether_a_repeat_is_harmless_is_said_by_yes_or_no(harmless: Any) -> None:
    payload = {**SCRIPTED, "idempotent": harmless}
    assert refusals({**ACTION, "payload": payload}) == [
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
    offer = replace(STACK_CAPABILITIES, check_verifier=only_scripted)
    payload = {**SCRIPTED, "verifier": verifier}
    assert refusals({**ACTION, "payload": payload}, offer) == [("payload", problem)]


@pytest.mark.parametrize("verify", [1, "yes", []])
def test_whether_it_is_verified_is_said_by_yes_or_no(verify: Any) -> None:
    raw = {**ACTION, "payload": SCRIPTED, "verify": verify}
    assert refusals(raw) == [("verify", "must be true or false")]


def test_a_reminder_has_no_work_to_verify() -> None:
    raw = {"description": "x", "in": "5m", "verify": True}
    assert refusals(raw) == [("verify", "must be false: a reminder has no work to verify")]


def test_only_a_reminder_cannot_do_without_a_channel() -> None:
    offer = Capabilities(STACK_CAPABILITIES.types, frozenset(), STACK_CAPABILITIES.policies)
    raw = {**ACTION, "payload": SCRIPTED}
    assert task_from_json(raw, capabilities=offer).channel == "api"


def test_an_action_needs_a_payload_that_names_its_provider() -> None:
    assert refusals(ACTION, STRICT) == [
        ("payload", "is required: provider: must be one of: scripted"),
    ]


@pytest.mark.parametrize("payload", [{}, {"provider": "oracle"}, {"provider": 5}])
def test_an_action_needs_a_provider_that_is_set_up(payload: dict[str, Any]) -> None:
    assert refusals({**ACTION, "payload": payload}, STRICT) == [
        ("payload", "provider: must be one of: scripted"),
    ]


def test_an_action_with_its_provider_is_taken() -> None:
    task = task_from_json({**ACTION, "payload": SCRIPTED}, capabilities=STRICT)
    assert (task.type, task.provider) == ("action", "scripted")


def test_the_payload_of_a_reminder_is_its_senders_own_affair() -> None:
    raw = {"description": "x", "in": "5m", "payload": {"provider": "oracle"}}
    assert task_from_json(raw, capabilities=STRICT).payload == {"provider": "oracle"}


# The policy


@pytest.mark.parametrize(
    ("fields", "policy", "max_retries"),
    [
        ({}, "omega", 3),
        ({"subject": "story-1"}, "omega", 3),
        ({"type": "action", "payload": SCRIPTED}, "agent", 5),
        ({"type": "action", "payload": SCRIPTED, "subject": "story-1"}, "enrichment", 3),
    ],
)
def test_a_task_that_names_no_policy_has_one_by_its_type_and_subject(
    fields: dict[str, Any], policy: str, max_retries: int
) -> None:
    task = a_requested_task(**SOON, **fields)
    assert (task.policy, task.max_retries) == (policy, max_retries)


@pytest.mark.parametrize(("policy", "usual"), [("omega", 3), ("agent", 5), ("enrichment", 3)])
def test_a_task_has_the_retries_of_the_policy_it_names(policy: str, usual: int) -> None:
    task = a_requested_task(**SOON, policy=policy)
    assert (task.policy, task.max_retries) == (policy, usual)


def test_a_task_may_name_both_its_policy_and_its_retries() -> None:
    task = a_requested_task(**SOON, policy="agent", max_retries=2)
    assert (task.policy, task.max_retries) == ("agent", 2)


# What is left out


def test_what_is_not_named_gets_its_default() -> None:
    task = a_requested_task(**SOON)
    assert (task.type, task.channel, task.sender_id, task.reply_target) == (
        *("reminder", "console", "api", "api"),
    )
    assert (task.timezone, task.repeat, task.policy, task.max_retries) == ("UTC", None, "omega", 3)


def test_the_answer_goes_to_the_sender_unless_told_otherwise() -> None:
    assert a_requested_task(**SOON, sender_id="ada").reply_target == "ada"


def test_null_is_as_good_as_left_out() -> None:
    assert a_requested_task(**SOON, due_at=None, subject=None) == a_requested_task(**SOON)


@pytest.mark.parametrize(
    ("field", "value"),
    [("description", "x" * 4000), ("sender_id", "é" * 256), ("max_retries", 100)],
)
def test_the_most_that_is_allowed_is_taken(field: str, value: Any) -> None:
    assert getattr(a_requested_task(**SOON, **{field: value}), field) == value


def test_a_payload_may_fill_its_32_kibibytes_to_the_last_byte() -> None:
    payload = {"a": "x" * (32 * 1024 - len('{"a": ""}'))}
    assert a_requested_task(**SOON, payload=payload).payload == payload


# Times


@pytest.mark.parametrize(
    ("given", "due_at"),
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
def test_a_first_time_comes_to_its_instant(given: dict[str, Any], due_at: str) -> None:
    task = a_requested_task(**given)
    assert (task.due_at, task.nominal_at) == (parse_instant(due_at), parse_instant(due_at))


@pytest.mark.parametrize("early", [MILLISECOND, HOUR, timedelta(days=9999)])
def test_a_time_in_the_past_is_refused(early: timedelta) -> None:
    raw = {"description": "x", "due_at": (NOW - early).isoformat()}
    assert refusals(raw) == [("due_at", "is in the past")]


def test_this_very_moment_is_not_the_past() -> None:
    assert a_requested_task(due_at=NOW.isoformat()).due_at == NOW


def test_a_time_a_century_ahead_is_refused() -> None:
    raw = {"description": "x", "due_at": "2126-02-20T12:00:00Z"}
    assert refusals(raw) == [("due_at", "must be within 100 years")]


def test_the_moment_of_creation_is_rounded_down_to_what_can_be_stored() -> None:
    task = a_requested_task(**SOON, now=NOW + timedelta(microseconds=1999))
    assert (task.created_at, task.due_at) == (NOW + MILLISECOND, NOW + MILLISECOND + 5 * MINUTE)


@pytest.mark.parametrize("repeat", ["FREQ=DAILY;UNTIL=20250101", "FREQ=DAILY;UNTIL=20260217T1259"])
def test_a_rule_that_can_never_fire_is_refused(repeat: str) -> None:
    raw = {"description": "x", "in": "1h", "repeat": repeat}
    assert [name for name, _ in refusals(raw)] == ["repeat"]


def test_a_first_time_that_the_clocks_skip_stays_the_anchor_of_its_series() -> None:
    task = a_requested_task(due_at="2026-03-29T02:30", timezone=BERLIN, repeat="daily")
    series = task.series
    assert series is not None
    assert series.next_after(task.due_at) == parse_instant("2026-03-30T00:30Z")  # 02:30 again


def test_an_rrule_written_with_blanks_needs_a_first_time_all_the_same() -> None:
    raw = {"description": "x", "repeat": "FREQ = DAILY ; COUNT=3"}
    assert refusals(raw) == [("due_at", "is required: give due_at or in")]
