"""A receiver's response is stored without what was sent to it."""

from __future__ import annotations

from base64 import b64encode

import pytest
from duecourse.domain.requests.echoed_secrets import redact_response
from duecourse.domain.text.redaction import REDACTED

BASIC = "Basic " + b64encode(b"ada:lovelace-99").decode()


def stored(text: str, authorization: str) -> str:
    headers = {"Authorization": authorization}
    return redact_response(text, url="https://a.test/", headers=headers, body=None, limit=200)


@pytest.mark.parametrize(
    ("authorization", "quoted"),
    [
        ("Bearer abcdefgh1", "abcdefgh1"),
        (BASIC, BASIC),
        (BASIC, BASIC.removeprefix("Basic ")),
        (BASIC, "ada:lovelace-99"),
        (BASIC, "lovelace-99"),
    ],
)
def test_credentials_are_removed_in_every_form(authorization: str, quoted: str) -> None:
    assert stored(f"no access for {quoted}", authorization) == f"no access for {REDACTED}"


@pytest.mark.parametrize("authorization", ["Basic ?", "Basic /////w==", "Basic"])
def test_what_is_no_basic_pair_is_left(authorization: str) -> None:
    assert stored("no access", authorization) == "no access"
