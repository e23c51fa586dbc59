"""The topic of the channel `email` exists only on request, is encrypted, and takes only TLS."""

from __future__ import annotations

from typing import Any

from local.runtime.template import Resolver

Template = dict[str, Any]
RESOURCES = ("ReminderTopic", "ReminderTopicPolicy", "ReminderEmailSubscription")
CONDITION = "HasReminderEmail"


def _topic_variable(template: Template, **parameters: str) -> str:
    resolver = Resolver(template, parameters)
    variables = template["Resources"]["WorkerFunction"]["Properties"]["Environment"]["Variables"]
    return str(resolver.resolve(variables["REMINDER_TOPIC_ARN"]))


def test_without_an_address_there_is_no_topic(template: Template) -> None:
    conditional = [*(template["Resources"][name] for name in RESOURCES)]
    conditional.append(template["Outputs"]["ReminderTopicArn"])

    assert {one["Condition"] for one in conditional} == {CONDITION}
    assert _topic_variable(template) == ""
    assert _topic_variable(template, ReminderEmail="ada@example.com") == "local"


def test_only_worker_and_notifier_may_publish_and_only_to_that_topic(template: Template) -> None:
    allowed = {
        name: statement["Fn::If"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::IAM::Role"
        for policy in resource["Properties"].get("Policies", ())
        for statement in policy["PolicyDocument"]["Statement"]
        if "sns:" in str(statement)
    }

    assert sorted(allowed) == ["NotifierFunctionRole", "WorkerFunctionRole"]
    for condition, granted, otherwise in allowed.values():
        assert (condition, otherwise) == (CONDITION, {"Ref": "AWS::NoValue"})
        assert (granted["Action"], granted["Resource"]) == (
            *("sns:Publish", {"Ref": "ReminderTopic"}),
        )


def test_the_topic_is_encrypted_and_refuses_plain_text(template: Template) -> None:
    topic, policy = (template["Resources"][name]["Properties"] for name in RESOURCES[:2])
    [statement] = policy["PolicyDocument"]["Statement"]

    assert Resolver(template, {}).resolve(topic["KmsMasterKeyId"]) == "alias/aws/sns"
    assert policy["Topics"] == [{"Ref": "ReminderTopic"}]
    assert (statement["Effect"], statement["Condition"]) == (
        *("Deny", {"Bool": {"aws:SecureTransport": "false"}}),
    )
