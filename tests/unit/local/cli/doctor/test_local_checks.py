"""The schedules of a local stack on the real clock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from local.cli.client.http import ApiClient
from local.cli.client.server import server_from_env
from local.cli.doctor.local_checks import check_local_schedule
from local.cli.doctor.result import CheckResult
from tests.support.receiver import Receiver

SCANNER: dict[str, Any] = {
    "function": "scanner",
    "period_seconds": 60,
    "started_at": "2026-02-17T11:00:00.000Z",
    "last_tick_at": "2026-02-17T11:59:00.000Z",
    "last_error": None,
}


def check(clock: str = "real", **changes: Any) -> CheckResult:
    with Receiver() as stack:
        body = {"now": "2026-02-17T12:00:00.000Z", "clock": clock, "items": [SCANNER | changes]}
        stack.answer(200, json.dumps(body).encode())
        return check_local_schedule(ApiClient(server_from_env({"DUECOURSE_URL": stack.url("")})))


def test_a_schedule_that_ticks_is_fine() -> None:
    assert check().status == "ok"


def test_a_schedule_that_stopped_is_found() -> None:
    result = check(last_tick_at="2026-02-17T11:57:00.000Z")

    assert result.status == "failed"
    assert result.detail == "scanner has not ticked since 2026-02-17T11:57:00.000Z"


def test_a_schedule_that_never_ticked_is_found() -> None:
    assert check(last_tick_at=None).status == "failed"


@pytest.mark.parametrize(
    "changes",
    [
        {"last_tick_at": None, "started_at": "2026-02-17T11:59:00.000Z"},
        {"last_tick_at": None, "started_at": None},
    ],
)
def test_a_stack_that_just_started_is_fine(changes: dict[str, Any]) -> None:
    assert check(**changes).status == "ok"


def test_a_manual_clock_may_stand_still() -> None:
    result = check("manual", last_tick_at="2026-02-17T10:00:00.000Z")

    assert (result.status, "manual" in result.detail) == ("ok", True)
