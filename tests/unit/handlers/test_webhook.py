"""The webhook handler: payload validation, the request, and how its response is read."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from duecourse.adapters.http.client import SsrfSafeHttpClient
from duecourse.domain.errors import NotAttemptedError, NotConfiguredError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.http.exchange import HttpResponse, NoResponseError, NotSentError
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import RunContext, capabilities_of, check_payload
from duecourse.domain.tasks.run import IndeterminatePolicy
from duecourse.handlers.webhook import HeaderSecretError, WebhookHandler, WebhookRefusedError
from duecourse.version import __version__

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID, a_task
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import ReceivedRequest, Receiver
from tests.unit.domain.http.test_ip_rules import INTERNAL

KEY = bytes(range(32))
OLD_KEY = bytes(range(32, 64))
MINUTE = timedelta(minutes=1)
URL = "https://hooks.example/hook"
TOKEN = "Bearer s3cret"


class FixedKeys:
    def __init__(self, **secrets: str | list[str]) -> None:
        self._secrets = secrets

    def get(self, name: str) -> str | list[str] | None:
        return self._secrets.get(name)


class NoKeys:
    def get(self, name: str) -> str | None:
        raise OSError(f"cannot read {name}")


SIGNING = FixedKeys(webhook_signing="whsec_" + base64.b64encode(KEY).decode())


class TimedHttpClient:
    """Records each request."""

    def __init__(self) -> None:
        self.timeouts: list[timedelta] = []
        self.headers: list[Mapping[str, str]] = []
        self.bodies: list[bytes] = []

    def post(
        self,
        url: str,  # noqa: ARG002
        body: bytes,
        headers: Mapping[str, str],
        *,
        timeout: timedelta,
    ) -> HttpResponse:
        self.timeouts.append(timeout)
        self.headers.append(headers)
        self.bodies.append(body)
        return HttpResponse(200, {}, b"")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


HANDLER = WebhookHandler(
    SsrfSafeHttpClient(is_loopback_allowed=True),
    SIGNING,
    ManualClock(NOW),
    is_loopback_allowed=True,
)


def work_of(payload: Mapping[str, Any], *, deadline: datetime = NOW + MINUTE) -> RunContext:
    task = a_task(type="webhook", payload=payload)
    return RunContext(
        task=task, idempotency_key="key-1", attempt=2, run_id="run-1", deadline=deadline
    )


def run(receiver: Receiver, handler: WebhookHandler = HANDLER, **payload: Any) -> Any:
    return handler.mutate(work_of({"url": receiver.url("/hook"), **payload}))


def refused(receiver: Receiver, **payload: Any) -> WebhookRefusedError:
    with pytest.raises(WebhookRefusedError) as error:
        run(receiver, **payload)
    return error.value


def problem_with(*, loopback_allowed: bool = False, **payload: Any) -> str:
    handler = WebhookHandler(TimedHttpClient(), SIGNING, ManualClock(NOW), loopback_allowed)
    with pytest.raises(ValueError, match=": ") as error:
        check_payload(payload, handler)
    return str(error.value)


# What the payload may say.


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"body": None},
        {"body": [1, {"a": "ü"}]},
        {"headers": {}},
        {"headers": {"Authorization": TOKEN, "Content-Type": "text/plain", "X_a!": "a\tb c"}},
        {"headers": {f"X-{number}": "" for number in range(20)}},
        {"timeout": 1},
        {"timeout": 30},
        {"idempotent": True},
        {"url": "https://8.8.8.8:8443/"},
        {"url": "https://localhost/"},  # a name is looked up only when it runs
    ],
)
def test_a_valid_payload_is_accepted(payload: dict[str, Any]) -> None:
    handler = WebhookHandler(TimedHttpClient(), SIGNING, ManualClock(NOW))
    check_payload({"url": URL, **payload}, handler)


def test_the_error_names_an_unknown_key() -> None:
    assert problem_with(url=URL, ulr=URL).startswith("ulr: unknown key; allowed keys: url, body")


def test_a_stored_payload_with_a_legacy_key_still_runs(receiver: Receiver) -> None:
    assert run(receiver, note="stored by earlier code")["status"] == 200


def test_a_url_is_required() -> None:
    assert problem_with(body={}) == "url: is required"


@pytest.mark.parametrize("url", [None, 5, [], {}, True])
def test_a_url_must_be_a_string(url: Any) -> None:
    assert problem_with(url=url) == "url: must be a string"


@pytest.mark.parametrize(
    "url", ["", "hook", "http://hooks.example/", "http://127.0.0.1/", "ftp://a/"]
)
def test_a_url_must_use_https(url: str) -> None:
    assert problem_with(url=url) == "url: must begin with https://"


def test_a_local_stack_accepts_http_on_the_loopback() -> None:
    HANDLER.check({"url": "http://127.0.0.1:3000/"})


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "127.0.0.1",
        "10.0.0.1",
        "100.64.0.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[fd00:ec2::254]",
    ],
)
def test_a_private_address_is_rejected_on_creation(host: str) -> None:
    assert problem_with(url=f"https://{host}/").endswith("is not a public address")


@pytest.mark.parametrize("url", ["http://8.8.8.8/", "https://169.254.169.254/", "http://[::]/"])
def test_a_local_stack_accepts_no_private_address_but_the_loopback(url: str) -> None:
    problem = problem_with(url=url, loopback_allowed=True)
    assert problem.endswith("is not a public address")


def test_a_url_with_a_password_is_rejected_without_quoting_it() -> None:
    problem = problem_with(url="https://user:s3cret@hooks.example/")
    assert problem == "url: must not contain a user name or a password"


@pytest.mark.parametrize("headers", [None, [], "X-A: b", {f"X-{n}": "" for n in range(21)}])
def test_headers_are_an_object_of_at_most_twenty(headers: Any) -> None:
    problem = problem_with(url=URL, headers=headers)
    assert problem == "headers: must be a JSON object of at most 20 headers"


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "HOST",
        "Content-Length",
        "Connection",
        "Keep-Alive",
        "Transfer-Encoding",
        "TE",
        "Trailer",
        "Upgrade",
        "Expect",
        "Proxy-Authorization",
        "Accept-Encoding",
        "Idempotency-Key",
        "webhook-id",
        "Webhook-Signature",
        "webhook-anything",
    ],
)
def test_a_reserved_header_cannot_be_set(name: str) -> None:
    assert (
        problem_with(url=URL, headers={name: "x"})
        == f"headers: {name} is set by Duecourse and cannot be given"
    )


@pytest.mark.parametrize("name", ["", "X A", "X:", "X\r\nY", "X\n", "Ü", "x" * 101])
def test_a_header_name_must_be_one_token(name: str) -> None:
    problem = problem_with(url=URL, headers={name: "x"})
    assert problem == "headers: the name of a header must be one token, such as X-Team"


@pytest.mark.parametrize("value", ["a\r\nX-B: c", "a\nb", "a\r\n b", "\x00", "\x7f", "ü", "☃"])
def test_a_header_value_must_be_one_line(value: str) -> None:
    problem = problem_with(url=URL, headers={"X-A": value})
    assert problem == "headers: X-A must be one line of plain ASCII"


@pytest.mark.parametrize("value", [None, 5, True, ["x"], "x" * 2_001])
def test_a_header_value_must_be_a_string(value: Any) -> None:
    problem = problem_with(url=URL, headers={"X-A": value})
    allowed = 'a string of at most 2,000 characters, or {"secret": "NAME"}'
    assert problem == f"headers: every value must be {allowed}"


@pytest.mark.parametrize("timeout", [0, 31, -1, 1.5, "10", None, True])
def test_a_timeout_must_be_a_number_of_seconds(timeout: Any) -> None:
    problem = problem_with(url=URL, timeout=timeout)
    assert problem == "timeout: must be a whole number from 1 to 30"


# What goes out.


def test_the_body_is_sent_as_json(receiver: Receiver) -> None:
    run(receiver, body={"text": "ü", "n": [1, None]})
    (request,) = receiver.requests
    assert request.json == {"text": "ü", "n": [1, None]}
    assert request.headers["content-type"] == "application/json"


def test_a_null_body_is_sent_as_null(receiver: Receiver) -> None:
    run(receiver, body=None)
    assert receiver.requests[0].body == b"null"


def test_without_a_body_the_task_is_sent(receiver: Receiver) -> None:
    run(receiver)
    assert receiver.requests[0].json == {
        "task_id": ID,
        "description": "stretch",
        "nominal_at": "2026-02-17T12:00:00.000Z",
    }


def test_the_idempotency_key_is_sent(receiver: Receiver) -> None:
    run(receiver)
    headers = receiver.requests[0].headers
    assert headers["idempotency-key"] == headers["webhook-id"] == "key-1"


def test_the_request_has_a_user_agent(receiver: Receiver) -> None:
    run(receiver)
    assert receiver.requests[0].headers["user-agent"] == f"duecourse/{__version__}"


def test_the_headers_of_the_payload_are_sent(receiver: Receiver) -> None:
    run(receiver, headers={"Authorization": TOKEN, "Content-Type": "application/cloudevents+json"})
    headers = receiver.requests[0].headers
    assert headers["authorization"] == TOKEN
    assert headers["content-type"] == "application/cloudevents+json"


def signatures_of(request: ReceivedRequest) -> list[str]:
    return request.headers["webhook-signature"].split(" ")


def sign(key: bytes, request: ReceivedRequest) -> str:
    content = f"key-1.{int(NOW.timestamp())}.".encode() + request.body
    return "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()


def host_key(master: bytes, host: str) -> bytes:
    """Derive the key as documented, without the product's code."""
    salt = b"duecourse webhook signing key of a host"
    return HKDF(SHA256(), 32, salt=salt, info=host.encode()).derive(master)


