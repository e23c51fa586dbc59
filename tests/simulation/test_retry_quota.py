"""A reset lets every client retry again, whichever emulation of AWS it was created for."""

from __future__ import annotations

from tests.support.stack_client import StackClient, moto_stack, running_stack

WRITE = {"function": "api", "call": "dynamodb.PutItem", "kind": "timeout"}
BODY = {"description": "stretch", "reply_target": "ada", "sender_id": "ada", "in": "1h"}
FAILURES = 20  # three retries of each use up botocore's quota


def test_retries_used_up_before_a_reset_are_available_after_it() -> None:
    with moto_stack() as on_moto:
        on_moto.create(**{"in": "1h"})  # the models keep the client of the first stack
    with running_stack() as client:
        client.add_fault(**WRITE, times=1_000)
        for _ in range(FAILURES):
            assert client.call("POST", "/tasks", BODY).status == 500
        assert _count_attempts(client) == 1

        assert client.call("POST", "/_local/reset").status == 200
        client.add_fault(**WRITE, times=2)
        assert client.call("POST", "/tasks", BODY).status == 201


def _count_attempts(client: StackClient) -> int:
    before = client.stack.calls.counts["api", "dynamodb.PutItem"]
    assert client.call("POST", "/tasks", BODY).status == 500
    return client.stack.calls.counts["api", "dynamodb.PutItem"] - before
