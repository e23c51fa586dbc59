"""A task in each state, for tests that go through all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.stack_client import StackClient

SUCCESS = {"reply": "All done.\nACTION_OUTCOME: success"}
DOWN = {"error": {"message": "connect ECONNREFUSED 10.0.0.1:5432", "code": "ECONNREFUSED"}}
BROKEN = {"error": {"message": 'file.ts(45,12): error TS2304: Cannot find name "foo"'}}
FORBIDDEN = {"error": {"message": "content policy violation", "code": "content_policy_violation"}}


def create_in_every_state(client: StackClient) -> dict[str, str]:
    """Create one task per state and return the ids by state. Advances more than an hour."""
    return {name: create(client) for name, create in CREATE_BY_STATE.items()}


def _create_pending(client: StackClient, **fields: Any) -> str:
    return str(client.create(**{"in": "5h"}, **fields)["id"])


def _create_delivered(client: StackClient) -> str:
    task_id = client.create(**{"in": "5s"})["id"]
    client.advance("6s")
    return str(task_id)


def _create_changed(client: StackClient, change: str) -> str:
    task_id = _create_pending(client)
    assert client.call("POST", f"/tasks/{task_id}/{change}").status == 200
    return task_id


def _run_action(
    client: StackClient, *script: dict[str, Any], after: str = "6s", **fields: Any
) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    task = client.create(type="action", payload=payload, **{"in": "5s"}, **fields)
    client.advance(after)
    return str(task["id"])


def _create_indeterminate(client: StackClient) -> str:
    client.add_fault(function="worker", call="provider.call")
    return _run_action(client, SUCCESS, after="20m")


# First those that need time to pass: for the others it must not.
CREATE_BY_STATE: dict[str, Callable[[StackClient], str]] = {
    "blocked": lambda client: _run_action(client, BROKEN, after="1h"),
    "indeterminate": _create_indeterminate,
    "failed": lambda client: _run_action(
        client, FORBIDDEN, policy="enrichment", subject="octo/garden"
    ),
    "to verify": lambda client: _run_action(client, SUCCESS, verify=True),
    "delivered": _create_delivered,
    "retried": lambda client: _run_action(client, DOWN),
    "waiting": _create_pending,
    "repeating": lambda client: _create_pending(client, repeat="daily"),
    "paused": lambda client: _create_changed(client, "pause"),
    "cancelled": lambda client: _create_changed(client, "cancel"),
}
