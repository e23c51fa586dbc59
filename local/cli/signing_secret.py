"""Read the secret that signs the webhooks of a stack, with the operator's credentials."""

from __future__ import annotations

import json
from typing import Any

from duecourse.domain.access.key_rotation import list_keys
from duecourse.domain.http.signing_keys import SECRET_NAME


class SecretNotReadError(Exception):
    """The message never contains the secret."""


def read_signing_secret(secret_id: str | None) -> list[str]:
    """Return the signing keys, the newest first; those of the local stack without `secret_id`.

    Raises SecretNotReadError.
    """
    if secret_id is None:
        from local.runtime.resources import SIGNING_KEY

        return [SIGNING_KEY]
    keys = _parse_keys(_fetch(secret_id))
    if not keys:
        raise SecretNotReadError(f"it must hold JSON with a key {SECRET_NAME}")
    return keys


def _fetch(secret_id: str) -> Any:
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    # The region of an ARN; for a name, the operator's settings decide.
    region = secret_id.split(":")[3] if secret_id.count(":") >= 3 else None
    try:
        client = boto3.client("secretsmanager", region_name=region)
        return client.get_secret_value(SecretId=secret_id).get("SecretString")
    except (BotoCoreError, ClientError, ValueError) as error:
        raise SecretNotReadError(str(error)) from error


def _parse_keys(text: Any) -> list[str]:
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return []
    keys = found.get(SECRET_NAME) if isinstance(found, dict) else None
    is_list = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
    return list_keys(keys) if is_list or isinstance(keys, str) else []
