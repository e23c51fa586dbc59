"""Outgoing webhooks: signatures, retries, and refused destinations."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from duecourse.app import stores
from duecourse.domain.time.instant import from_text

from local.runtime import aws_clients
from local.runtime.resources import SIGNING_KEY
from tests.support.api_response import ApiResponse
from tests.support.receiver import ReceivedRequest, Receiver
from tests.support.stack_client import StackClient

NEW_SIGNING_KEY = base64.b64encode(bytes(range(33))).decode()
DUE_AT = "2026-02-17T12:00:10.000Z"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


class FakeResolver:
    """A resolver for the known names; all others do not exist."""

    def __init__(self) -> None:
        self.addresses: dict[str, list[str]] = {"127.0.0.1": ["127.0.0.1"]}

    def resolve(self, host: str, port: int, *_: Any, **__: Any) -> list[Any]:
        if host not in self.addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        kind = socket.SOCK_STREAM
        return [(socket.AF_INET, kind, 6, "", (address, port)) for address in self.addresses[host]]


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> FakeResolver:
    resolver = FakeResolver()
    monkeypatch.setattr(socket, "getaddrinfo", resolver.resolve)
    return resolver


def create_webhook(client: StackClient, url: str, **more: Any) -> str:
    fields = {name: more.pop(name) for name in ("repeat", "policy", "verify") if name in more}
    payload = {"url": url, **more}
    return str(client.create(type="webhook", payload=payload, **{"in": "10s"}, **fields)["id"])


def run_webhook(client: StackClient, url: str, **more: Any) -> dict[str, Any]:
    """Create the webhook and return it just after its first run."""
    task_id = create_webhook(client, url, **more)
    client.advance("15s")
    return client.task(task_id)


def runs_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task['id']}/runs")


def host_key(host: str, master: str = SIGNING_KEY) -> bytes:
    """Derive the key of a host by RFC 5869, without the product's code."""
    salt = b"duecourse webhook signing key of a host"
    return HKDF(SHA256(), 32, salt=salt, info=host.encode()).derive(base64.b64decode(master))


