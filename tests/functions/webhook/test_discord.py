"""Discord, from its interaction to our reply."""

from __future__ import annotations

from tests.support.api_response import ApiResponse
from tests.support.platforms import (
    PING,
    WHAT,
    WHEN,
    Payload,
    as_direct_message,
    discord_command,
    discord_press,
    post,
    sent_texts,
    sign_request,
)
from tests.support.stack_client import StackClient

BOB = {"user": {"id": "1200000000000000099", "username": "bob"}, "roles": []}


def deliver(client: StackClient, interaction: Payload) -> ApiResponse:
    return post(client, sign_request("discord", interaction, at=client.stack.clock.now()))


def test_a_ping_is_answered_after_verification(client: StackClient) -> None:
    request = sign_request("discord", PING, at=client.stack.clock.now())

    response = post(client, request)
    assert (response.status, response.body) == (200, {"type": 1})
    assert response.headers["content-type"] == "application/json"
    assert post(client, request.with_header("x-signature-ed25519", "0" * 128)).status == 401


def test_a_command_is_acknowledged_and_answered_later(client: StackClient) -> None:
    response = deliver(client, discord_command("remind", WHEN, WHAT))
    client.advance("11m")

    assert (response.status, response.body) == (200, {"type": 5, "data": {"flags": 64}})
    reply, reminder = client.items("/_local/outbox?channel=discord&target=1200000000000000004")
    assert reply["text"].endswith(": tea")
    assert reminder["text"] == "Reminder: tea"


def test_a_command_in_a_direct_message_is_answered(client: StackClient) -> None:
    assert deliver(client, as_direct_message(discord_command("tasks"))).body == {"type": 5}
    assert len(sent_texts(client, "discord")) == 1


def test_a_redelivered_interaction_creates_one_task(client: StackClient) -> None:
    for _ in range(4):
        assert deliver(client, discord_command("remind", {**WHEN, "value": "in 2h"}, WHAT))
        client.advance("400s")

    assert len(client.items("/tasks")) == 1
    assert len(sent_texts(client, "discord")) == 1


def test_a_button_works_only_for_the_owner_of_the_task(client: StackClient) -> None:
    deliver(client, discord_command("remind", {**WHEN, "value": "in 2h"}, WHAT))
    [task] = client.items("/tasks")
    command = f"/cancel {task['id'][:8]}"

    assert deliver(client, discord_press(command, member=BOB)).body == {"type": 6}
    assert client.task(task["id"])["status"] == "pending"

    deliver(client, discord_press(command, id="1200000000000000008"))
    assert client.task(task["id"])["status"] == "cancelled"
