"""The secret token that Telegram repeats in every update."""

from __future__ import annotations

import pytest
from duecourse.adapters.channels.telegram.secret_token import verify_secret_token
from duecourse.adapters.http.request_errors import NotVerifiedError

from tests.support.builders.moments import NOW
from tests.support.platforms import KEYS, sign_request, telegram_update

UPDATE = sign_request("telegram", telegram_update(), at=NOW)
HEADER = "x-telegram-bot-api-secret-token"


def test_the_configured_token_is_accepted() -> None:
    verify_secret_token(UPDATE.to_raw_request(), KEYS)


@pytest.mark.parametrize("token", ["x", KEYS["telegram"][:-1], KEYS["telegram"] + "x", "é"])
def test_another_token_is_rejected(token: str) -> None:
    with pytest.raises(NotVerifiedError, match="the secret token is wrong"):
        verify_secret_token(UPDATE.with_header(HEADER, token).to_raw_request(), KEYS)


def test_an_update_without_a_token_is_rejected() -> None:
    with pytest.raises(NotVerifiedError, match="the secret token is missing"):
        verify_secret_token(UPDATE.without_header(HEADER).to_raw_request(), KEYS)


@pytest.mark.parametrize("keys", [{}, {"telegram": ""}, {"telegram": " "}])
@pytest.mark.parametrize("token", ["", " "])
def test_without_a_configured_token_every_update_is_rejected(
    keys: dict[str, str], token: str
) -> None:
    with pytest.raises(NotVerifiedError, match="no secret"):
        verify_secret_token(UPDATE.with_header(HEADER, token).to_raw_request(), keys)
