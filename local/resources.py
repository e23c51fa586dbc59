"""Makes the template's tables, queues and secret in moto, and tells the resolver their names."""

from __future__ import annotations

import json
import os
from typing import Any

from local import aws
from local.template import ACCOUNT, REGION, Resolver, of_type

SIGNING_KEY = "ZHVlY291cnNlIG9uIGEgbGFwdG9wIHNpZ25zIHdpdGggdGhpcw=="
PROVIDER_KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}


def make_resources(template: dict[str, Any], resolver: Resolver, *, token: str) -> None:
    _make_tables(template, resolver)
    _make_queues(template, resolver)
    _make_secrets(template, resolver, token)


def _make_tables(template: dict[str, Any], resolver: Resolver) -> None:
    client = aws.client("dynamodb")
    for name, properties in of_type(template, "AWS::DynamoDB::Table").items():
        wanted = {key: properties[key] for key in ("KeySchema", "AttributeDefinitions")}
        wanted["BillingMode"] = properties["BillingMode"]
        if indexes := properties.get("GlobalSecondaryIndexes"):
            wanted["GlobalSecondaryIndexes"] = indexes
        if stream := properties.get("StreamSpecification"):
            wanted["StreamSpecification"] = {"StreamEnabled": True, **stream}
        made = client.create_table(TableName=name, **wanted)["TableDescription"]
        resolver.learn(
            name, name, Arn=made["TableArn"], StreamArn=made.get("LatestStreamArn", "none")
        )


def _make_queues(template: dict[str, Any], resolver: Resolver) -> None:
    client = aws.client("sqs")
    queues = of_type(template, "AWS::SQS::Queue")
    # A queue names its dead-letter queue, which must exist before it.
    for name, properties in sorted(queues.items(), key=lambda item: "RedrivePolicy" in item[1]):
        attributes = {
            key: _attribute(value)
            for key, value in resolver.resolve(properties).items()
            if key != "QueueName"
        }
        url = client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        resolver.learn(name, url, Arn=f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}", QueueName=name)


def _attribute(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return json.dumps(value)
        case _:
            return str(value)


def _make_secrets(template: dict[str, Any], resolver: Resolver, token: str) -> None:
    client = aws.client("secretsmanager")
    contents = {
        "ApiTokenSecret": token,
        "ProviderKeysSecret": json.dumps(_provider_keys()),
        "WebhookSigningSecret": json.dumps({"webhook_signing": SIGNING_KEY}),
    }
    for name in of_type(template, "AWS::SecretsManager::Secret"):
        made = client.create_secret(Name=name, SecretString=contents[name])
        resolver.learn(name, made["ARN"])


def _provider_keys() -> dict[str, str]:
    """One's own, where there are any: then a laptop can ask the real providers."""
    return {name: os.environ.get(variable, "local") for name, variable in PROVIDER_KEYS.items()}
