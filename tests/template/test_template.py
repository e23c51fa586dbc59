"""The template is consistent with itself and with the code that it deploys."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cfnlint.api
import pytest
from duecourse.domain.tasks.handler import ATTEMPT_TIMEOUT

from local.runtime.template import REGION, ROOT, load_template, resources_of_type

Template = dict[str, Any]
FOURTEEN_DAYS = 14 * 24 * 3600
FUNCTIONS = sorted(resources_of_type(load_template(), "AWS::Lambda::Function"))
SCHEDULED = {
    "AlertsFunction": "rate(5 minutes)",
    "ScannerFunction": "rate(1 minute)",
    "SweeperFunction": "rate(5 minutes)",
}
every_function = pytest.mark.parametrize("function", FUNCTIONS)


def _function(template: Template, name: str) -> dict[str, Any]:
    return resources_of_type(template, "AWS::Lambda::Function")[name]


def _environments(template: Template) -> Iterator[tuple[str, Any]]:
    for properties in resources_of_type(template, "AWS::Lambda::Function").values():
        yield from properties["Environment"]["Variables"].items()


def _mappings(template: Template, function: str) -> list[dict[str, Any]]:
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    return [one for one in mappings if one["FunctionName"] == {"Ref": function}]


def _read_queues(template: Template) -> list[tuple[str, str]]:
    """Each queue that a function reads, with that function."""
    queues = resources_of_type(template, "AWS::SQS::Queue")
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    pairs = [
        (one["EventSourceArn"]["Fn::GetAtt"][0], one["FunctionName"]["Ref"]) for one in mappings
    ]
    return [(source, function) for source, function in pairs if source in queues]


# --- queues -----------------------------------------------------------------------------------


def test_the_visibility_timeout_exceeds_the_function_timeout(template: Template) -> None:
    queues = resources_of_type(template, "AWS::SQS::Queue")
    assert _read_queues(template)
    for queue, function in _read_queues(template):
        visibility_timeout = queues[queue]["VisibilityTimeout"]
        assert visibility_timeout >= 6 * _function(template, function)["Timeout"], queue


def test_every_queue_has_a_dead_letter_queue(template: Template) -> None:
    queues = resources_of_type(template, "AWS::SQS::Queue")
    source_queues = [queue for queue, _ in _read_queues(template) if "DeadLetter" not in queue]
    named = ["ChatQueue", "FailuresQueue", "NoticesQueue", "SlowWorkQueue", "WorkQueue"]
    assert sorted(source_queues) == named
    for queue in source_queues:
        target = queues[queue]["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        assert target == queue.replace("Queue", "DeadLetterQueue")
        assert target in queues


def test_every_dead_letter_queue_has_a_consumer(template: Template) -> None:
    dead_letter_queues = {
        name for name in resources_of_type(template, "AWS::SQS::Queue") if "DeadLetter" in name
    }
    readers = dict(_read_queues(template))

    assert {readers.get(queue) for queue in dead_letter_queues} == {"DeadletterFunction"}


def test_dead_letters_are_retained_for_fourteen_days(template: Template) -> None:
    queues = resources_of_type(template, "AWS::SQS::Queue")
    retention_periods = {
        name: queue.get("MessageRetentionPeriod")
        for name, queue in queues.items()
        if name.endswith("DeadLetterQueue")
    }
    assert retention_periods
    assert set(retention_periods.values()) == {FOURTEEN_DAYS}


# --- triggers ---------------------------------------------------------------------------------


def test_the_stream_has_old_and_new_images(template: Template) -> None:
    tasks = resources_of_type(template, "AWS::DynamoDB::Table")["TasksTable"]

    assert tasks["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_a_change_that_the_journal_cannot_process_becomes_a_dead_letter(template: Template) -> None:
    mappings = _mappings(template, "JournalFunction")

    assert len(mappings) == 2  # the tasks', and the breakers'
    for mapping in mappings:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        # A batch that is cut again could not be counted, and ten attempts are over in a minute.
        assert "BisectBatchOnFunctionError" not in mapping
        assert "MaximumRetryAttempts" not in mapping
        assert 20 * 3600 < mapping["MaximumRecordAgeInSeconds"] < 24 * 3600
        destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]
        assert destination == {"Fn::GetAtt": ["JournalDeadLetterQueue", "Arn"]}


def test_old_changes_are_not_pushed_to_websocket_clients(template: Template) -> None:
    mappings = _mappings(template, "LiveFunction")

    assert len(mappings) == 2
    for mapping in mappings:
        assert mapping["StartingPosition"] == "LATEST"
        assert (mapping["MaximumRetryAttempts"], mapping["MaximumRecordAgeInSeconds"]) == (1, 60)


def test_only_failed_messages_are_requeued(template: Template) -> None:
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    assert mappings
    for mapping in mappings:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


@pytest.mark.parametrize("function", sorted(SCHEDULED))
def test_a_schedule_has_its_rate(template: Template, function: str) -> None:
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    rates = [
        rule["ScheduleExpression"]
        for rule in rules
        for target in rule["Targets"]
        if target["Arn"] == {"Fn::GetAtt": [function, "Arn"]}
    ]
    assert rates == [SCHEDULED[function]]


def test_a_failed_scheduled_function_is_not_retried(
    template: Template,
) -> None:
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    targets = {target["Arn"]["Fn::GetAtt"][0] for rule in rules for target in rule["Targets"]}
    configs = resources_of_type(template, "AWS::Lambda::EventInvokeConfig").values()
    retries = {one["FunctionName"]["Ref"]: one["MaximumRetryAttempts"] for one in configs}

    assert targets == set(SCHEDULED)
    assert {name: retries.get(name) for name in targets} == dict.fromkeys(SCHEDULED, 0)


# --- functions --------------------------------------------------------------------------------


@every_function
def test_a_function_has_its_runtime_and_layers(template: Template, function: str) -> None:
    properties = _function(template, function)
    layers = {layer["Ref"][: -len("0123456789")] for layer in properties["Layers"]}

    assert properties["Runtime"] == "python3.11"
    assert layers == {"DepsLayer", "CoreLayer"}


@every_function
def test_a_function_logs_to_a_group_with_retention(template: Template, function: str) -> None:
    group = _function(template, function)["LoggingConfig"]["LogGroup"]["Ref"]

    assert "RetentionInDays" in resources_of_type(template, "AWS::Logs::LogGroup")[group]


@every_function
def test_the_handler_named_in_the_template_exists(template: Template, function: str) -> None:
    module, _, name = _function(template, function)["Handler"].rpartition(".")

    path = ROOT / "functions" / Path(*module.split(".")).with_suffix(".py")
    statements = ast.parse(path.read_text()).body
    functions = [one.name for one in statements if isinstance(one, ast.FunctionDef)]
    values = [
        target.id
        for one in statements
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    ]
    assert name in functions + values


def test_a_lease_is_longer_than_the_worker_timeout(template: Template) -> None:
    worker = _function(template, "WorkerFunction")
    lease = int(worker["Environment"]["Variables"]["LEASE_SECONDS"])

    assert lease > worker["Timeout"]


def test_the_attempt_timeout_is_shorter_than_the_worker_timeout(template: Template) -> None:
    spare = _function(template, "WorkerFunction")["Timeout"] - ATTEMPT_TIMEOUT.total_seconds()
    assert spare >= 10, "time to report a failure, or to write down what was done"


def test_an_environment_variable_has_one_value_in_all_functions(template: Template) -> None:
    """The local stack runs all functions in one process, with one environment."""
    values: dict[str, set[str]] = {}
    for name, value in _environments(template):
        values.setdefault(name, set()).add(json.dumps(value))

    assert {name: found for name, found in values.items() if len(found) > 1} == {}


def test_no_environment_variable_holds_a_secret(template: Template) -> None:
    secrets = resources_of_type(template, "AWS::SecretsManager::Secret")
    for name, value in _environments(template):
        assert "resolve:" not in json.dumps(value), f"{name} would be filled in with a secret"
        if re.search("SECRET|TOKEN|PASSWORD|KEY", name):
            assert value.get("Ref") in secrets, f"{name} must name a secret, not be one"


def test_only_websocket_connections_and_the_list_of_rules_use_a_wildcard_in_a_role(
    template: Template,
) -> None:
    """IAM checks a list of rules against all rules of the account."""
    for name, role in resources_of_type(template, "AWS::IAM::Role").items():
        documents = [policy["PolicyDocument"] for policy in role.get("Policies", ())]
        statements = [one for document in documents for one in document["Statement"]]
        for statement in statements:
            granted = statement["Fn::If"][1] if "Fn::If" in statement else statement
            allowed = json.dumps([granted["Action"], granted["Resource"]])
            if granted["Action"] == "events:ListRules":
                allowed = allowed.replace(":rule/*", "")
            assert "*" not in allowed.replace("/@connections/*", ""), name


# --- names, parameters, environments ----------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        ("AWS::Lambda::Function", "Function"),
        ("AWS::DynamoDB::Table", "Table"),
        ("AWS::SQS::Queue", "Queue"),
    ],
)
def test_resource_names_end_with_their_type(template: Template, kind: str, suffix: str) -> None:
    names = list(resources_of_type(template, kind))

    assert names
    assert [name for name in names if not re.fullmatch(f"([A-Z][a-z]+)+{suffix}", name)] == []


def test_the_documented_parameters_and_outputs_exist(template: Template) -> None:
    assert {"ShardCount", "RetentionDays", "LogLevel"} <= template["Parameters"].keys()
    assert {"ApiUrl", "ApiTokensSecretArn", "TasksTableName", "WorkQueueUrl"} <= template[
        "Outputs"
    ].keys()


def test_samconfig_overrides_parameters_that_exist(template: Template) -> None:
    config = tomllib.loads((ROOT / "samconfig.toml").read_text())

    assert {"default", "dev", "prod"} <= config.keys()
    for name in ("default", "dev", "prod"):
        overrides = config[name]["deploy"]["parameters"].get("parameter_overrides", "")
        named = {one.partition("=")[0] for one in overrides.split()}
        assert named <= template["Parameters"].keys(), name


def test_cfn_lint_finds_nothing_in_the_translated_template(template: Template) -> None:
    # The placeholder code location (s3://local/code.zip) offends no rule: none is ignored.
    config = cfnlint.api.ManualArgs(regions=[REGION])

    assert [str(found) for found in cfnlint.api.lint(json.dumps(template), config=config)] == []


def test_functions_call_aws_unless_a_container_says_otherwise(template: Template) -> None:
    """Declared, because `sam local` passes on no other variables, and empty, which means AWS."""
    found = [value for name, value in _environments(template) if name == "AWS_ENDPOINT_URL"]
    assert found == [""] * len(FUNCTIONS)


def test_the_variables_of_containers_are_declared(template: Template) -> None:
    declared = {name for name, _ in _environments(template)}
    overrides = json.loads((ROOT / "events" / "env.json").read_text())["Parameters"]
    assert overrides.keys() <= declared
