"""An idempotency key belongs to its token: it finds no task of another one."""

from __future__ import annotations

from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient


def test_two_tokens_do_not_share_an_idempotency_key(client: StackClient) -> None:
    body = {"in": "1h", "description": "mine", "reply_target": "ada"}
    headers = {"idempotency-key": "order-7"}

    def create(token: str, **changes: str) -> ApiResponse:
        return client.call("POST", "/tasks", {**body, **changes}, token=token, headers=headers)

    first, other, different = create("local"), create("local-write"), create("local-write", x="y")
    assert (first.status, other.status, different.status) == (201, 201, 422)
    assert other.body["id"] != first.body["id"]
    assert (first.body["created_by"], other.body["created_by"]) == ("local", "local-write")
    again, conflict = create("local"), create("local", description="another")
    assert (again.status, again.body["id"]) == (200, first.body["id"])
    assert conflict.status == 422
    assert len(client.items("/tasks")) == 2
