"""Any JSON is refused field by field, or becomes a task that can be stored."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import available_timezones

from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_mapper import to_item, to_task
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.requests.task_changes import parse_changes
from duecourse.domain.tasks.task import Task
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import SOON, STACK_CAPABILITIES, a_requested_task, task_from_json
from tests.support.examples import scale_examples

property_settings = settings(
    max_examples=scale_examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
plain |= st.sampled_from(["\ud800", "x" * 5000, 10**400, -1, 0, ""])
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
ZONES = sorted(available_timezones() - {"localtime", "Factory"})
moments = st.datetimes(datetime.fromisoformat("2026-02-17"), datetime.fromisoformat("2126-02-01"))
CHANGES = ["2026-03-29T02:30", "2026-10-25T02:30", "2026-03-08T02:30", "2026-10-04T02:15"]
finite = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text("aé☃😀\0", max_size=9)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("aé"), inner, max_size=3),
)
RULES = ["daily", "weekdays", "monthly", "0 9 * * 1", "FREQ=HOURLY;INTERVAL=5", "once"]
sensible: dict[str, st.SearchStrategy[Any]] = {
    "description": st.text(min_size=1, max_size=50),
    "type": st.just("reminder"),
    "channel": st.sampled_from(["console", "slack"]),
    "sender_id": st.text(min_size=1, max_size=20),
    "reply_target": st.text(min_size=1, max_size=20),
    "subject": st.text(min_size=1, max_size=20),
    "policy": st.just("omega"),
    "verify": st.just(False),
    "max_retries": st.integers(1, 100),
    "payload": st.dictionaries(st.text("aé"), finite, max_size=4),
    "timezone": st.sampled_from([*ZONES, "Europe/Berlin", "Australia/Lord_Howe"]),
    "repeat": st.sampled_from(RULES),
    "in": st.integers(0, 10**9) | st.sampled_from(["5m", "2h30m"]),
    "due_at": (moments | moments.map(lambda wall: wall.replace(tzinfo=UTC))).map(str)
    | st.sampled_from(CHANGES),
}
wild = st.fixed_dictionaries(
    {}, optional={name: fitting | anything for name, fitting in sensible.items()}
)
requests = st.fixed_dictionaries(
    {"description": sensible["description"]},
    optional={name: sensible[name] for name in sensible.keys() - {"description", "in", "due_at"}},
)
starts = st.fixed_dictionaries({"due_at": sensible["due_at"]}) | st.fixed_dictionaries(
    {"in": sensible["in"]}
)
almost_valid = st.builds(
    lambda raw, start, odd: {**raw, **start, **odd},
    *(requests, starts),
    st.sampled_from(sorted(sensible)).flatmap(lambda name: st.fixed_dictionaries({name: anything})),
)
bodies = wild | almost_valid | st.dictionaries(st.text(), anything)
SKIPPED = {"description": "x", "due_at": "2026-03-29T02:30", "timezone": "Europe/Berlin"}


def parse_or_discard(raw: dict[str, Any]) -> Task:
    with suppress(InvalidFieldsError):
        return task_from_json(raw)
    assume(False)
    raise AssertionError


def store_and_load(task: Task) -> Task:
    item = to_item(task, shard_count=4, retention=timedelta(days=30))
    return to_task(TaskItem.from_raw_data(item.serialize()))


@property_settings
@given(raw=bodies)
def test_a_new_task_is_accepted_or_refused_by_its_fields(raw: dict[str, Any]) -> None:
    with suppress(InvalidFieldsError):
        task_from_json(raw)


@property_settings
@given(
    raw=bodies,
    repeat=st.none() | sensible["repeat"],
    zone=sensible["timezone"],
)
def test_a_change_is_accepted_or_refused_by_its_fields(
    raw: dict[str, Any], repeat: str | None, zone: str
) -> None:
    task = a_requested_task(**SOON, repeat=repeat, timezone=zone)
    with suppress(InvalidFieldsError):
        parse_changes(task, raw, capabilities=STACK_CAPABILITIES, now=NOW)


@property_settings
@given(raw=requests, start=starts)
def test_an_accepted_task_is_not_due_in_the_past(
    raw: dict[str, Any], start: dict[str, Any]
) -> None:
    assert parse_or_discard({**raw, **start}).due_at >= NOW


@property_settings
@example(raw=SKIPPED, start={})
@given(raw=requests, start=starts)
def test_an_accepted_task_is_stored_unchanged(raw: dict[str, Any], start: dict[str, Any]) -> None:
    task = parse_or_discard({**raw, **start})
    assert store_and_load(task) == task


@property_settings
@given(raw=requests, start=starts)
def test_an_accepted_task_is_stored_unchanged_except_for_its_anchor(
    raw: dict[str, Any], start: dict[str, Any]
) -> None:
    """As above, without the anchor of a task that does not recur, which is not stored."""
    task = parse_or_discard({**raw, **start})
    assert replace(store_and_load(task), anchor=task.anchor) == task
