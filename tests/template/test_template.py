"""The infrastructure is consistent with itself and with the code it runs."""

from __future__ import annotations

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


def test_a_message_stays_hidden_while_its_function_may_still_run(template: Template) -> None:
    queues = resources_of_type(template, "AWS::SQS::Queue")
    assert _read_queues(template)
    for queue, function in _read_queues(template):
        hidden = queues[queue]["VisibilityTimeout"]
        assert hidden >= 6 * _function(template, function)["Timeout"], queue


def test_what_nobody_can_process_lands_in_a_dead_letter_queue(template: Template) -> None:
    queues = resources_of_type(template, "AWS::SQS::Queue")
    living = [queue for queue, _ in _read_queues(template) if "DeadLetter" not in queue]
    named = ["ChatQueue", "FailuresQueue", "NoticesQueue", "SlowWorkQueue", "WorkQueue"]
    assert sorted(living) == named
    for queue in living:
        target = queues[queue]["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        assert target == queue.replace("Queue", "DeadLetterQueue")
        assert target in queues


def test_every_dead_letter_queue_is_emptied(template: Template) -> None:
    dead = {name for name in resources_of_type(template, "AWS::SQS::Queue") if "DeadLetter" in name}
    readers = dict(_read_queues(template))

    assert {readers.get(queue) for queue in dead} == {"DeadletterFunction"}


def test_dead_letters_are_kept_for_fourteen_days(template: Template) -> None:
    queues = resources_of_type(template, "AWS::SQS::Queue")
    kept = {
        name: queue.get("MessageRetentionPeriod")
        for name, queue in queues.items()
        if name.endswith("DeadLetterQueue")
    }
    assert kept
    assert set(kept.values()) == {FOURTEEN_DAYS}


# --- what wakes the functions -----------------------------------------------------------------


def test_the_journal_sees_what_a_task_was_and_became(template: Template) -> None:
    tasks = resources_of_type(template, "AWS::DynamoDB::Table")["TasksTable"]

    assert tasks["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_a_change_the_journal_cannot_keep_does_not_hold_up_the_rest(template: Template) -> None:
    mappings = _mappings(template, "JournalFunction")

    assert len(mappings) == 2  # the tasks', and the breakers'
    for mapping in mappings:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["BisectBatchOnFunctionError"] is True
        assert 0 < mapping["MaximumRetryAttempts"] <= 100
        destination = mapping["DestinationConfig"]["OnFailure"]["Destination"]
        assert destination == {"Fn::GetAtt": ["JournalDeadLetterQueue", "Arn"]}


def test_what_listeners_cannot_be_told_holds_up_nothing(template: Template) -> None:
    mappings = _mappings(template, "LiveFunction")

    assert len(mappings) == 2
    for mapping in mappings:
        assert mapping["StartingPosition"] == "LATEST"
        assert (mapping["MaximumRetryAttempts"], mapping["MaximumRecordAgeInSeconds"]) == (1, 60)


def test_only_the_messages_that_failed_go_back_to_the_queue(template: Template) -> None:
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


def test_no_scheduled_function_is_retried_as_the_next_tick_makes_up_for_it(
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
def test_a_function_runs_what_was_built_for_it(template: Template, function: str) -> None:
    properties = _function(template, function)
    layers = {layer["Ref"][: -len("0123456789")] for layer in properties["Layers"]}

    assert properties["Runtime"] == "python3.11"
    assert layers == {"DepsLayer", "CoreLayer"}


@every_function
def test_a_function_logs_where_logs_age_out(template: Template, function: str) -> None:
    group = _function(template, function)["LoggingConfig"]["LogGroup"]["Ref"]

    assert "RetentionInDays" in resources_of_type(template, "AWS::Logs::LogGroup")[group]


@every_function
def test_a_handler_is_where_the_template_says(template: Template, function: str) -> None:
    module, _, name = _function(template, function)["Handler"].rpartition(".")

    path = ROOT / "functions" / Path(*module.split(".")).with_suffix(".py")
    assert f"def {name}(" in path.read_text()


def test_a_lease_outlives_the_worker_that_holds_it(template: Template) -> None:
    worker = _function(template, "WorkerFunction")
    lease = int(worker["Environment"]["Variables"]["LEASE_SECONDS"])

    assert lease > worker["Timeout"]


def test_an_attempt_ends_before_its_worker_does(template: Template) -> None:
    spare = _function(template, "WorkerFunction")["Timeout"] - ATTEMPT_TIMEOUT.total_seconds()
    assert spare >= 10, "time to report a failure, or to write down what was done"


def test_one_environment_variable_means_one_thing(template: Template) -> None:
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


def test_no_role_has_a_wildcard_but_for_connections_that_nobody_can_name(
    template: Template,
) -> None:
    for name, role in resources_of_type(template, "AWS::IAM::Role").items():
        documents = [policy["PolicyDocument"] for policy in role.get("Policies", ())]
        statements = [one for document in documents for one in document["Statement"]]
        for statement in statements:
            granted = statement["Fn::If"][1] if "Fn::If" in statement else statement
            allowed = json.dumps([granted["Action"], granted["Resource"]])
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
def test_resources_are_named_by_what_they_are(template: Template, kind: str, suffix: str) -> None:
    names = list(resources_of_type(template, kind))

    assert names
    assert [name for name in names if not re.fullmatch(f"([A-Z][a-z]+)+{suffix}", name)] == []


def test_the_parameters_and_outputs_people_rely_on_are_there(template: Template) -> None:
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
