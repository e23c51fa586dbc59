"""Check that the secrets have what the enabled platforms and providers need.

Values are never part of a result, not even the wrong ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.adapters.channels.registry import PLATFORMS, SEND_ONLY
from duecourse.domain.access.tokens import EXPIRY_WARNING, InvalidTokensError, parse_tokens
from duecourse.domain.http.signing_keys import SECRET_NAME, SHARED_SECRET_NAME

from local.cli.doctor.aws import make_client
from local.cli.doctor.deployed_stack import DeployedStack
from local.cli.doctor.own_token import NAME_PREFIX
from local.cli.doctor.result import CheckResult, failed, ok, warning
from local.cli.errors import CommandFailedError

PROVIDERS_WITH_KEYS = ("openai", "anthropic")
# What people leave in place of a value, and what the template's descriptions show.
_PLACEHOLDER = re.compile(
    r"\W*|x+|<.*>|\$\{?\w+\}?|change[-_ ]?me|todo|placeholder|example|your[-_ ].*"
    r"|bot token|secret token|signing secret|public key|api[-_ ]?key|token|secret",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Need:
    """One key that a platform or provider needs in the secret of an output."""

    key: str
    output: str


def needed_keys(stack: DeployedStack) -> list[Need]:
    """Return what the enabled platforms and providers need."""
    channels = [name for name in stack.list_parameter("Channels") if name in PLATFORMS]
    providers = [name for name in stack.list_parameter("Providers") if name in PROVIDERS_WITH_KEYS]
    return [
        *(Need(name, "ChatTokensSecretArn") for name in channels),
        *(Need(name, "ChatVerificationSecretArn") for name in channels),
        *(Need(name, "ProviderKeysSecretArn") for name in providers),
    ]


def check_secrets(stack: DeployedStack) -> CheckResult:
    unknown = [
        name
        for name in stack.list_parameter("Channels")
        if name not in PLATFORMS and name not in SEND_ONLY
    ]
    if unknown:
        return failed(
            "secrets",
            f"the parameter Channels names no platform: {', '.join(unknown)}",
            f"Use {', '.join(name for name, one in PLATFORMS.items() if one.outbound)}.",
        )
    needs = needed_keys(stack)
    missing = [f"{need.key} in {need.output}" for need in _find_missing(stack, needs)]
    if missing:
        advice = "Put the values into the secrets of these outputs (docs/chat.md, docs/work.md)."
        return failed("secrets", f"not set: {', '.join(missing)}", advice)
    if not needs:
        return ok("secrets", "none is needed: no chat platform and no provider is enabled")
    return ok("secrets", f"set: {', '.join(dict.fromkeys(need.key for need in needs))}")


def _find_missing(stack: DeployedStack, needs: list[Need]) -> Iterator[Need]:
    contents: dict[str, Mapping[str, Any]] = {}
    for need in needs:
        if need.output not in contents:
            contents[need.output] = _read_object(stack, need.output)
        if is_placeholder(contents[need.output].get(need.key)):
            yield need


def is_placeholder(value: Any) -> bool:
    """Return whether `value` is no secret: missing, empty, or a word that stands for one.

    A list is a list of valid values; one of them has to be real.
    """
    if isinstance(value, list):
        return all(is_placeholder(one) for one in value)
    return not isinstance(value, str) or _PLACEHOLDER.fullmatch(value.strip()) is not None


def _read_object(stack: DeployedStack, output: str) -> Mapping[str, Any]:
    try:
        content = json.loads(_read_text(stack, output))
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise CommandFailedError(f"the secret of {output} is not a JSON object")
    return content


def _read_text(stack: DeployedStack, output: str) -> str:
    arn = stack.outputs.get(output)
    if arn is None:
        raise CommandFailedError(f"the stack has no output {output}")
    client: Any = make_client("secretsmanager")
    return str(client.get_secret_value(SecretId=arn).get("SecretString"))


def check_webhook_signing(stack: DeployedStack) -> CheckResult:
    """Check whether somebody decided which key all receivers of webhooks share.

    Until then it is the one from which the keys of all hosts are derived.
    """
    output = "WebhookSigningSecretArn"
    if _read_object(stack, output).get(SHARED_SECRET_NAME) is not None:
        return ok("webhook_signing", f"{SHARED_SECRET_NAME} is set")
    arn = stack.outputs[output]
    command = (
        f"aws secretsmanager get-secret-value --secret-id {arn} --query SecretString --output text"
        f""" | jq -c '.{SHARED_SECRET_NAME} = ""' | aws secretsmanager put-secret-value"""
        f" --secret-id {arn} --secret-string file:///dev/stdin"
    )
    return warning(
        "webhook_signing",
        f"{SHARED_SECRET_NAME} is not set, so webhooks are also signed by {SECRET_NAME} itself",
        "If a receiver verifies by that key, see docs/upgrading.md (Receivers of webhooks)."
        f" If none does: {command}",
    )


def check_api_tokens(stack: DeployedStack, *, now: datetime) -> CheckResult:
    """Check the tokens of people and programs; the doctor's own does not count."""
    output = "ApiTokensSecretArn"
    try:
        stored = parse_tokens(_read_text(stack, output))
    except InvalidTokensError as error:
        return failed("api_tokens", str(error), "Repair the secret (docs/access.md).")
    valid = [
        token
        for token in stored
        if not token.has_expired(now) and not token.name.startswith(NAME_PREFIX)
    ]
    if not valid:
        command = f"duecourse token ops --scope admin --secret {stack.outputs[output]}"
        return warning("api_tokens", "there is no valid token", f"Create one: {command}")
    if ending := [token.name for token in valid if token.expires_within(EXPIRY_WARNING, now)]:
        found = f"expire within {EXPIRY_WARNING.days} days: {', '.join(ending)}"
        return warning("api_tokens", found, "Create new ones (docs/access.md, Rotate a token).")
    return ok("api_tokens", f"{len(valid)} valid")