def test_the_request_is_signed_with_the_key_of_its_host(receiver: Receiver) -> None:
    run(receiver, body={"a": 1})
    (request,) = receiver.requests
    assert request.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert sign(host_key(KEY, "127.0.0.1"), request) in signatures_of(request)
    assert sign(host_key(KEY, "hooks.example"), request) not in signatures_of(request)


@pytest.mark.parametrize(
    ("shared", "former_keys"),
    [
        ({}, [KEY]),  # as before each host had its own key
        ({"webhook_signing_shared": ""}, []),
        ({"webhook_signing_shared": base64.b64encode(OLD_KEY).decode()}, [OLD_KEY]),
    ],
)
def test_the_shared_key_signs_too_until_it_is_switched_off(
    receiver: Receiver, shared: dict[str, str], former_keys: list[bytes]
) -> None:
    keys = FixedKeys(webhook_signing=base64.b64encode(KEY).decode(), **shared)
    run(receiver, replace(HANDLER, keys=keys))
    (request,) = receiver.requests
    expected = [host_key(KEY, "127.0.0.1"), *former_keys]
    assert signatures_of(request) == [sign(key, request) for key in expected]


def test_both_keys_sign_during_a_rotation(receiver: Receiver) -> None:
    secrets = [base64.b64encode(key).decode() for key in (KEY, OLD_KEY)]
    keys = FixedKeys(webhook_signing=secrets, webhook_signing_shared="")
    run(receiver, replace(HANDLER, keys=keys))
    (request,) = receiver.requests
    expected = [host_key(key, "127.0.0.1") for key in (KEY, OLD_KEY)]
    assert signatures_of(request) == [sign(key, request) for key in expected]


