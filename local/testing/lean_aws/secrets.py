"""Secrets Manager: secrets with their current and previous versions."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from local.testing.lean_aws.errors import AwsError, check_parameters

CURRENT, PREVIOUS = "AWSCURRENT", "AWSPREVIOUS"
_CREATE = frozenset({"Name", "SecretString", "Description", "ClientRequestToken"})
_PUT = frozenset({"SecretId", "SecretString", "SecretBinary", "ClientRequestToken"})
_GET = frozenset({"SecretId", "VersionStage"})


@dataclass
class Secret:
    """`versions` are the version id and its content, by stage."""

    name: str
    arn: str
    versions: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)

    def put(self, version: str, content: dict[str, Any]) -> None:
        if CURRENT in self.versions:
            self.versions[PREVIOUS] = self.versions[CURRENT]
        self.versions[CURRENT] = version, content


class Secrets:
    def __init__(
        self, *, region: str, account: str, now: Callable[[], float], new_id: Callable[[], str]
    ) -> None:
        self._prefix = f"arn:aws:secretsmanager:{region}:{account}:secret:"
        self._now = now
        self._new_id = new_id
        self.secrets: dict[str, Secret] = {}
        self.operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "CreateSecret": self.create_secret,
            "PutSecretValue": self.put_secret_value,
            "GetSecretValue": self.get_secret_value,
            "DeleteSecret": self.delete_secret,
        }

    def create_secret(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("CreateSecret", request, _CREATE)
        name = request["Name"]
        if name in self.secrets:
            raise AwsError("ResourceExistsException", f"The secret {name} already exists.")
        secret = self.secrets[name] = Secret(name, f"{self._prefix}{name}-aAbBcC")
        if "SecretString" not in request:
            return {"ARN": secret.arn, "Name": name}
        return self._put(secret, request)

    def put_secret_value(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("PutSecretValue", request, _PUT)
        return self._put(self._secret(request), request)

    def get_secret_value(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("GetSecretValue", request, _GET)
        secret, stage = self._secret(request), request.get("VersionStage", CURRENT)
        if stage not in secret.versions:
            raise _not_found(f"value for staging label: {stage}")
        version, content = secret.versions[stage]
        return {
            "ARN": secret.arn,
            "Name": secret.name,
            "VersionId": version,
            **content,
            "VersionStages": [stage],
            "CreatedDate": datetime.fromtimestamp(self._now(), tz=UTC),
        }

    def delete_secret(self, request: dict[str, Any]) -> dict[str, Any]:
        secret = self._secret(request)
        del self.secrets[secret.name]
        return {"ARN": secret.arn, "Name": secret.name}

    def _put(self, secret: Secret, request: dict[str, Any]) -> dict[str, Any]:
        version = request.get("ClientRequestToken") or self._new_id()
        secret.put(version, _content(request))
        return {
            "ARN": secret.arn,
            "Name": secret.name,
            "VersionId": version,
            "VersionStages": [CURRENT],
        }

    def _secret(self, request: dict[str, Any]) -> Secret:
        wanted = request["SecretId"]
        for secret in self.secrets.values():
            if wanted in (secret.name, secret.arn):
                return secret
        raise _not_found("secret value")


def _content(request: dict[str, Any]) -> dict[str, Any]:
    if "SecretBinary" in request:
        return {"SecretBinary": b64decode(request["SecretBinary"])}
    return {"SecretString": request["SecretString"]}


def _not_found(what: str) -> AwsError:
    return AwsError("ResourceNotFoundException", f"Secrets Manager can't find the specified {what}")
