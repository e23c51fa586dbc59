"""A token of the doctor's own: short-lived, and removed afterwards."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token
from duecourse.domain.access.tokens import ApiToken, hash_secret
from duecourse.domain.time.instant import truncate_to_millisecond

from local.cli.token_secret import (
    Change,
    SecretNotChangedError,
    Tokens,
    add_token,
    change_tokens,
    remove_token,
)

NAME_PREFIX = "doctor-"
LIFETIME = timedelta(minutes=15)


@contextmanager
def own_token(secret_arn: str, *, now: datetime) -> Iterator[str]:
    """Store a token in the stack's secret for as long as the block runs, and yield it.

    If this process is killed, the token expires by itself, and the next run removes its entry.
    Raises SecretNotChangedError.
    """
    token_text = format_token(secrets.token_bytes(ENTROPY_BYTES))
    name = f"{NAME_PREFIX}{secrets.token_hex(4)}"
    expires_at = truncate_to_millisecond(now) + LIFETIME
    # Deleting the test task needs the scope admin.
    token = ApiToken(name, Scope.ADMIN, hash_secret(token_text), expires_at)
    change_tokens(secret_arn, _add_and_tidy(token, now=now))
    try:
        yield token_text
    finally:
        _remove(secret_arn, name)


def _add_and_tidy(token: ApiToken, *, now: datetime) -> Change:
    add = add_token(token, replace=False)

    def change(tokens: Tokens) -> Tokens:
        return add(tuple(one for one in tokens if not is_left_over(one, now=now)))

    return change


def is_left_over(token: ApiToken, *, now: datetime) -> bool:
    return token.name.startswith(NAME_PREFIX) and token.has_expired(now)


def _remove(secret_arn: str, name: str) -> None:
    try:
        change_tokens(secret_arn, remove_token(name))
    except SecretNotChangedError as error:
        minutes = round(LIFETIME.total_seconds() / 60)
        print(
            f"duecourse: the token {name} was not removed ({error}); it expires in {minutes} min",
            file=sys.stderr,
        )