@pytest.mark.parametrize(
    "url", ["https://Hooks.Example/a", "https://hooks.example.:8443/b?c", "https://hooks.example"]
)
def test_every_form_of_a_host_has_the_same_key(url: str) -> None:
    http_client = TimedHttpClient()
    replace(HANDLER, http_client=http_client).mutate(work_of({"url": url}))
    [headers] = http_client.headers
    content = f"key-1.{int(NOW.timestamp())}.".encode() + http_client.bodies[0]
    digest = hmac.digest(host_key(KEY, "hooks.example"), content, hashlib.sha256)
    assert headers["webhook-signature"].startswith("v1," + base64.b64encode(digest).decode())


@pytest.mark.parametrize(
    "keys", [FixedKeys(), FixedKeys(webhook_signing=""), FixedKeys(webhook_signing=[" "])]
)
def test_without_a_secret_nothing_is_sent(receiver: Receiver, keys: FixedKeys) -> None:
    handler = WebhookHandler(HANDLER.http_client, keys, HANDLER.clock, is_loopback_allowed=True)
    with pytest.raises(
        NotConfiguredError, match="the secret webhook_signing is not configured in this deployment"
    ):
        run(receiver, handler)
    assert receiver.connections == 0


def test_an_unreadable_secret_is_an_error_without_effect(receiver: Receiver) -> None:
    handler = WebhookHandler(HANDLER.http_client, NoKeys(), HANDLER.clock, is_loopback_allowed=True)
    with pytest.raises(NotAttemptedError):
        run(receiver, handler)
    assert receiver.connections == 0


