"""`duecourse doctor --stack` against a stack on AWS: healthy, and broken in several ways."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token
from duecourse.domain.access.tokens import hash_secret
from duecourse.domain.time.instant import from_text
from moto.backends import get_backend

from local.cli.doctor import own_token, run
from local.cli.doctor.examine import NAMES, run_checks
from local.runtime.api_gateway import Gateway
from local.runtime.server import Server
from local.runtime.template import ACCOUNT, REGION
from tests.cli.command_client import CommandClient, CommandResult
from tests.cli.doctor_account import Account, client
from tests.cli.test_doctor_local import checks_of, statuses_of
from tests.support.query_api import serve_query_api
from tests.support.stack_client import StackClient, moto_stack

SECRET = "xoxb-a-secret-that-nobody-must-see"
BROKEN_SECRETS = {
    "chat_tokens": "ChatTokensSecretArn",
    "verification": "ChatVerificationSecretArn",
    "providers": "ProviderKeysSecretArn",
}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[StackClient, str]]:
    """Run the stack on moto, which the doctor's own AWS clients reach too."""
    with moto_stack() as running:
        server = Server(Gateway(running.stack), 0)
        thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield running, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture
def account(
    served: tuple[StackClient, str], monkeypatch: pytest.MonkeyPatch, duecourse: CommandClient
) -> Iterator[Account]:
    del duecourse  # it clears DUECOURSE_URL
    running, url = served
    assert running.call("POST", "/_local/reset").status == 200
    for service in ("sns", "cloudwatch"):
        get_backend(service)[ACCOUNT][REGION].reset()

    def move_clock(_seconds: float) -> None:
        running.advance("5s")

    monkeypatch.setattr(run, "REAL_TIME", run.Time(run.REAL_TIME.now, move_clock))
    with serve_query_api() as cloudformation:
        monkeypatch.setenv("AWS_ENDPOINT_URL_CLOUDFORMATION", cloudformation.url)
        account = Account(running, cloudformation, url)
        account.create()
        yield account


def examine(duecourse: CommandClient) -> CommandResult:
    return duecourse("doctor", "--stack", "duecourse", "--json")


def check_failed(result: CommandResult, name: str) -> dict[str, Any]:
    """Check that this check failed, alone, and return it."""
    wrong = [one for one, status in statuses_of(result).items() if status == "failed"]
    assert (result.code, wrong) == (1, [name])
    check = checks_of(result)[name]
    assert check["advice"]
    return check


def check_warns(result: CommandResult, name: str) -> dict[str, Any]:
    wrong = [one for one, status in statuses_of(result).items() if status in ("failed", "warning")]
    assert (result.code, wrong) == (0, [name])
    check = checks_of(result)[name]
    assert check["advice"]
    return check


def test_a_healthy_stack_passes(duecourse: CommandClient, account: Account) -> None:
    result = examine(duecourse)

    assert (result.code, result.err) == (0, "")
    expected = dict.fromkeys(NAMES, "ok") | {"reminder_email": "skipped"}
    assert statuses_of(result) == expected
    assert result.json["target"] == {
        "kind": "aws",
        "stack": "duecourse",
        "region": REGION,
        "url": account.url,
    }


