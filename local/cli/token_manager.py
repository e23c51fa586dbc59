"""`duecourse token`: create an API token and store its hash in the secret, revoke or list them."""

from __future__ import annotations

import argparse
import json
import secrets
from datetime import datetime, timedelta

from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token
from duecourse.domain.access.tokens import NAME_LIMIT, ApiToken, hash_secret, is_token_name
from duecourse.domain.time.duration import parse_duration
from duecourse.domain.time.instant import truncate_to_millisecond

DEFAULT_LIFETIME = timedelta(days=365)
NEVER = "never"


def run_token_command(options: argparse.Namespace, *, now: datetime) -> str:
    """Return the text to print. Raises ValueError for wrong usage, and SecretNotChangedError."""
    if options.list:
        return _list(options, now=now)
    if options.revoke is not None:
        return _revoke(options)
    secret = format_token(secrets.token_bytes(ENTROPY_BYTES))
    token = _make_token(options, secret, now=now)
    if options.secret is not None:
        from local.cli.token_secret import add_token, change_tokens

        change_tokens(options.secret, add_token(token, replace=options.replace))
    elif options.replace:
        raise ValueError("--replace requires --secret")
    return _format_output(options, secret, token.to_json())


def _revoke(options: argparse.Namespace) -> str:
    from local.cli.token_secret import change_tokens, remove_token

    _require_only_secret(options, "--revoke")
    change_tokens(options.secret, remove_token(options.revoke))
    if options.json:
        return json.dumps({"revoked": options.revoke, "secret": options.secret}, indent=2)
    return f"Revoked {options.revoke}. It stops working within a minute."


def _list(options: argparse.Namespace, *, now: datetime) -> str:
    from local.cli.token_list import format_tokens, tokens_to_json
    from local.cli.token_secret import read_tokens

    _require_only_secret(options, "--list")
    if options.revoke is not None:
        raise ValueError("--list: only --secret and --json can be used with it")
    tokens = read_tokens(options.secret)
    if options.json:
        return json.dumps(tokens_to_json(tokens, now=now), indent=2)
    return format_tokens(tokens, now=now)


def _require_only_secret(options: argparse.Namespace, flag: str) -> None:
    if options.secret is None:
        raise ValueError(f"{flag} requires --secret")
    if options.name or options.scope or options.expires or options.replace:
        raise ValueError(f"{flag}: only --secret and --json can be used with it")


def _make_token(options: argparse.Namespace, secret: str, *, now: datetime) -> ApiToken:
    if options.name is None or options.scope is None:
        raise ValueError("NAME and --scope are required")
    if not is_token_name(options.name):
        limits = f"up to {NAME_LIMIT} characters, starting with a letter or digit"
        raise ValueError(f"NAME: use letters, digits, dots, dashes and underscores, {limits}")
    lifetime = _parse_lifetime(options.expires)
    expires_at = truncate_to_millisecond(now) + lifetime if lifetime else None
    return ApiToken(options.name, Scope(options.scope), hash_secret(secret), expires_at)


def _parse_lifetime(text: str | None) -> timedelta | None:
    """Return the lifetime, None for a token that never expires."""
    if text is None:
        return DEFAULT_LIFETIME
    if text == NEVER:
        return None
    try:
        lifetime = parse_duration(text)
    except ValueError as error:
        raise ValueError(f"--expires: {error}") from None
    if not lifetime:
        raise ValueError("--expires: must be longer than 0")
    return lifetime


def _format_output(options: argparse.Namespace, secret: str, entry: dict[str, str]) -> str:
    if options.json:
        return json.dumps({"token": secret, "entry": entry, "secret": options.secret}, indent=2)
    entry_title = (
        f"Stored in {options.secret}, as a hash:"
        if options.secret
        else "Add this entry, which has only its hash, to the tokens in the secret:"
    )
    return "\n".join(
        [
            "Token (shown only once):",
            f"\n  {secret}\n",
            entry_title,
            f"\n  {json.dumps(entry)}",
        ]
    )
