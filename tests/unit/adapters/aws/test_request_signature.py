"""Our signature is the one that botocore computes for the same request."""

from __future__ import annotations

from typing import Any

import pytest
import time_machine
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import ReadOnlyCredentials
from duecourse.adapters.aws.request_signature import SignedRequest, sign

HEADERS = {
    "X-Amz-Target": "DynamoDB_20120810.PutItem",
    "Content-Type": "application/x-amz-json-1.0",
    "User-Agent": "Botocore/1 md/x#1",
}
URL = "https://dynamodb.eu-central-1.amazonaws.com/"


def sign_with_botocore(template: SignedRequest, body: bytes, credentials: Any) -> dict[str, str]:
    request = AWSRequest("POST", template.url, data=body, headers=template.headers)
    SigV4Auth(credentials, template.service, template.region).add_auth(request)
    return {str(name): str(value) for name, value in request.headers.items()}


@pytest.mark.parametrize("token", [None, "session-token=="])
@pytest.mark.parametrize("body", [b"{}", '{"a":"ä"}'.encode(), b"x" * 100_000])
@pytest.mark.parametrize(
    "url", [URL, "http://127.0.0.1:4566/", "https://sqs.test:443/", "http://sqs.test:80/"]
)
def test_it_is_botocores_signature(url: str, body: bytes, token: str | None) -> None:
    template = SignedRequest(url, {**HEADERS, "x-amzn-query-mode": "true"}, "eu-central-1", "sqs")
    credentials = ReadOnlyCredentials("key", "secret", token)

    with time_machine.travel("2026-02-17T12:00:00Z", tick=False):
        headers = sign(template, body, credentials)
        expected = sign_with_botocore(template, body, credentials)

    assert headers.pop("Content-Length") == str(len(body))
    assert headers == expected


def test_the_key_changes_with_the_day_and_the_secret() -> None:
    template = SignedRequest(URL, HEADERS, "eu-central-1", "dynamodb")

    for at in ("2026-02-17T23:59:59Z", "2026-02-18T00:00:00Z", "2026-02-17T23:59:59Z"):
        for secret in ("secret", "rotated"):
            credentials = ReadOnlyCredentials("key", secret, None)
            with time_machine.travel(at, tick=False):
                signature = sign(template, b"{}", credentials)["Authorization"]
                expected = sign_with_botocore(template, b"{}", credentials)["Authorization"]
            assert signature == expected
