"""The API cannot delete an audit entry, and its role lets it do all that it does."""

from __future__ import annotations

from typing import Any

import pytest

from local.runtime.call_interceptor import Call
from tests.simulation.test_failures import create_action
from tests.simulation.test_journal_outages import REFUSED, SUCCESS, throttle_journal
from tests.support.role_policies import is_denied
from tests.support.stack_client import StackClient

DELETING = ("dynamodb:DeleteItem", "dynamodb:BatchWriteItem")
AUDIT_DAY = "audit#2026-02-17"


@pytest.mark.parametrize("action", DELETING)
def test_the_role_of_the_api_refuses_to_delete_an_audit_entry(action: str) -> None:
    permission = (action, "JournalTable")

    assert is_denied("api", permission, [AUDIT_DAY])
    assert is_denied("api", permission, ["dead-letters", AUDIT_DAY])
    assert not is_denied("api", permission, ["dead-letters", "category#timeout#2026-02-17"])


@pytest.mark.fault_may_miss
def test_no_request_of_the_api_is_refused_when_it_redrives_an_executed_action(
    client: StackClient,
) -> None:
    throttle_journal(client)
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("23h30m")
    assert client.call("DELETE", "/_local/faults").status == 200
    calls: list[Call] = []
    client.stack.calls.on_aws_call = calls.append

    assert client.call("POST", "/dead-letters/redrive").body["left"] == []
    client.advance("1m")

    requests = [call for call in calls if call.function == "api"]
    keys = [_journal_keys(call) for call in requests]
    assert AUDIT_DAY in {key for each in keys for key in each}
    for call, named in zip(requests, keys, strict=True):
        permission = (f"{call.service}:{call.operation}", "JournalTable")
        assert not is_denied("api", permission, named), call
    executed = [one for one in client.items("/audit?day=2026-02-17") if "run_id" in one]
    assert task["id"] in {one["task_id"] for one in executed}


@pytest.mark.fault_may_miss
def test_the_role_of_the_api_lets_it_erase_a_deleted_task_when_it_redrives(
    client: StackClient,
) -> None:
    """Erasing updates audit entries, so the role cannot refuse UpdateItem for their keys."""
    task = create_action(client, SUCCESS)
    client.advance("10m")
    throttle_journal(client)
    assert client.call("DELETE", f"/tasks/{task['id']}").status == 200
    client.advance("23h30m")
    assert client.call("DELETE", "/_local/faults").status == 200
    calls: list[Call] = []
    client.stack.calls.on_aws_call = calls.append

    assert client.call("POST", "/dead-letters/redrive").body["left"] == []

    updates = [one for one in calls if one.function == "api" and one.operation == "UpdateItem"]
    erasing = [keys for call in updates if AUDIT_DAY in (keys := _journal_keys(call))]
    assert erasing
    for keys in erasing:
        assert not is_denied("api", ("dynamodb:UpdateItem", "JournalTable"), keys)


def _journal_keys(call: Call) -> list[str]:
    """Return the partition keys of the journal that a request writes to."""
    body: dict[str, Any] = call.body
    if "RequestItems" in body and call.operation == "BatchWriteItem":
        requests = body["RequestItems"].get("JournalTable", ())
        return [_key(next(iter(one.values()))) for one in requests]
    if body.get("TableName") == "JournalTable" and ("Item" in body or "Key" in body):
        return [_key(body)]
    return []


def _key(request: dict[str, Any]) -> str:
    return str((request.get("Item") or request["Key"])["task_id"]["S"])
