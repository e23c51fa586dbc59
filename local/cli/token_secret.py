"""Change the secret with a deployed stack's API tokens, using the operator's credentials."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from duecourse.domain.access.tokens import ApiToken, InvalidTokensError, parse_tokens

Tokens = tuple[ApiToken, ...]
Change = Callable[[Tokens], Tokens]
MAX_ATTEMPTS = 5
_RECHECK_HINT = "check its tokens and try again"
_ARN_PATTERN = re.compile(r"arn:aws[a-z-]*:secretsmanager:(?P<region>[a-z0-9-]+):\d+:secret:\S+")


class SecretNotChangedError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Version:
    id: str
    tokens: Tokens


def read_tokens(secret_id: str) -> Tokens:
    """Return the tokens. Raises SecretNotChangedError, and ValueError for an invalid ARN."""
    try:
        return _open_secret(secret_id).read_version("AWSCURRENT").tokens
    except (BotoCoreError, ClientError, InvalidTokensError) as error:
        raise SecretNotChangedError(str(error)) from error


def change_tokens(secret_id: str, change: Change) -> None:
    """Apply `change` to the secret.

    Raises SecretNotChangedError, what `change` raises, and ValueError for an invalid ARN.
    """
    try:
        secret = _open_secret(secret_id)
        expected = secret.read_version("AWSCURRENT")
        ours = secret.write_version(change(expected.tokens))
    except (BotoCoreError, ClientError, InvalidTokensError) as error:
        raise SecretNotChangedError(str(error)) from error
    try:
        _resolve_conflicts(secret, change, expected, ours)
    except (BotoCoreError, ClientError, InvalidTokensError) as error:
        raise SecretNotChangedError(f"it may have changed: {_RECHECK_HINT} ({error})") from error


def _open_secret(secret_id: str) -> _SecretClient:
    region = _region_from_arn(secret_id)
    return _SecretClient(boto3.client("secretsmanager", region_name=region), secret_id)


class _SecretClient:
    def __init__(self, client: Any, secret_id: str) -> None:
        self._client = client
        self._id = secret_id

    def read_version(self, stage: str) -> _Version:
        found = self._client.get_secret_value(SecretId=self._id, VersionStage=stage)
        return _Version(found["VersionId"], parse_tokens(found.get("SecretString")))

    def write_version(self, tokens: Tokens) -> _Version:
        text = json.dumps({"tokens": [token.to_json() for token in tokens]})
        put = self._client.put_secret_value(SecretId=self._id, SecretString=text)
        return _Version(put["VersionId"], tokens)


def _resolve_conflicts(
    client: _SecretClient, change: Change, expected: _Version, ours: _Version
) -> None:
    """Merge concurrent changes, since Secrets Manager has no conditional write.

    The version that ours replaced shows whether somebody else wrote in between. If so, their change
    is merged, and `change` is applied again.
    """
    others, refusal = expected.tokens, None
    for _ in range(MAX_ATTEMPTS):
        replaced = client.read_version("AWSPREVIOUS")
        if replaced.id == expected.id:
            if refusal is not None:
                raise refusal
            return
        if replaced.id == ours.id:  # then it is unknown what ours replaced
            break
        others = _merge_change(others, expected.tokens, replaced.tokens)
        after, refusal = _try_change(others, change)
        expected, ours = ours, client.write_version(after)
    raise SecretNotChangedError(f"somebody else is changing it: {_RECHECK_HINT}")


def _merge_change(tokens: Tokens, before: Tokens, after: Tokens) -> Tokens:
    """Apply to `tokens` the change that somebody made from `before` to `after`."""
    names_touched = {token.name for token in set(before) ^ set(after)}
    left = (token for token in tokens if token.name not in names_touched)
    return (*left, *(token for token in after if token.name in names_touched))


def _try_change(tokens: Tokens, change: Change) -> tuple[Tokens, SecretNotChangedError | None]:
    """Return the changed tokens, or `tokens` and the error if the change no longer applies."""
    try:
        return change(tokens), None
    except SecretNotChangedError as error:
        return tokens, error


def add_token(token: ApiToken, *, replace: bool) -> Change:
    def change(tokens: Tokens) -> Tokens:
        if not replace and any(known.name == token.name for known in tokens):
            raise SecretNotChangedError(
                f"it already has a token {token.name}; use --replace to replace it"
            )
        return (*(known for known in tokens if known.name != token.name), token)

    return change


def remove_token(name: str) -> Change:
    def change(tokens: Tokens) -> Tokens:
        left = tuple(known for known in tokens if known.name != name)
        if len(left) == len(tokens):
            raise SecretNotChangedError(f"it has no token {name}")
        return left

    return change


def _region_from_arn(secret_id: str) -> str | None:
    """Return the ARN's region. For a name return None, so the operator's settings decide."""
    if ":" not in secret_id:
        return None
    found = _ARN_PATTERN.fullmatch(secret_id)
    if found is None:
        form = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
        raise ValueError(f"--secret: {secret_id} is not the ARN of a secret ({form})")
    return found["region"]
