"""Create the template's tables, queues, secrets and event buses in moto."""

from __future__ import annotations

import json
import os
from typing import Any

from duecourse.adapters.channels.platform import SecretKey
from duecourse.adapters.channels.registry import PLATFORMS
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken, hash_secret
from duecourse.domain.errors import SettingsError

from local.runtime import aws_clients
from local.runtime.template import ACCOUNT, REGION, Resolver, resources_of_type

SIGNING_KEY = "ZHVlY291cnNlIG9uIGEgbGFwdG9wIHNpZ25zIHdpdGggdGhpcw=="
WEBHOOK_SECRETS_VARIABLE = "WEBHOOK_SECRETS"
PROVIDER_KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def make_resources(template: dict[str, Any], resolver: Resolver, *, token: str) -> None:
    _make_tables(template, resolver)
    _make_queues(template, resolver)
    _make_secrets(template, resolver, token)
    _make_buses(template, resolver)


def _make_tables(template: dict[str, Any], resolver: Resolver) -> None:
    client = aws_clients.client("dynamodb")
    for name, properties in resources_of_type(template, "AWS::DynamoDB::Table").items():
        definition = {key: properties[key] for key in ("KeySchema", "AttributeDefinitions")}
        definition["BillingMode"] = properties["BillingMode"]
        if indexes := properties.get("GlobalSecondaryIndexes"):
            definition["GlobalSecondaryIndexes"] = indexes
        if stream := properties.get("StreamSpecification"):
            definition["StreamSpecification"] = {"StreamEnabled": True, **stream}
        made = client.create_table(TableName=name, **definition)["TableDescription"]
        resolver.register(
            name, name, Arn=made["TableArn"], StreamArn=made.get("LatestStreamArn", "none")
        )


def _make_queues(template: dict[str, Any], resolver: Resolver) -> None:
    client = aws_clients.client("sqs")
    queues = resources_of_type(template, "AWS::SQS::Queue")
    # Dead-letter queues have to exist before the queues that name them.
    for name, properties in sorted(queues.items(), key=lambda item: "RedrivePolicy" in item[1]):
        attributes = {
            key: _to_attribute(value)
            for key, value in resolver.resolve(properties).items()
            if key != "QueueName"
        }
        queue = f"{name}.fifo" if properties.get("FifoQueue") else name
        url = client.create_queue(QueueName=queue, Attributes=attributes)["QueueUrl"]
        resolver.register(name, url, Arn=f"arn:aws:sqs:{REGION}:{ACCOUNT}:{queue}", QueueName=queue)


def _to_attribute(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return json.dumps(value)
        case _:
            return str(value)


def _make_secrets(template: dict[str, Any], resolver: Resolver, token: str) -> None:
    client = aws_clients.client("secretsmanager")
    contents = {
        "ApiTokensSecret": json.dumps(_make_api_tokens(token)),
        "ChatTokensSecret": json.dumps(read_chat_tokens()),
        "ChatVerificationSecret": json.dumps(_read_chat_verification()),
        "ProviderKeysSecret": json.dumps(_read_provider_keys()),
        "WebhookSigningSecret": json.dumps({"webhook_signing": SIGNING_KEY}),
    }
    for name in resources_of_type(template, "AWS::SecretsManager::Secret"):
        made = client.create_secret(Name=name, SecretString=contents[name])
        resolver.register(name, made["ARN"])


def make_webhook_secrets() -> list[str]:
    """Create the secrets that headers of webhooks may name, and return their ARNs.

    `WEBHOOK_SECRETS` holds them as JSON: an object of names and texts. Raises SettingsError.
    """
    client = aws_clients.client("secretsmanager")
    secrets = _parse_texts(os.environ.get(WEBHOOK_SECRETS_VARIABLE) or "{}")
    return [
        str(client.create_secret(Name=name, SecretString=text)["ARN"])
        for name, text in secrets.items()
    ]


def _parse_texts(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        problem = f"{WEBHOOK_SECRETS_VARIABLE} must be JSON: an object of names and texts"
        raise SettingsError([problem])
    return found


def _make_buses(template: dict[str, Any], resolver: Resolver) -> None:
    client = aws_clients.client("events")
    for name, properties in resources_of_type(template, "AWS::Events::EventBus").items():
        bus = resolver.resolve(properties["Name"])
        made = client.create_event_bus(Name=bus)
        resolver.register(name, bus, Arn=made["EventBusArn"])


def _make_api_tokens(token: str) -> dict[str, Any]:
    """Return `token` with scope admin, and the same with -read and -write for lesser scopes."""
    tokens = [
        ApiToken("local", Scope.ADMIN, hash_secret(token)),
        ApiToken("local-read", Scope.READ, hash_secret(f"{token}-read")),
        ApiToken("local-write", Scope.WRITE, hash_secret(f"{token}-write")),
    ]
    return {"tokens": [known.to_json() for known in tokens]}


def read_chat_tokens() -> dict[str, str]:
    """Return the user's own bot tokens. Without them, no real platform is called."""
    keys = {one.name: one.outbound.token for one in PLATFORMS.values() if one.outbound is not None}
    return {name: token for name, key in keys.items() if (token := _from_environment(key))}


def _read_chat_verification() -> dict[str, str]:
    """Return the verification secrets. The local defaults protect nothing, like the console."""
    keys = {one.name: one.inbound.proof for one in PLATFORMS.values()}
    return {name: _from_environment(key) for name, key in keys.items() if key is not None}


def _from_environment(key: SecretKey) -> str:
    return os.environ.get(key.variable, key.local)


def _read_provider_keys() -> dict[str, str]:
    """Return the user's own provider keys, or a placeholder."""
    return {
        name: os.environ.get(variable, "local") for name, variable in PROVIDER_KEY_VARIABLES.items()
    }
