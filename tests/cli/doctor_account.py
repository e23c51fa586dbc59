"""An AWS account with a deployed stack, for tests of `duecourse doctor`.

The API is the local stack, which reads its tokens from the same moto as the doctor. The other
resources are moto's, under the names that the template gives them. CloudFormation is a stand-in.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any

import boto3

from local.runtime.template import REGION, load_template, resources_of_type
from tests.support.query_api import QueryApi
from tests.support.stack_client import StackClient

SECRET_OUTPUTS = {
    "ApiTokensSecret": "ApiTokensSecretArn",
    "ChatTokensSecret": "ChatTokensSecretArn",
    "ChatVerificationSecret": "ChatVerificationSecretArn",
    "ProviderKeysSecret": "ProviderKeysSecretArn",
    "WebhookSigningSecret": "WebhookSigningSecretArn",
}
SIGNING_KEYS = {"webhook_signing": "a" * 44, "webhook_signing_shared": ""}
SCHEDULED = ("ScannerFunction", "SweeperFunction", "AlertsFunction")


@cache  # making one takes longer than most calls
def client(service: str) -> Any:
    make: Any = boto3.client
    return make(service, region_name=REGION)


@dataclass
class Account:
    stack: StackClient
    cloudformation: QueryApi
    url: str
    outputs: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)
    resources: dict[str, tuple[str, str]] = field(default_factory=dict)

    def create(self) -> None:
        """Create everything of a new stack that works, with a confirmed subscription."""
        self.outputs = {"ApiUrl": self.url}
        for secret in client("secretsmanager").list_secrets()["SecretList"]:
            if secret["Name"] in SECRET_OUTPUTS:
                self.outputs[SECRET_OUTPUTS[secret["Name"]]] = secret["ARN"]
        self.write_secret("WebhookSigningSecretArn", SIGNING_KEYS)
        self.outputs["AlarmTopicArn"] = self.create_topic("alarms")
        for name in resources_of_type(load_template(), "AWS::SQS::Queue"):
            suffix = ".fifo" if name.startswith("Chat") else ""
            url = client("sqs").get_queue_url(QueueName=f"{name}{suffix}")["QueueUrl"]
            self.resources[name] = ("AWS::SQS::Queue", url)
        self._create_schedules()
        self._create_alarms()
        self.describe()

    def describe(self, *, age: timedelta = timedelta(days=1), status: str = "") -> None:
        """Let CloudFormation answer with the stack as it is now."""
        self.cloudformation.set_stack(
            self.outputs,
            self.resources,
            parameters=self.parameters,
            status=status or "UPDATE_COMPLETE",
            created_at=self.stack.stack.clock.now() - age,
        )

    def create_topic(self, name: str, *, subscriptions: int = 1) -> str:
        arn = str(client("sns").create_topic(Name=name)["TopicArn"])
        for n in range(subscriptions):
            client("sns").subscribe(
                TopicArn=arn, Protocol="email", Endpoint=f"{name}{n}@example.com"
            )
        return arn

    def write_secret(self, output: str, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        client("secretsmanager").put_secret_value(SecretId=self.outputs[output], SecretString=text)

    def read_tokens(self) -> list[dict[str, str]]:
        arn = self.outputs["ApiTokensSecretArn"]
        text = client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"]
        return list(json.loads(text)["tokens"])

    def set_metric(self, namespace: str, metric: str, name: str, value: float) -> None:
        """Add a data point of now. Only AWS itself may write to its namespaces, so moto's store is
        written."""
        from moto.cloudwatch.models import cloudwatch_backends

        dimension = "FunctionName" if namespace == "AWS/Lambda" else "QueueName"
        point = {
            "MetricName": metric,
            "Value": value,
            # moto compares times without a zone.
            "Timestamp": (self.stack.stack.clock.now() - timedelta(minutes=1)).replace(tzinfo=None),
            "Dimensions": [{"Name": dimension, "Value": name}],
        }
        cloudwatch_backends["123456789012"][REGION].put_metric_data(namespace, [point])

    def _create_schedules(self) -> None:
        for function in SCHEDULED:
            rule = f"duecourse-{function}"
            client("events").put_rule(Name=rule, ScheduleExpression="rate(1 minute)")
            self.resources[f"{function}EveryMinute"] = ("AWS::Events::Rule", rule)
            self.resources[function] = ("AWS::Lambda::Function", f"{rule}-1")
            self.set_metric("AWS/Lambda", "Invocations", f"{rule}-1", 14)

    def _create_alarms(self) -> None:
        for name in resources_of_type(load_template(), "AWS::CloudWatch::Alarm"):
            client("cloudwatch").put_metric_alarm(
                AlarmName=f"duecourse-{name}",
                Namespace="x",
                MetricName="x",
                Statistic="Sum",
                Period=60,
                EvaluationPeriods=1,
                Threshold=1,
                ComparisonOperator="GreaterThanThreshold",
            )
            self.resources[name] = ("AWS::CloudWatch::Alarm", f"duecourse-{name}")
