"""AWS calls of other processes to the local stack, over a real socket."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from local.runtime.aws_gateway import AwsGateway
from local.runtime.aws_server import AwsServer
from local.runtime.moto_backend import MotoBackend
from local.runtime.stack import Stack
from tests.support.stack_client import StackClient

SIGNED = "AWS4-HMAC-SHA256 Credential=key/20260217/us-east-1/sqs/aws4_request, Signature=0"
DEFAULT_HEADERS = {"Authorization": SIGNED, "X-Amz-Target": "AmazonSQS.ListQueues"}


class Served:
    def __init__(self, client: StackClient, url: str) -> None:
        self.client = client
        self.url = url

    def send(self, **headers: str | None) -> tuple[int, dict[str, Any]]:
        """Send a signed call with other headers; those that are None are left out."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            sent = {name: one for name, one in (DEFAULT_HEADERS | headers).items() if one}
            connection.request("POST", "/", b"{}", sent)
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()


@pytest.fixture
def served() -> Iterator[Served]:
    backend = MotoBackend()
    stack = Stack(is_clock_manual=True, backend=backend)
    stack.start()
    with AwsServer(AwsGateway(stack, backend), "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Served(StackClient(stack), server.url)
        server.shutdown()
    stack.stop()


def test_a_signed_call_is_answered(served: Served) -> None:
    status, body = served.send()
    assert status == 200
    assert any(url.endswith("/WorkQueue") for url in body["QueueUrls"])


@pytest.mark.parametrize("host", ["127.0.0.1:4566", "localhost", "host.docker.internal:4566"])
def test_names_of_this_machine_are_accepted(served: Served, host: str) -> None:
    assert served.send(Host=host)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},  # a page whose name leads to 127.0.0.1
        {"Host": "127.0.0.1.attacker.example:4566"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": "null"},
        {"Authorization": None},
        {"Authorization": "Bearer local"},
    ],
)
def test_web_pages_and_unsigned_calls_are_refused(
    served: Served, headers: dict[str, str | None]
) -> None:
    status, body = served.send(**headers)
    assert (status, body["__type"]) == (403, "AccessDeniedException")


def test_a_service_that_the_stack_does_not_have_is_an_error(served: Served) -> None:
    status, body = served.send(Authorization=SIGNED.replace("/sqs/", "/s3/"))
    assert (status, body["message"]) == (400, "the local stack has no s3")


def test_a_message_from_outside_is_processed(served: Served) -> None:
    """Whatever region and credentials the caller has."""
    task = served.client.create(**{"in": "1h"})
    body = {"task_id": task["id"], "due_at": task["due_at"]}
    request = {"QueueUrl": "WorkQueue", "MessageBody": json.dumps(body)}
    signature = SIGNED.replace("us-east-1", "ap-south-1")
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=30)
    headers = {"Authorization": signature, "X-Amz-Target": "AmazonSQS.SendMessage"}
    connection.request("POST", "/", json.dumps(request), headers)
    assert connection.getresponse().status == 200
    connection.close()

    served.client.advance("2h")

    assert [one["text"] for one in served.client.outbox("ada")] == ["Reminder: stretch"]


def test_the_samples_are_two_due_reminders_and_a_running_action(served: Served) -> None:
    assert served.client.call("POST", "/_local/samples").status == 200
    found = {one["id"][-1]: one["status"] for one in served.client.items("/tasks")}
    assert found == {"1": "pending", "2": "pending", "3": "in_progress"}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_websocket_that_is_closed_is_gone(served: Served, method: str) -> None:
    headers = DEFAULT_HEADERS | {"Authorization": SIGNED.replace("/sqs/", "/execute-api/")}
    connection = http.client.HTTPConnection(urlsplit(served.url).netloc, timeout=30)
    connection.request(method, "/live/@connections/abc%3D", b"text", headers)
    response = connection.getresponse()
    assert (response.status, response.headers["x-amzn-errortype"]) == (410, "GoneException")
    connection.close()