def test_its_token_is_short_lived_removed_and_never_printed(
    duecourse: CommandClient, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, seen = account.read_tokens(), []
    remove = own_token._remove

    def look(arn: str, name: str) -> None:
        seen.append(account.read_tokens()[-1])
        remove(arn, name)

    monkeypatch.setattr(own_token, "_remove", look)
    monkeypatch.setattr("secrets.token_bytes", bytes)
    secret = format_token(bytes(ENTROPY_BYTES))

    result = examine(duecourse)

    [stored] = seen
    assert (stored["scope"], stored["sha256"]) == ("admin", hash_secret(secret))
    lifetime = from_text(stored["expires_at"]) - account.stack.stack.clock.now()
    assert timedelta(0) < lifetime <= timedelta(minutes=15)
    assert account.read_tokens() == before
    assert secret not in result.out + result.err


def test_its_token_is_removed_if_it_is_interrupted(
    duecourse: CommandClient, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = account.read_tokens()

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "run_checks", _until("api", run_checks, interrupt))

    assert duecourse("doctor", "--stack", "duecourse").code == 130
    assert account.read_tokens() == before


def _until(
    name: str, real: Callable[..., Any], interrupt: Callable[..., Any]
) -> Callable[..., Any]:
    return lambda checks: interrupt() if name in checks else real(checks)


def test_tokens_that_a_killed_run_left_are_removed(
    duecourse: CommandClient, account: Account
) -> None:
    before = account.read_tokens()
    old = {"name": "doctor-00000000", "scope": "write", "sha256": "0" * 64}
    expired = {**old, "expires_at": "2026-01-01T00:00:00.000Z"}
    account.write_secret("ApiTokensSecretArn", {"tokens": [*before, expired]})

    assert examine(duecourse).code == 0
    assert account.read_tokens() == before


def test_a_given_token_is_used_only_for_its_own_api(
    duecourse: CommandClient, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUECOURSE_TOKEN", "local-write")
    monkeypatch.setenv("DUECOURSE_URL", account.url)
    assert checks_of(examine(duecourse))["token"]["detail"] == "DUECOURSE_TOKEN works"

    monkeypatch.setenv("DUECOURSE_URL", "https://other.example.com")
    assert checks_of(examine(duecourse))["token"]["detail"] == "a token of its own works"


def test_a_disabled_schedule_is_found(duecourse: CommandClient, account: Account) -> None:
    client("events").disable_rule(Name="duecourse-ScannerFunction")

    check = check_failed(examine(duecourse), "schedule")

    assert "duecourse-ScannerFunction" in check["detail"]
    assert "enable-rule" in check["advice"]
    del account


def test_a_schedule_that_does_not_tick_is_found(duecourse: CommandClient, account: Account) -> None:
    account.resources["ScannerFunction"] = ("AWS::Lambda::Function", "another")
    account.describe()

    assert "ScannerFunction" in check_failed(examine(duecourse), "schedule")["detail"]


def test_a_new_stack_may_not_have_ticked_yet(duecourse: CommandClient, account: Account) -> None:
    account.resources["ScannerFunction"] = ("AWS::Lambda::Function", "another")
    account.describe(age=timedelta(minutes=3))

    assert "no tick is recorded yet" in check_warns(examine(duecourse), "schedule")["detail"]


def test_a_scanner_that_fails_is_found(duecourse: CommandClient, account: Account) -> None:
    account.set_metric("AWS/Lambda", "Errors", "duecourse-ScannerFunction-1", 3)

    assert "ScannerFunction" in check_failed(examine(duecourse), "schedule")["detail"]


def test_a_dead_letter_that_nobody_takes_is_found(
    duecourse: CommandClient, account: Account
) -> None:
    url = client("sqs").create_queue(QueueName="somewhere-else")["QueueUrl"]
    client("sqs").send_message(QueueUrl=url, MessageBody="?")
    account.resources["ChatDeadLetterQueue"] = ("AWS::SQS::Queue", url)
    account.describe()

    assert "ChatDeadLetterQueue (1)" in check_failed(examine(duecourse), "queues")["detail"]


def test_a_message_that_waits_for_long_is_a_warning(
    duecourse: CommandClient, account: Account
) -> None:
    account.set_metric("AWS/SQS", "ApproximateAgeOfOldestMessage", "WorkQueue", 3_600)
    account.set_metric("AWS/SQS", "ApproximateAgeOfOldestMessage", "NoticesQueue", 30_000)

    check = check_warns(examine(duecourse), "queues")
    assert "WorkQueue (60 min)" in check["detail"]
    assert "NoticesQueue" not in check["detail"]  # notifications wait there through quiet hours


def test_a_raised_alarm_is_found(duecourse: CommandClient, account: Account) -> None:
    client("cloudwatch").set_alarm_state(
        AlarmName="duecourse-WorkerErrorsAlarm", StateValue="ALARM", StateReason="x"
    )

    assert check_failed(examine(duecourse), "alarms")["detail"] == "raised: WorkerErrorsAlarm"
    del account


def test_a_deleted_alarm_is_a_warning(duecourse: CommandClient, account: Account) -> None:
    client("cloudwatch").delete_alarms(AlarmNames=["duecourse-LatenessAlarm"])

    assert check_warns(examine(duecourse), "alarms")["detail"] == "not found: LatenessAlarm"
    del account


def test_alarms_that_nobody_receives_are_a_warning(
    duecourse: CommandClient, account: Account
) -> None:
    account.outputs["AlarmTopicArn"] = account.create_topic("silent", subscriptions=0)
    account.describe()

    check = check_warns(examine(duecourse), "alarm_email")
    assert "no subscription" in check["detail"]
    assert "AlarmEmail" in check["advice"]


def test_a_subscription_that_is_not_confirmed_is_a_warning(
    duecourse: CommandClient, account: Account
) -> None:
    arn = account.outputs["ReminderTopicArn"] = account.create_topic("reminders")
    account.describe()
    assert checks_of(examine(duecourse))["reminder_email"]["detail"] == "1 confirmed"

    backend = get_backend("sns")[ACCOUNT][REGION]
    [subscription] = [one for one in backend.subscriptions.values() if one.topic.arn == arn]
    subscription.arn = "PendingConfirmation"

    result = examine(duecourse)
    check = check_warns(result, "reminder_email")
    assert "1 not confirmed" in check["detail"]
    assert "Open the link" in check["advice"]
    assert "@example.com" not in result.out


@pytest.mark.parametrize("value", [None, "", "  ", "...", "xxx", "<bot token>", "change-me", ["…"]])
def test_a_placeholder_of_an_enabled_platform_is_found(
    duecourse: CommandClient, account: Account, value: Any
) -> None:
    account.parameters = {"Channels": "slack,telegram", "Providers": "openai,bedrock"}
    account.describe()
    account.write_secret("ChatTokensSecretArn", {"slack": SECRET, "telegram": value})
    account.write_secret("ChatVerificationSecretArn", {"slack": SECRET, "telegram": [SECRET]})
    account.write_secret("ProviderKeysSecretArn", {"openai": SECRET})

    result = examine(duecourse)

    check = check_failed(result, "secrets")
    assert check["detail"] == "not set: telegram in ChatTokensSecretArn"
    assert SECRET not in result.out + result.err


def test_all_missing_secrets_are_named(duecourse: CommandClient, account: Account) -> None:
    account.parameters = {"Channels": "discord", "Providers": "anthropic"}
    account.describe()
    for output in BROKEN_SECRETS.values():
        account.write_secret(output, {})

    found = check_failed(examine(duecourse), "secrets")["detail"]
    assert found == (
        "not set: discord in ChatTokensSecretArn, discord in ChatVerificationSecretArn,"
        " anthropic in ProviderKeysSecretArn"
    )


@pytest.mark.parametrize("output", ["ChatTokensSecretArn", "ProviderKeysSecretArn"])
def test_a_secret_that_is_not_json_is_found_and_not_printed(
    duecourse: CommandClient, account: Account, output: str
) -> None:
    account.parameters = {"Channels": "slack", "Providers": "openai"}
    account.describe()
    account.write_secret("ChatTokensSecretArn", {"slack": SECRET})
    account.write_secret(output, SECRET)

    result = examine(duecourse)

    assert output in check_failed(result, "secrets")["detail"]
    assert SECRET not in result.out + result.err


def test_a_platform_that_does_not_exist_is_found(
    duecourse: CommandClient, account: Account
) -> None:
    account.parameters = {"Channels": "slak,email"}
    account.describe()

    check = check_failed(examine(duecourse), "secrets")
    assert check["detail"].endswith(": slak")
    assert "telegram, slack, discord" in check["advice"]


@pytest.mark.parametrize("key", [SECRET, [SECRET, "b" * 44]])
def test_a_signing_key_that_receivers_may_share_is_a_warning(
    duecourse: CommandClient, account: Account, key: Any
) -> None:
    account.write_secret("WebhookSigningSecretArn", {"webhook_signing": key})

    result = examine(duecourse)

    check = check_warns(result, "webhook_signing")
    arn = account.outputs["WebhookSigningSecretArn"]
    assert "webhook_signing_shared" in check["detail"]
    assert check["advice"].endswith(
        f"aws secretsmanager get-secret-value --secret-id {arn} --query SecretString --output text"
        """ | jq -c '.webhook_signing_shared = ""' | aws secretsmanager put-secret-value"""
        f" --secret-id {arn} --secret-string file:///dev/stdin"
    )
    assert "docs/upgrading.md" in check["advice"]
    assert SECRET not in result.out + result.err


@pytest.mark.parametrize("shared", ["", SECRET, [SECRET]])
def test_a_decision_about_the_shared_signing_key_is_ok(
    duecourse: CommandClient, account: Account, shared: Any
) -> None:
    keys = {"webhook_signing": SECRET, "webhook_signing_shared": shared}
    account.write_secret("WebhookSigningSecretArn", keys)

    result = examine(duecourse)

    assert statuses_of(result)["webhook_signing"] == "ok"
    assert SECRET not in result.out + result.err


def test_a_stack_without_tokens_is_a_warning(duecourse: CommandClient, account: Account) -> None:
    account.write_secret("ApiTokensSecretArn", {"tokens": []})

    check = check_warns(examine(duecourse), "api_tokens")
    command = f"duecourse token ops --scope admin --secret {account.outputs['ApiTokensSecretArn']}"
    assert check["advice"].endswith(command)
    assert command in duecourse("doctor", "--stack", "duecourse").out  # on one line


def test_a_token_that_expires_soon_is_a_warning(duecourse: CommandClient, account: Account) -> None:
    entry = {"name": "ci", "scope": "read", "sha256": "1" * 64}
    ending = {**entry, "expires_at": "2026-02-20T00:00:00.000Z"}
    account.write_secret("ApiTokensSecretArn", {"tokens": [ending]})

    assert "ci" in check_warns(examine(duecourse), "api_tokens")["detail"]


def test_a_broken_token_secret_is_found_and_not_replaced(
    duecourse: CommandClient, account: Account
) -> None:
    account.write_secret("ApiTokensSecretArn", SECRET)

    result = examine(duecourse)

    assert result.code == 1
    assert {name for name, status in statuses_of(result).items() if status == "failed"} == {
        *("token", "api_tokens")
    }
    assert SECRET not in result.out + result.err
    assert statuses_of(result)["task"] == "skipped"


def test_a_failed_deployment_is_found(duecourse: CommandClient, account: Account) -> None:
    account.describe(status="UPDATE_ROLLBACK_FAILED")

    assert "UPDATE_ROLLBACK_FAILED" in check_failed(examine(duecourse), "stack")["detail"]


def test_a_stack_that_does_not_exist_is_found(duecourse: CommandClient, account: Account) -> None:
    account.cloudformation.results.clear()
    account.cloudformation.error = ("ValidationError", "Stack with id x does not exist")

    check = check_failed(examine(duecourse), "stack")
    assert check["detail"] == "there is no stack duecourse in this region and account"


def test_a_missing_permission_skips_its_check(duecourse: CommandClient, account: Account) -> None:
    with serve_query_api() as denying:
        denying.error = ("AuthorizationError", "not allowed")
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("AWS_ENDPOINT_URL_SNS", denying.url)
            result = examine(duecourse)

    assert result.code == 0
    check = checks_of(result)["alarm_email"]
    assert (check["status"], "may not call" in check["detail"]) == ("skipped", True)
    del account


@pytest.mark.parametrize(("minutes", "status"), [(0.2, "warning"), (-5, "failed"), (5, "failed")])
def test_a_wrong_clock_is_found(
    duecourse: CommandClient,
    account: Account,
    monkeypatch: pytest.MonkeyPatch,
    minutes: float,
    status: str,
) -> None:
    real = run.REAL_TIME
    wrong = run.Time(lambda: real.now() + timedelta(minutes=minutes), real.pause)
    monkeypatch.setattr(run, "REAL_TIME", wrong)

    assert statuses_of(examine(duecourse))["clock"] == status
    del account


def test_the_stack_of_samconfig_is_the_default(duecourse: CommandClient, account: Account) -> None:
    result = duecourse("doctor", "--stack", "--json")

    assert (result.code, result.json["target"]["stack"]) == (0, "duecourse")
    result = duecourse("doctor", "--env", "prod", "--json")
    assert (result.code, result.json["target"]["stack"]) == (0, "duecourse-prod")
    del account


def test_the_address_in_the_next_steps_is_safe_for_a_shell(
    duecourse: CommandClient, account: Account
) -> None:
    account.outputs["ApiUrl"] = "http://127.0.0.1:4566/_aws/execute-api/a1b2/$default"
    account.describe()

    result = duecourse("doctor", "--stack", "duecourse", "--next-steps")

    assert (
        "export DUECOURSE_URL='http://127.0.0.1:4566/_aws/execute-api/a1b2/$default'" in result.out
    )


def test_the_next_steps_name_address_token_and_secrets(
    duecourse: CommandClient, account: Account
) -> None:
    account.parameters = {"Channels": "slack", "Providers": "openai"}
    account.describe()

    result = duecourse("doctor", "--stack", "duecourse", "--next-steps")

    assert result.code == 0
    assert f"export DUECOURSE_URL={account.url}" in result.out
    arn = account.outputs["ApiTokensSecretArn"]
    assert f"duecourse token ops --scope admin --secret {arn}" in result.out
    assert (
        f"bot token of slack, as 'slack' in {account.outputs['ChatTokensSecretArn']}" in result.out
    )
    assert f"API key of openai, as 'openai' in {account.outputs['ProviderKeysSecretArn']}" in (
        result.out
    )
    assert "--channel log" in result.out
    as_json = duecourse("doctor", "--stack", "duecourse", "--next-steps", "--json")
    assert "\n".join(json.loads(as_json.out)["next_steps"]) + "\n" == result.out