def test_a_payload_that_is_no_longer_valid_is_not_sent() -> None:
    with pytest.raises(NotSentError) as error:
        HANDLER.mutate(work_of({"url": "ftp://hooks.example/s3cret"}))
    assert error.value.code == "bad_payload"
    assert str(error.value) == "the payload's url: must begin with https://"


@pytest.mark.parametrize(
    ("payload", "seconds_left", "timeout_seconds"),
    [({}, 60, 10), ({"timeout": 25}, 60, 25), ({"timeout": 25}, 7, 7), ({}, 7, 7), ({}, -1, -1)],
)
def test_the_timeout_is_bounded_by_the_remaining_time(
    payload: dict[str, Any], seconds_left: int, timeout_seconds: int
) -> None:
    http_client = TimedHttpClient()
    handler = WebhookHandler(http_client, SIGNING, ManualClock(NOW))
    handler.mutate(work_of({"url": URL, **payload}, deadline=NOW + timedelta(seconds=seconds_left)))
    assert http_client.timeouts == [timedelta(seconds=timeout_seconds)]


# Headers that name a secret.


def test_a_secret_that_is_no_longer_listed_is_not_sent(receiver: Receiver) -> None:
    handler = replace(HANDLER, header_secrets={"other": "x"})
    with pytest.raises(HeaderSecretError) as error:
        run(receiver, handler, headers={"X-Key": {"secret": "crm"}})
    assert str(error.value) == "the secret crm is not among those that this stack may read"
    assert (error.value.effect, receiver.connections) == (Effect.NONE, 0)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", *INTERNAL])
def test_no_secret_is_sent_to_a_name_that_resolves_to_an_internal_address(
    receiver: Receiver, address: str
) -> None:
    http_client = SsrfSafeHttpClient(resolve=lambda *_: [address])
    handler = WebhookHandler(
        http_client, SIGNING, HANDLER.clock, header_secrets={"crm": TOKEN, "other": TOKEN}
    )
    url, headers = f"https://hooks.example:{receiver.port}/", {"X-Key": {"secret": "crm"}}
    with pytest.raises(NotSentError) as error:
        handler.mutate(work_of({"url": url, "headers": headers}))
    assert (error.value.code, receiver.connections) == ("address_refused", 0)
    assert "s3cret" not in str(error.value)


# What the receiver quotes.


@pytest.mark.parametrize(
    ("payload", "quoted"),
    [
        ({"headers": {"Authorization": "Bearer abcd-1234"}}, "invalid token abcd-1234"),
        ({"headers": {"X-Key": "abcd-1234"}}, "got X-Key: abcd-1234"),
        ({"body": {"a": ["abcd-1234"]}}, '{"a": ["abcd-1234"]}'),
        ({"body": {"pin": 123_456_789}}, '"123456789"'),
        ({"body": 'say "abcd-1234"'}, r'{"text": "say \"abcd-1234\""}'),
        ({"body": "grün-abcd-1234"}, r'"gr\u00fcn-abcd-1234"'),
    ],
)
@pytest.mark.parametrize("status", [200, 422])
def test_a_value_that_was_sent_is_removed_from_the_response(
    receiver: Receiver, payload: dict[str, Any], quoted: str, status: int
) -> None:
    receiver.answer(status, f"hello. {quoted} {'z' * 3_000}".encode())
    text = run(receiver, **payload)["body"] if status == 200 else str(refused(receiver, **payload))
    assert "[redacted]" in text
    assert ("1234" in text, "hello." in text) == (False, True)


def test_a_query_value_is_removed_from_the_response_in_every_form(receiver: Receiver) -> None:
    receiver.answer(200, b"token abcd%2D1234, that is abcd-1234")
    result = HANDLER.mutate(work_of({"url": receiver.url("/hook?token=abcd%2D1234")}))
    assert result["body"] == "token [redacted], that is [redacted]"


def test_a_recognized_secret_in_a_response_is_redacted(receiver: Receiver) -> None:
    receiver.answer(200, b'{"password": "hunter2", "id": 7}')
    assert run(receiver)["body"] == '{"password": "[redacted]", "id": 7}'


@pytest.mark.parametrize(
    "payload",
    [{"headers": {"Content-Type": "application/json"}}, {"body": {"kind": "order"}}],
)
def test_a_short_value_or_a_media_type_stays_in_a_response(
    receiver: Receiver, payload: dict[str, Any]
) -> None:
    answer = "expected application/json with an order"
    receiver.answer(200, answer.encode())
    assert run(receiver, **payload)["body"] == answer


