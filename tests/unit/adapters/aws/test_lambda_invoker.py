"""Invoking a Lambda function: one call, and the effect reported by each kind of failure."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

import pytest
from duecourse.adapters.aws.lambda_invoker import (
    MAX_RESPONSE_BYTES,
    FunctionFailedError,
    LambdaInvoker,
    NotInvokedError,
    UnreadableResponseError,
)
from duecourse.domain.failures.failure import Failure
from duecourse.domain.http.exchange import NoResponseError, NotSentError
from duecourse.domain.origin import Effect, Origin

from tests.support.receiver import Receiver

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv(
        "AWS_MAX_ATTEMPTS", "5"
    )  # retries stay off even if the environment enables them
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def aws() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def invoke(
    aws: Receiver, *, function: str = "resize", payload: bytes = b"{}", timeout: timedelta = SECOND
) -> bytes:
    return LambdaInvoker(endpoint_url=aws.url("")).invoke(function, payload, timeout=timeout)


def invoke_error(aws: Receiver) -> Any:
    with pytest.raises(Exception, match="resize") as failed:
        invoke(aws)
    return cast("Any", failed.value)


def test_a_function_is_called_once_and_its_response_returned(aws: Receiver) -> None:
    aws.answer(200, b'{"done": true}')
    assert invoke(aws, payload=b'{"input": 5}', timeout=30 * SECOND) == b'{"done": true}'
    [request] = aws.requests
    assert request.method == "POST"
    assert request.path == "/2015-03-31/functions/resize/invocations"
    assert request.json == {"input": 5}
    assert request.headers["x-amz-invocation-type"] == "RequestResponse"


def test_a_function_may_be_named_by_its_arn(aws: Receiver) -> None:
    aws.answer(200, b"null")
    invoke(aws, function="arn:aws:lambda:eu-west-1:123456789012:function:bill:live")
    [request] = aws.requests
    assert "function%3Abill%3Alive/invocations" in request.path


def test_an_empty_response_is_null(aws: Receiver) -> None:
    aws.answer(200, b"")
    assert invoke(aws) == b"null"


# The function fails


def answer_function_error(aws: Receiver, body: Any, kind: str = "Unhandled") -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    aws.answer(200, raw, headers={"X-Amz-Function-Error": kind})


def test_a_function_error_keeps_its_message_and_has_an_unknown_effect(
    aws: Receiver,
) -> None:
    answer_function_error(
        aws, {"errorType": "KeyError", "errorMessage": "'size'", "stackTrace": []}
    )
    error = invoke_error(aws)
    assert isinstance(error, FunctionFailedError)
    assert (str(error), error.type, error.effect) == ("resize: 'size'", "KeyError", Effect.UNKNOWN)
    assert len(aws.requests) == 1


def test_a_function_timeout_has_an_unknown_effect(aws: Receiver) -> None:
    answer_function_error(
        aws, {"errorMessage": "2026-02-17T12:00:00Z 1 Task timed out after 3.00 seconds"}
    )
    error = invoke_error(aws)
    assert (error.type, error.effect) == ("FunctionError", Effect.UNKNOWN)
    assert "timed out after" in str(error)


@pytest.mark.parametrize("error_type", ["NotAppliedError", "Runtime.ImportModuleError"])
def test_the_error_type_can_say_that_nothing_was_applied(aws: Receiver, error_type: str) -> None:
    answer_function_error(aws, {"errorType": error_type, "errorMessage": "no such bill"})
    error = invoke_error(aws)
    assert (error.type, error.effect) == (error_type, Effect.NONE)


@pytest.mark.parametrize("body", [b"", b"\xff", b"[1]", b"[" * 100_000, {"errorMessage": 5}])
def test_a_function_error_without_a_message_is_an_error(aws: Receiver, body: Any) -> None:
    answer_function_error(aws, body)
    error = invoke_error(aws)
    assert (str(error), error.effect) == ("resize: it failed without a message", Effect.UNKNOWN)


def test_a_long_function_error_is_truncated(aws: Receiver) -> None:
    answer_function_error(aws, {"errorType": "E" * 9_999, "errorMessage": "x" * 500_000})
    error = invoke_error(aws)
    assert (len(str(error)), len(error.type)) == (8_000, 200)


# Lambda refuses


def answer_service_error(aws: Receiver, status: int, code: str, **headers: str) -> None:
    error_body = json.dumps({"Type": "User", "message": "Rate Exceeded."}).encode()
    aws.answer(status, error_body, headers={"x-amzn-ErrorType": code, **headers})


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, "TooManyRequestsException"),
        (404, "ResourceNotFoundException"),
        (403, "AccessDeniedException"),
        (413, "RequestTooLargeException"),
        (502, "EC2ThrottledException"),
        (502, "KMSDisabledException"),
    ],
)
def test_a_rejected_call_has_no_effect(aws: Receiver, status: int, code: str) -> None:
    answer_service_error(aws, status, code)
    error = invoke_error(aws)
    assert isinstance(error, NotInvokedError)
    assert (error.type, error.code, error.status) == (code, code, status)
    assert (str(error), error.effect) == ("resize: Rate Exceeded.", Effect.NONE)


@pytest.mark.parametrize(("status", "code"), [(500, "ServiceException"), (410, "EFSIOException")])
def test_an_interrupted_call_has_an_unknown_effect(aws: Receiver, status: int, code: str) -> None:
    answer_service_error(aws, status, code)
    assert invoke_error(aws).effect is Effect.UNKNOWN


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_gateway_error_has_an_unknown_effect(aws: Receiver, status: int) -> None:
    aws.answer(status, b"<html>oh no</html>")
    error = invoke_error(aws)
    assert (error.status, error.effect) == (status, Effect.UNKNOWN)


@pytest.mark.parametrize(
    ("status", "code"),
    [(429, "TooManyRequestsException"), (500, "ServiceException"), (503, "ServiceUnavailable")],
)
def test_a_failed_call_is_not_retried(aws: Receiver, status: int, code: str) -> None:
    answer_service_error(aws, status, code)
    invoke_error(aws)
    assert len(aws.requests) == 1


def test_retry_after_is_passed_on(aws: Receiver) -> None:
    answer_service_error(aws, 429, "TooManyRequestsException", **{"Retry-After": "7"})
    assert Failure.from_exception(invoke_error(aws)).retry_after == 7 * SECOND


# Nobody answers


def test_a_read_timeout_has_an_unknown_effect(aws: Receiver) -> None:
    aws.never_reply()
    error = invoke_error(aws)
    assert isinstance(error, NoResponseError)
    assert (error.code, error.effect, len(aws.requests)) == ("ETIMEDOUT", Effect.UNKNOWN, 1)


def test_a_dropped_connection_has_an_unknown_effect(aws: Receiver) -> None:
    aws.drop_connection()
    error = invoke_error(aws)
    assert isinstance(error, NoResponseError)
    assert (error.code, error.effect, len(aws.requests)) == ("ECONNRESET", Effect.UNKNOWN, 1)


def test_a_truncated_response_has_an_unknown_effect(aws: Receiver) -> None:
    aws.truncate_body(b"12")
    error = invoke_error(aws)
    assert isinstance(error, NoResponseError)
    assert (error.code, error.effect) == ("ECONNRESET", Effect.UNKNOWN)


def test_a_response_that_is_not_http_has_an_unknown_effect(aws: Receiver) -> None:
    aws.send_raw(b"220 mail.example.com ESMTP\r\n")
    assert invoke_error(aws).effect is Effect.UNKNOWN


def test_a_refused_connection_has_no_effect() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    invoker = LambdaInvoker(endpoint_url=f"http://127.0.0.1:{port}")
    with pytest.raises(NotSentError, match="resize was not called") as failed:
        invoker.invoke("resize", b"{}", timeout=SECOND)
    assert (failed.value.code, failed.value.effect) == ("ECONNREFUSED", Effect.NONE)


def test_an_invalid_function_name_is_not_sent(aws: Receiver) -> None:
    with pytest.raises(NotSentError) as failed:
        invoke(aws, function="")
    assert (failed.value.code, aws.requests) == ("bad_function_name", [])


# The answer


@pytest.mark.parametrize("body", [b"done", b"\xff\xfe", b'{"a": 1', b"[" * 100_000])
def test_a_response_that_is_not_json_is_an_error_with_the_effect_applied(
    aws: Receiver, body: bytes
) -> None:
    aws.answer(200, body)
    error = invoke_error(aws)
    assert isinstance(error, UnreadableResponseError)
    assert str(error) == "the answer of resize is not JSON"
    assert (error.effect, error.origin) == (Effect.APPLIED, Origin.LOGIC)


def test_the_response_size_is_bounded(aws: Receiver) -> None:
    aws.answer(200, b'"' + b"x" * (MAX_RESPONSE_BYTES - 2) + b'"')
    aws.answer(200, b'"' + b"x" * (MAX_RESPONSE_BYTES - 1) + b'"')
    assert len(invoke(aws)) == MAX_RESPONSE_BYTES
    error = invoke_error(aws)
    assert isinstance(error, UnreadableResponseError)
    assert str(error) == "the answer of resize is larger than 1 MiB"


# The cost of it


def test_one_client_is_created_per_timeout(aws: Receiver) -> None:
    invoker = LambdaInvoker(endpoint_url=aws.url(""))
    for timeout in (30 * SECOND, 30.9 * SECOND, 5 * SECOND, 0.2 * SECOND):
        invoker.invoke("resize", b"{}", timeout=timeout)
    assert len(aws.requests) == 4
    assert sorted(invoker._clients) == [1, 5, 30]


def test_importing_the_module_does_not_load_the_aws_sdk() -> None:
    code = (
        "import sys, duecourse.adapters.aws.lambda_invoker; "
        "sys.exit(bool({'boto3', 'botocore'} & set(sys.modules)))"
    )
    path = "layers/core/python"
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": path}, check=True)  # noqa: S603
