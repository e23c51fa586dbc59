"""Where it is asked for, retries wait as long as has worked for their category."""

from __future__ import annotations

import pytest

from tests.simulation.test_failures import (
    SUCCESS,
    TYPE_ERROR,
    an_action,
    is_about,
    the_error_of,
    wait_of,
)
from tests.support.stack_client import running_stack

ENOUGH = 20


def test_a_delay_that_never_works_gives_way_to_one_that_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ADAPT_DELAYS", "on")
    with running_stack() as client:
        for _ in range(ENOUGH):
            an_action(client, TYPE_ERROR, TYPE_ERROR, SUCCESS)
        client.advance("1h")
        made = an_action(client, TYPE_ERROR)
        client.advance("11s")
        task, error = client.task(made["id"]), the_error_of(client, made)
        history = client.items(f"/tasks/{made['id']}/history")
        told = client.call("GET", "/delays").body

    assert is_about(wait_of(task, error["at"]), 300)
    assert error["adapted"] == {
        "policy_delay_seconds": 120,
        "delay_seconds": 300,
        "tried": ENOUGH,
        "worked": ENOUGH,
        "because": "After 2 minutes 0 of 20 retries worked, after 5 minutes 20 of 20.",
    }
    [scheduled] = [event for event in history if event["type"] == "task:retry_scheduled"]
    assert scheduled["detail"]["adapted"] == error["adapted"]
    assert told["adapting"] is True
    rates = {one["delay_seconds"]: one["success_percent"] for one in told["items"]}
    assert rates == {120: 0.0, 300: 100.0}
