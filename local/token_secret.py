"""The secret of a deployed stack's API tokens, changed with the operator's own credentials."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError
from duecourse.domain.access import ApiToken, UnusableTokensError, tokens_from

Tokens = tuple[ApiToken, ...]


class SecretNotChangedError(Exception):
    pass


def change_tokens(secret_id: str, change: Callable[[Tokens], Tokens]) -> None:
    """Raises SecretNotChangedError, and what `change` raises."""
    try:
        client = boto3.client("secretsmanager", region_name=_region(secret_id))
        found = client.get_secret_value(SecretId=secret_id)
        after = change(tokens_from(found.get("SecretString")))
        text = json.dumps({"tokens": [token.to_json() for token in after]})
        client.put_secret_value(SecretId=secret_id, SecretString=text)
        replaced = client.get_secret_value(SecretId=secret_id, VersionStage="AWSPREVIOUS")
    except (BotoCoreError, ClientError, UnusableTokensError) as error:
        raise SecretNotChangedError(str(error)) from error
    if replaced["VersionId"] != found["VersionId"]:
        # Secrets Manager knows no write on a condition.
        raise SecretNotChangedError(
            "somebody else changed it at the same moment, and that is lost: both must do it again"
        )


def with_token(token: ApiToken, *, replace: bool) -> Callable[[Tokens], Tokens]:
    def change(tokens: Tokens) -> Tokens:
        if not replace and any(known.name == token.name for known in tokens):
            raise SecretNotChangedError(
                f"it has a token {token.name}: --replace puts this in place"
            )
        return (*(known for known in tokens if known.name != token.name), token)

    return change


def without_token(name: str) -> Callable[[Tokens], Tokens]:
    def change(tokens: Tokens) -> Tokens:
        left = tuple(known for known in tokens if known.name != name)
        if len(left) == len(tokens):
            raise SecretNotChangedError(f"it has no token {name}")
        return left

    return change


def _region(secret_id: str) -> Any:
    """An ARN says where it is; of a name, only the operator's own settings do."""
    parts = secret_id.split(":")
    return parts[3] if len(parts) > 3 else None
