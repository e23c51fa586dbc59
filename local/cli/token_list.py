"""The list of a secret's API tokens, without their hashes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.access.tokens import EXPIRY_WARNING, ApiToken
from duecourse.domain.time.instant import to_text_or_none

from local.cli.client.screen import Screen
from local.cli.client.table import Column, format_table

_COLUMNS = [Column("NAME"), Column("SCOPE"), Column("EXPIRES")]
_WIDTH = 200  # a name has 64 characters at most
_DAY = timedelta(days=1)


def tokens_to_json(tokens: Sequence[ApiToken], *, now: datetime) -> list[dict[str, Any]]:
    return [
        {
            "name": token.name,
            "scope": str(token.scope),
            "expires_at": to_text_or_none(token.expires_at),
            "is_expired": token.has_expired(now),
        }
        for token in _sort(tokens)
    ]


def format_tokens(tokens: Sequence[ApiToken], *, now: datetime) -> str:
    if not tokens:
        return "No tokens: nobody has access."
    rows = [(token.name, token.scope, _format_expiry(token, now)) for token in _sort(tokens)]
    return "\n".join(format_table(_COLUMNS, rows, Screen(_WIDTH)))


def _sort(tokens: Sequence[ApiToken]) -> list[ApiToken]:
    """Return the tokens that expire soonest first, those that never do last."""
    return sorted(
        tokens,
        key=lambda one: (one.expires_at is None, one.expires_at and one.expires_at.timestamp()),
    )


def _format_expiry(token: ApiToken, now: datetime) -> str:
    if token.expires_at is None:
        return "never"
    day = f"{token.expires_at:%Y-%m-%d %H:%M} UTC"
    if token.has_expired(now):
        return f"{day}, expired: revoke it"
    days = (token.expires_at - now) // _DAY
    left = {0: "in less than a day", 1: "in 1 day"}.get(days, f"in {days} days")
    return f"{day}, {left}" + (": replace it" if token.expires_within(EXPIRY_WARNING, now) else "")
