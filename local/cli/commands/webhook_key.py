"""`duecourse webhook-key`: print the key by which a receiver verifies our webhooks."""

from __future__ import annotations

import argparse
import json

from local.cli.errors import CommandFailedError, UsageError


def add_arguments(webhook_key: argparse.ArgumentParser) -> None:
    webhook_key.add_argument(
        "host", metavar="HOST", help="the host of the receiver's URL, for example ci.example.com"
    )
    webhook_key.add_argument(
        "--secret",
        metavar="ARN",
        help="the stack's output WebhookSigningSecretArn; default: the local stack's key",
    )
    webhook_key.add_argument(
        "--json", action="store_true", help="print JSON, during a rotation with both keys"
    )
    webhook_key.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    from duecourse.domain.http.signature import InvalidSecretError, format_key
    from duecourse.domain.http.signing_keys import host_keys
    from duecourse.domain.http.url import parse_url

    from local.cli.signing_secret import SecretNotReadError, read_signing_secret

    try:
        host = parse_url(f"https://{options.host}/").host
    except ValueError as error:
        raise UsageError(f"{options.host}: the URL {error}") from None
    try:
        keys = [format_key(key) for key in host_keys(read_signing_secret(options.secret), host)]
    except (SecretNotReadError, InvalidSecretError) as error:
        raise CommandFailedError(f"--secret {options.secret}: {error}") from None
    print(json.dumps({"host": host, "keys": keys}) if options.json else keys[0])
