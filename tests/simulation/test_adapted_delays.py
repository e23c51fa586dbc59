"""With ADAPT_DELAYS, retries wait as long as has worked for their category."""

from __future__ import annotations

import pytest

from tests.simulation.test_failures import (
    SUCCESS,
    TYPE_ERROR,
    create_action,
    is_within_jitter,
    only_error_of,
    retry_delay_of,
)
from tests.support.stack_client import running_stack

MIN_SAMPLES = 20


def test_a_delay_that_never_works_is_replaced_by_one_that_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADAPT_DELAYS", "on")
    with running_stack() as client:
        for _ in range(MIN_SAMPLES):
            create_action(client, TYPE_ERROR, TYPE_ERROR, SUCCESS)
        client.advance("1h")
        created = create_action(client, TYPE_ERROR)
        client.advance("11s")
        task, error = client.task(created["id"]), only_error_of(client, created)
        history = client.items(f"/tasks/{created['id']}/history")
        delays = client.call("GET", "/delays").body

    assert is_within_jitter(retry_delay_of(task, error["at"]), 300)
    assert error["adapted"] == {
        "policy_delay_seconds": 120,
        "delay_seconds": 300,
        "tried": MIN_SAMPLES,
        "worked": MIN_SAMPLES,
        "because": "After 2 minutes 0 of 20 retries worked, after 5 minutes 20 of 20.",
    }
    [scheduled] = [event for event in history if event["type"] == "task:retry_scheduled"]
    assert scheduled["detail"]["adapted"] == error["adapted"]
    assert delays["adapting"] is True
    rates = {delay["delay_seconds"]: delay["success_percent"] for delay in delays["items"]}
    assert rates == {120: 0.0, 300: 100.0}
