"""The secret of a deployed stack's API tokens, changed with the operator's own credentials."""

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
_RECHECK_HINT = "look which tokens it has, and do this again"
_ARN_PATTERN = re.compile(r"arn:aws[a-z-]*:secretsmanager:(?P<region>[a-z0-9-]+):\d+:secret:\S+")


class SecretNotChangedError(Exception):
    pass


@dataclass(frozen=True, slots=True)
class _Version:
    id: str
    tokens: Tokens


def change_tokens(secret_id: str, change: Change) -> None:
    """Raises SecretNotChangedError, what `change` raises, and ValueError for an ARN that is not
    that of a secret."""
    region = _region_from_arn(secret_id)
    try:
        kept = _SecretClient(boto3.client("secretsmanager", region_name=region), secret_id)
        expected = kept.read_version("AWSCURRENT")
        ours = kept.write_version(change(expected.tokens))
    except (BotoCoreError, ClientError, InvalidTokensError) as error:
        raise SecretNotChangedError(str(error)) from error
    try:
        _resolve_conflicts(kept, change, expected, ours)
    except (BotoCoreError, ClientError, InvalidTokensError) as error:
        raise SecretNotChangedError(
            f"it may have been changed: {_RECHECK_HINT} ({error})"
        ) from error


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
    """Secrets Manager knows no write on a condition. What ours has replaced tells whether somebody
    else wrote meanwhile: their change is then taken up, and ours made to the outcome."""
    others, refusal = expected.tokens, None
    for _ in range(MAX_ATTEMPTS):
        replaced = client.read_version("AWSPREVIOUS")
        if replaced.id == expected.id:
            if refusal is not None:
                raise refusal
            return
        if replaced.id == ours.id:  # and so what ours has replaced cannot be known
            break
        others = _merge_change(others, expected.tokens, replaced.tokens)
        after, refusal = _try_change(others, change)
        expected, ours = ours, client.write_version(after)
    raise SecretNotChangedError(f"others change it at the same moment: {_RECHECK_HINT}")


def _merge_change(tokens: Tokens, before: Tokens, after: Tokens) -> Tokens:
    """What somebody made of `before`, made of `tokens`."""
    names_touched = {token.name for token in set(before) ^ set(after)}
    left = (token for token in tokens if token.name not in names_touched)
    return (*left, *(token for token in after if token.name in names_touched))


def _try_change(tokens: Tokens, change: Change) -> tuple[Tokens, SecretNotChangedError | None]:
    """Where what others did leaves nothing to change, theirs is put back."""
    try:
        return change(tokens), None
    except SecretNotChangedError as error:
        return tokens, error


def add_token(token: ApiToken, *, replace: bool) -> Change:
    def change(tokens: Tokens) -> Tokens:
        if not replace and any(known.name == token.name for known in tokens):
            raise SecretNotChangedError(
                f"it has a token {token.name}: --replace puts this in place"
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
    """An ARN says where it is; of a name, only the operator's own settings do."""
    if ":" not in secret_id:
        return None
    found = _ARN_PATTERN.fullmatch(secret_id)
    if found is None:
        form = "arn:aws:secretsmanager:REGION:ACCOUNT:secret:NAME"
        raise ValueError(f"--secret: {secret_id} is not the ARN of a secret, {form}")
    return found["region"]
