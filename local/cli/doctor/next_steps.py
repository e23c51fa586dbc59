"""What to do after a deployment: the address, a token, secrets, a first reminder."""

from __future__ import annotations

import shlex

from local.cli.doctor.deployed_stack import DeployedStack
from local.cli.doctor.secret_checks import needed_keys

_COMMAND = ".venv/bin/duecourse"
_LABELS = {
    "ChatTokensSecretArn": "bot token",
    "ChatVerificationSecretArn": "verification secret",
    "ProviderKeysSecretArn": "API key",
}


def format_next_steps(stack: DeployedStack, url: str) -> list[str]:
    """Return the lines. They name secrets, and contain none."""
    tokens_secret = stack.outputs.get("ApiTokensSecretArn", "<ApiTokensSecretArn>")
    channel = "email" if "ReminderTopicArn" in stack.outputs else "log"
    return [
        f"The stack {stack.name} is deployed. API and dashboard: {url}",
        "",
        "1. Create an API token, which is shown once, and let the command line use it:",
        f"     {_COMMAND} token ops --scope admin --secret {tokens_secret}",
        f"     export DUECOURSE_URL={shlex.quote(url)}",
        "     export DUECOURSE_TOKEN=<the token>",
        *_secret_lines(stack),
        *_email_lines(stack),
        "4. Create a reminder:",
        f'     {_COMMAND} add "stretch" --in 1m --channel {channel}',
        "",
    ]


def _secret_lines(stack: DeployedStack) -> list[str]:
    needs, secrets = needed_keys(stack), stack.outputs
    if not needs:
        return [
            "2. Optional: connect a chat platform (docs/chat.md) or a provider (docs/work.md)"
            " with the parameters Channels and Providers."
        ]
    return [
        "2. Fill in the secrets, unless you have (docs/chat.md, docs/work.md):",
        *(
            f"     {_LABELS[need.output]} of {need.key}, as {need.key!r} in {secrets[need.output]}"
            for need in needs
            if need.output in secrets
        ),
    ]


def _email_lines(stack: DeployedStack) -> list[str]:
    if "ReminderTopicArn" in stack.outputs:
        return ["3. Open the link in the e-mail that AWS sent to ReminderEmail (docs/email.md)."]
    return [
        "3. Optional: get reminders by e-mail with the parameter ReminderEmail (docs/email.md)."
    ]