def signature_of(sent: ReceivedRequest, key: bytes | None = None) -> str:
    """Compute the signature by the Standard Webhooks specification, without the product's code."""
    signed = f"{sent.headers['webhook-id']}.{sent.headers['webhook-timestamp']}."
    key = key or host_key("127.0.0.1")
    digest = hmac.new(key, signed.encode() + sent.body, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def is_valid(sent: ReceivedRequest, key: bytes | None = None) -> bool:
    """Verify the request as a receiver with that key does."""
    signatures = sent.headers["webhook-signature"].split(" ")
    return any(hmac.compare_digest(one, signature_of(sent, key)) for one in signatures)


# The request


def test_a_webhook_is_one_signed_post(client: StackClient, receiver: Receiver) -> None:
    body = {"text": "Grüße", "n": [1, None]}
    task = run_webhook(client, receiver.url("/hook?a=1"), body=body, headers={"X-Team": "tides"})
    [sent] = receiver.requests
    assert (sent.method, sent.path, sent.json) == ("POST", "/hook?a=1", body)
    assert (sent.headers["content-type"], sent.headers["x-team"]) == ("application/json", "tides")
    assert is_valid(sent)
    assert task["status"] == "completed"


def test_a_signature_covers_body_time_and_id(client: StackClient, receiver: Receiver) -> None:
    run_webhook(client, receiver.url("/hook"))
    [sent] = receiver.requests
    assert is_valid(sent)
    for name in ("webhook-id", "webhook-timestamp"):
        changed = ReceivedRequest(
            sent.method, sent.path, {**sent.headers, name: sent.headers[name] + "0"}, sent.body
        )
        assert not is_valid(changed)
    other = ReceivedRequest(sent.method, sent.path, sent.headers, sent.body + b" ")
    assert not is_valid(other)


def test_the_timestamp_is_the_time_of_the_clock(client: StackClient, receiver: Receiver) -> None:
    run_webhook(client, receiver.url("/hook"))
    timestamp = int(receiver.requests[0].headers["webhook-timestamp"])
    assert timestamp == int(from_text(DUE_AT).timestamp())


def test_the_default_body_describes_the_task(client: StackClient, receiver: Receiver) -> None:
    task = run_webhook(client, receiver.url("/hook"))
    assert receiver.requests[0].json == {
        "task_id": task["id"],
        "description": "stretch",
        "nominal_at": DUE_AT,
    }


def test_the_response_is_stored(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(202, b'{"queued": true}')
    [run] = runs_of(client, run_webhook(client, receiver.url("/hook")))
    assert run["mutation"]["result"] == {"status": 202, "body": '{"queued": true}'}


def test_the_idempotency_key_is_that_of_the_run(client: StackClient, receiver: Receiver) -> None:
    [run] = runs_of(client, run_webhook(client, receiver.url("/hook")))
    headers = receiver.requests[0].headers
    assert headers["idempotency-key"] == headers["webhook-id"] == run["mutation"]["key"]


def test_the_signing_key_is_not_exposed(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(500, b"no")
    task = run_webhook(client, receiver.url("/hook"))
    visible = [task, *runs_of(client, task), *client.items(f"/tasks/{task['id']}/history")]
    shown = str(visible) + str(receiver.requests)
    for key in (SIGNING_KEY, base64.b64encode(host_key("127.0.0.1")).decode()):
        assert key not in shown


def put_signing_keys(client: StackClient, **keys: str | list[str]) -> None:
    """Replace the signing secret, and wait until the worker reads it again."""
    secret_id = stores.settings().webhook_signing_secret
    secrets = aws_clients.client("secretsmanager")
    secrets.put_secret_value(SecretId=secret_id, SecretString=json.dumps(keys))
    client.advance("5m")


def test_a_receiver_cannot_sign_for_another(
    client: StackClient, receiver: Receiver, resolver: FakeResolver
) -> None:
    hosts = ["one.example", "other.example"]
    resolver.addresses |= {key: ["127.0.0.1"] for key in hosts}
    for host in hosts:
        run_webhook(client, receiver.url("/hook", host=host))
    one, other = receiver.requests
    one_key, other_key = map(host_key, hosts)
    assert (is_valid(one, one_key), is_valid(other, other_key)) == (True, True)
    assert (is_valid(one, other_key), is_valid(other, one_key)) == (False, False)


def test_a_signing_key_is_replaced_without_a_refused_request(
    client: StackClient, receiver: Receiver
) -> None:
    def who_accepts() -> tuple[bool, bool]:
        """Return whether a receiver with the old key accepts, and one with the new."""
        run_webhook(client, receiver.url("/hook"))
        keys = [host_key("127.0.0.1", key) for key in (SIGNING_KEY, NEW_SIGNING_KEY)]
        return is_valid(receiver.requests[-1], keys[0]), is_valid(receiver.requests[-1], keys[1])

    assert who_accepts() == (True, False)
    put_signing_keys(client, webhook_signing=[NEW_SIGNING_KEY, SIGNING_KEY])
    assert who_accepts() == (True, True)
    put_signing_keys(client, webhook_signing=[NEW_SIGNING_KEY])
    assert who_accepts() == (False, True)


def test_a_receiver_with_the_shared_key_is_served_until_the_key_is_removed(
    client: StackClient, receiver: Receiver
) -> None:
    """Before each host had its own key, every receiver verified by the stack's own."""

    def is_accepted() -> bool:
        run_webhook(client, receiver.url("/hook"))
        return is_valid(receiver.requests[-1], base64.b64decode(SIGNING_KEY))

    assert is_accepted()
    put_signing_keys(client, webhook_signing=NEW_SIGNING_KEY, webhook_signing_shared=SIGNING_KEY)
    assert is_accepted()
    put_signing_keys(client, webhook_signing=NEW_SIGNING_KEY, webhook_signing_shared="")
    assert not is_accepted()
    assert is_valid(receiver.requests[-1], host_key("127.0.0.1", NEW_SIGNING_KEY))


# The response


def test_a_server_error_is_retried_with_the_same_key(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.answer(500, b"out of order")
    receiver.answer(503, b"still")
    receiver.answer(200)
    task = run_webhook(client, receiver.url("/hook"), policy="agent")
    assert (task["status"], task["retry_count"]) == ("pending", 1)
    assert task["last_error"] == "127.0.0.1 answered 500: out of order"
    client.advance("1h")

    runs = runs_of(client, task)
    assert client.task(task["id"])["status"] == "completed"
    assert [run["mutation"]["status"] for run in runs] == ["failed", "failed", "applied"]
    keys = {sent.headers["idempotency-key"] for sent in receiver.requests}
    assert keys == {runs[0]["mutation"]["key"]}
    assert len({sent.headers["webhook-timestamp"] for sent in receiver.requests}) == 3
    assert all(map(is_valid, receiver.requests))


def test_the_next_occurrence_has_another_key(client: StackClient, receiver: Receiver) -> None:
    run_webhook(client, receiver.url("/hook"), repeat="daily")
    client.advance("1d")
    first, second = [sent.headers["idempotency-key"] for sent in receiver.requests]
    assert first != second


@pytest.mark.parametrize(
    ("retry_after", "seconds"), [("600", 600), ("Tue, 17 Feb 2026 12:20:10 GMT", 1200)]
)
def test_retry_after_of_the_receiver_is_honoured(
    client: StackClient, receiver: Receiver, retry_after: str, seconds: int
) -> None:
    receiver.answer(429, b"slow down", headers={"Retry-After": retry_after})
    receiver.answer(200)
    task = run_webhook(client, receiver.url("/hook"))
    wait = from_text(task["next_retry_at"]) - from_text(DUE_AT)
    assert timedelta(seconds=seconds) <= wait <= 1.1 * timedelta(seconds=seconds)
    client.advance("30m")
    assert client.task(task["id"])["status"] == "completed"
    assert len(receiver.requests) == 2


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
def test_a_client_error_is_a_failure_with_its_status(
    client: StackClient, receiver: Receiver, status: int
) -> None:
    receiver.answer(status, b"no")
    task = run_webhook(client, receiver.url("/hook"))
    [error] = client.items(f"/tasks/{task['id']}/errors")
    assert (error["status"], error["message"]) == (status, f"127.0.0.1 answered {status}: no")
    assert runs_of(client, task)[0]["mutation"]["status"] == "failed"


def test_a_dropped_connection_is_indeterminate(client: StackClient, receiver: Receiver) -> None:
    receiver.drop_connection()
    task = run_webhook(client, receiver.url("/hook"))
    client.advance("3d")
    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "ask_person")
    [run] = runs_of(client, task)
    assert (run["status"], run["mutation"]["status"]) == ("paused:reconciliation", "indeterminate")
    assert len(receiver.requests) == 1
    [text] = [sent["text"] for sent in client.outbox("ada")]
    assert "(stretch) may or may not have happened." in text


def test_a_truncated_success_response_counts_as_applied(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.truncate_body()
    task = run_webhook(client, receiver.url("/hook"))
    [run] = runs_of(client, task)
    assert (task["status"], run["mutation"]["result"]) == (
        *("completed", {"status": 200, "body": None}),
    )


def test_every_attempt_has_the_same_body_and_key(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(503)
    receiver.answer(200)
    run_webhook(client, receiver.url("/hook"))
    client.advance("10m")
    first, second = receiver.requests
    assert first.body == second.body
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


def test_an_idempotent_webhook_is_retried_after_a_dropped_connection(
    client: StackClient, receiver: Receiver
) -> None:
    receiver.drop_connection()
    receiver.answer(200)
    task = run_webhook(client, receiver.url("/hook"), idempotent=True)
    client.advance("1h")
    assert client.task(task["id"])["status"] == "completed"
    first, second = receiver.requests
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]


def test_a_gateway_timeout_is_indeterminate(client: StackClient, receiver: Receiver) -> None:
    receiver.answer(504)
    assert run_webhook(client, receiver.url("/hook"))["recovery_action"] == "ask_person"


def test_a_refused_connection_is_a_plain_failure(client: StackClient) -> None:
    with Receiver() as stopped_server:
        url = stopped_server.url("/hook")
    task = run_webhook(client, url)
    assert (task["status"], task["last_error"]) == (
        *("pending", "no connection to 127.0.0.1: ECONNREFUSED"),
    )
    assert runs_of(client, task)[0]["mutation"]["status"] == "failed"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(client: StackClient, receiver: Receiver, status: int) -> None:
    with Receiver() as other:
        receiver.redirect(other.url("/elsewhere"), status)
        task = run_webhook(client, receiver.url("/hook"))
        assert other.connections == 0
    assert f"answered {status} (redirects are not followed)" in task["last_error"]


def test_a_webhook_can_be_verified(client: StackClient, receiver: Receiver) -> None:
    task = run_webhook(client, receiver.url("/hook"), verify=True)
    assert task["status"] == "pending_verification"
    assert client.call("POST", f"/tasks/{task['id']}/approve").body["status"] == "completed"
    assert len(receiver.requests) == 1


# Refused destinations

REFUSED_HOSTS = [
    "169.254.169.254",
    "169.254.170.2",
    "0.0.0.0",  # noqa: S104 - a destination, not a bind address
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "2130706433",  # other spellings of 127.0.0.1
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "2852039166",  # other spellings of the metadata service
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "[::]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:127.0.0.1]",
    "[::169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::1]",
    "[2001::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
]
REFUSED_URLS = [
    "https://user@127.0.0.1/",
    "https://user:secret@example.com/",
    "https://example.com@169.254.169.254/",
    "https://169.254.169.254#@example.com/",
    "https://169.254.169.254\\@example.com/",
    "https://[fe80::1%25eth0]/",
    "https://１６９.254.169.254/",
    "https://169。254。169。254/",
    "https://exa mple.com/",
    "https://example.com/\r\nX-Evil: 1",
    "https:///latest/meta-data",
    "https://example.com:0/",
    "https://example.com:65536/",
    "//169.254.169.254/",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "ftp://127.0.0.1/",
    "javascript:alert(1)",
    "",
    "x" * 3_000,
]


@pytest.fixture(scope="module")
def local_server() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def post_webhook(client: StackClient, url: Any, **more: Any) -> ApiResponse:
    body = {"type": "webhook", "description": "x", "in": "10s", "payload": {"url": url, **more}}
    return client.call("POST", "/tasks", body)


def unexpected_responses(client: StackClient, urls: list[str]) -> dict[str, Any]:
    """Return the responses to the URLs that were not refused as they should be."""
    answers = {url: post_webhook(client, url) for url in urls}
    return {
        url: answer.body
        for url, answer in answers.items()
        if answer.status != 422 or answer.body["errors"][0]["field"] != "payload"
    }


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_private_addresses_are_refused(
    client: StackClient, local_server: Receiver, scheme: str
) -> None:
    urls = [f"{scheme}://{host}:{local_server.port}/hook" for host in REFUSED_HOSTS]
    assert unexpected_responses(client, urls) == {}
    client.advance("1h")
    assert (local_server.connections, client.items("/tasks")) == (0, [])


def test_ambiguous_urls_are_refused(client: StackClient) -> None:
    assert unexpected_responses(client, REFUSED_URLS) == {}


@pytest.mark.parametrize("url", [None, 7, ["https://example.com"], {"url": "https://example.com"}])
def test_a_url_must_be_text(client: StackClient, url: Any) -> None:
    assert post_webhook(client, url).status == 422


def test_an_edit_cannot_set_a_private_address(client: StackClient, receiver: Receiver) -> None:
    task_id = create_webhook(client, receiver.url("/hook"))
    for host in ("169.254.169.254", "[::ffff:a9fe:a9fe]", "2852039166"):
        answer = client.call("PATCH", f"/tasks/{task_id}", {"payload": {"url": f"https://{host}/"}})
        assert answer.status == 422
    assert client.task(task_id)["payload"]["url"] == receiver.url("/hook")


@pytest.mark.parametrize("name", ["Host", "Content-Length", "Webhook-Signature", "Idempotency-Key"])
def test_a_reserved_header_is_refused(client: StackClient, name: str) -> None:
    answer = post_webhook(client, "https://example.com/", headers={name: "x"})
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "payload")


@pytest.mark.parametrize(
    "addresses",
    [
        ["169.254.169.254"],
        ["10.0.0.1"],
        ["::ffff:169.254.169.254"],
        ["fd00:ec2::254"],
        ["fe80::1%eth0"],
        ["127.0.0.1", "169.254.169.254"],
        ["93.184.215.14", "10.0.0.1"],
    ],
)
def test_a_name_that_resolves_to_a_private_address_is_refused(
    client: StackClient, resolver: FakeResolver, receiver: Receiver, addresses: list[str]
) -> None:
    task_id = create_webhook(client, f"https://metadata.example:{receiver.port}/hook")
    resolver.addresses["metadata.example"] = addresses
    client.advance("15s")
    task = client.task(task_id)
    assert task["last_error"] == (
        "the host metadata.example resolves to an address that is not public"
    )
    assert runs_of(client, task)[0]["mutation"]["status"] == "failed"
    assert receiver.connections == 0


def test_a_name_is_resolved_and_checked_at_every_attempt(
    client: StackClient, resolver: FakeResolver, receiver: Receiver
) -> None:
    receiver.answer(503)
    resolver.addresses["rebinding.example"] = ["127.0.0.1"]
    url = receiver.url("/hook", host="rebinding.example")
    task_id = create_webhook(client, url, policy="agent")
    client.advance("15s")
    assert client.task(task_id)["last_error"] == "rebinding.example answered 503"
    resolver.addresses["rebinding.example"] = ["169.254.169.254"]
    client.advance("10m")
    assert "rebinding.example can be reached over https only" in client.task(task_id)["last_error"]
    assert len(receiver.requests) == 1


def test_plain_http_is_refused_for_other_hosts(client: StackClient, resolver: FakeResolver) -> None:
    resolver.addresses["public.example"] = ["93.184.215.14"]
    task = run_webhook(client, "http://public.example/hook")
    assert task["last_error"] == "the host public.example can be reached over https only"


def test_an_unknown_name_is_reported(client: StackClient, resolver: FakeResolver) -> None:
    assert "nowhere.example" not in resolver.addresses
    task = run_webhook(client, "https://nowhere.example/hook")
    assert task["last_error"] == "the host nowhere.example was not found"
