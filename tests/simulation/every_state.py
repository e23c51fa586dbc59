"""A task in each state that one can be in, for tests that go through them all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.stack_client import StackClient

DONE = {"reply": "All done.\nACTION_OUTCOME: success"}
DOWN = {"error": {"message": "connect ECONNREFUSED 10.0.0.1:5432", "code": "ECONNREFUSED"}}
BROKEN = {"error": {"message": 'file.ts(45,12): error TS2304: Cannot find name "foo"'}}
FORBIDDEN = {"error": {"message": "content policy violation", "code": "content_policy_violation"}}


def in_every_state(client: StackClient) -> dict[str, str]:
    """Their ids, by what they are. More than an hour passes."""
    return {name: make(client) for name, make in MAKERS.items()}


def _waiting(client: StackClient, **fields: Any) -> str:
    return str(client.create(**{"in": "5h"}, **fields)["id"])


def _delivered(client: StackClient) -> str:
    task_id = client.create(**{"in": "5s"})["id"]
    client.advance("6s")
    return str(task_id)


def _asked(client: StackClient, wish: str) -> str:
    task_id = _waiting(client)
    assert client.call("POST", f"/tasks/{task_id}/{wish}").status == 200
    return task_id


def _action(client: StackClient, *script: dict[str, Any], after: str = "6s", **fields: Any) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    task = client.create(type="action", payload=payload, **{"in": "5s"}, **fields)
    client.advance(after)
    return str(task["id"])


def _in_doubt(client: StackClient) -> str:
    client.add_fault(function="worker", call="provider.call")
    return _action(client, DONE, after="20m")


# Those that time passes for come first: for the others it must not.
MAKERS: dict[str, Callable[[StackClient], str]] = {
    "blocked": lambda client: _action(client, BROKEN, after="1h"),
    "in doubt": _in_doubt,
    "failed": lambda client: _action(client, FORBIDDEN, policy="enrichment", subject="octo/garden"),
    "to verify": lambda client: _action(client, DONE, verify=True),
    "delivered": _delivered,
    "retried": lambda client: _action(client, DOWN),
    "waiting": _waiting,
    "repeating": lambda client: _waiting(client, repeat="daily"),
    "paused": lambda client: _asked(client, "pause"),
    "cancelled": lambda client: _asked(client, "cancel"),
}