# How the receiver's word is understood.


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_a_success_stores_the_status_and_the_body(receiver: Receiver, status: int) -> None:
    receiver.answer(status)
    assert run(receiver) == {"status": status, "body": ""}


def test_a_long_response_body_is_truncated(receiver: Receiver) -> None:
    receiver.answer(200, b"\xff" + "ü".encode() * 5_000)
    assert run(receiver)["body"] == "\ufffd" + "ü" * 1_999


def test_an_error_response_is_reported_with_status_and_start_of_the_body(
    receiver: Receiver,
) -> None:
    receiver.answer(422, b"no such list " + b"z" * 1_000)
    error = refused(receiver)
    assert (error.type, error.status, error.code) == ("WebhookRefused", 422, None)
    assert str(error) == "127.0.0.1 answered 422: no such list " + "z" * 287


def test_an_error_response_without_a_body_is_reported_with_its_status(receiver: Receiver) -> None:
    receiver.answer(500)
    assert str(refused(receiver)) == "127.0.0.1 answered 500"


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120), ("Tue, 17 Feb 2026 12:01:30 GMT", 90)]
)
def test_retry_after_is_read_from_the_response(
    receiver: Receiver, header: str, seconds: int
) -> None:
    receiver.answer(503, headers={"Retry-After": header})
    failure = Failure.from_exception(refused(receiver), at=NOW)
    assert failure.retry_after == timedelta(seconds=seconds)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_error_and_is_not_followed(receiver: Receiver, status: int) -> None:
    receiver.redirect(receiver.url("/elsewhere?token=t0ken"), status)
    told = f"127.0.0.1 answered {status} (redirects are not followed)"
    assert str(refused(receiver)) == told
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("status", [302, 400, 401, 404, 408, 409, 410, 422, 429, 500, 501, 503])
def test_a_rejection_by_the_receiver_has_no_effect(receiver: Receiver, status: int) -> None:
    receiver.answer(status)
    assert refused(receiver).effect is Effect.NONE


def test_a_see_other_response_has_an_unknown_effect(receiver: Receiver) -> None:
    receiver.redirect("https://hooks.example/jobs/7", 303)
    assert refused(receiver).effect is Effect.UNKNOWN


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n" + b"z" * 2_000_000,
    ],
    ids=["cut short", "too large"],
)
def test_an_incomplete_success_response_is_a_success(receiver: Receiver, raw: bytes) -> None:
    receiver.send_raw(raw)
    assert run(receiver) == {"status": 200, "body": None}


def test_an_incomplete_error_response_has_an_unknown_effect(receiver: Receiver) -> None:
    receiver.send_raw(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 5\r\n\r\nabcd")
    with pytest.raises(NoResponseError) as error:
        run(receiver)
    assert error.value.effect is Effect.UNKNOWN


@pytest.mark.parametrize("status", [502, 504, 520, 524])
def test_a_gateway_error_has_an_unknown_effect(receiver: Receiver, status: int) -> None:
    receiver.answer(status)
    assert refused(receiver).effect is Effect.UNKNOWN


def test_a_missing_response_has_an_unknown_effect(receiver: Receiver) -> None:
    receiver.drop_connection()
    with pytest.raises(NoResponseError):
        run(receiver)


def test_a_request_that_was_not_sent_has_no_effect() -> None:
    with Receiver() as receiver:
        url = receiver.url()
    with pytest.raises(NotSentError) as error:
        HANDLER.mutate(work_of({"url": url}))
    assert error.value.code == "ECONNREFUSED"


def test_a_name_that_resolves_to_a_private_address_is_rejected_at_run_time(
    receiver: Receiver,
) -> None:
    http_client = SsrfSafeHttpClient(resolve=lambda *_: ["127.0.0.1"])
    handler = WebhookHandler(http_client, SIGNING, HANDLER.clock)
    with pytest.raises(NotSentError) as error:
        handler.mutate(work_of({"url": f"https://hooks.example:{receiver.port}/"}))
    assert error.value.code == "address_refused"
    assert receiver.connections == 0


@pytest.mark.parametrize(("payload", "policy"), [({}, "ask"), ({"idempotent": True}, "repeat")])
def test_only_an_idempotent_receiver_is_called_again(payload: dict[str, Any], policy: str) -> None:
    task = a_task(type="webhook", payload={"url": URL, **payload})
    assert capabilities_of(HANDLER, task).indeterminate_policy is IndeterminatePolicy(policy)
