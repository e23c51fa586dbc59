"""Slack's signature over the timestamp and the body."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.adapters.channels.slack.signature import verify_signature
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import NotVerifiedError

from tests.support.builders.moments import NOW
from tests.support.platforms import FORM, KEYS, sign_request, slack_event, slack_headers

TIMESTAMP = str(int(NOW.timestamp()))


def test_the_example_in_slacks_documentation_is_accepted() -> None:
    """The secret, timestamp, body and digest of Slack's page on verifying requests."""
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow"
        b"&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner"
        b"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands"
        b"%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        b"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )
    digest = "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    headers = {
        "content-type": FORM,
        "x-slack-request-timestamp": "1531420618",
        "x-slack-signature": f"v0={digest}",
    }
    now = NOW + timedelta(seconds=1531420618 - NOW.timestamp())

    verify_signature(RawRequest(headers, body), KEYS, now=now)


def test_a_changed_body_is_rejected() -> None:
    request = RawRequest(slack_headers(b"{}", TIMESTAMP), b"{ }")

    with pytest.raises(NotVerifiedError, match="the signature is wrong"):
        verify_signature(request, KEYS, now=NOW)


def test_a_request_without_a_signature_is_rejected() -> None:
    request = (
        sign_request("slack", slack_event(), at=NOW)
        .without_header("x-slack-signature")
        .to_raw_request()
    )

    with pytest.raises(NotVerifiedError, match="the signature is missing"):
        verify_signature(request, KEYS, now=NOW)


@pytest.mark.parametrize("seconds", [-301, 301, 10**6])
def test_a_signature_older_or_newer_than_five_minutes_is_rejected(seconds: int) -> None:
    request = sign_request(
        "slack", slack_event(), at=NOW + timedelta(seconds=seconds)
    ).to_raw_request()

    with pytest.raises(NotVerifiedError, match="stale"):
        verify_signature(request, KEYS, now=NOW)


@pytest.mark.parametrize("timestamp", ["", "x", "-5", "+5", " 5", "1e9", "٣", "9" * 400, "1.5"])
def test_an_invalid_timestamp_is_rejected(timestamp: str) -> None:
    request = RawRequest(slack_headers(b"{}", timestamp), b"{}")

    with pytest.raises(NotVerifiedError, match="stale"):
        verify_signature(request, KEYS, now=NOW)


@pytest.mark.parametrize("keys", [{}, {"slack": ""}, {"slack": " "}])
@pytest.mark.parametrize("secret", ["", " "])
def test_without_a_signing_secret_every_request_is_rejected(
    keys: dict[str, str], secret: str
) -> None:
    request = RawRequest(slack_headers(b"{}", TIMESTAMP, secret=secret), b"{}")

    with pytest.raises(NotVerifiedError, match="no secret"):
        verify_signature(request, keys, now=NOW)
