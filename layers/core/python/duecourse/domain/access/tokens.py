"""API tokens. Each has a name and a scope, and is stored as a hash."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import is_mistyped
from duecourse.domain.errors import DuecourseError
from duecourse.domain.time.instant import from_text, to_text
from duecourse.domain.validation.strict_json import parse_strict_json

NAME_LIMIT = 64
MAX_SECRET_LENGTH = 1_000
EXPIRY_WARNING = timedelta(days=14)
_NAME_PATTERN = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LIMIT - 1}}}")
_SHA256_PATTERN = re.compile(r"[0-9a-f]{64}")
_REQUIRED_KEYS = frozenset({"name", "scope", "sha256"})


class InvalidTokensError(DuecourseError):
    """The stored list of tokens is invalid. The message never contains any of its content."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"the secret of the API tokens is invalid: {problem}")


@dataclass(frozen=True, slots=True)
class ApiToken:
    name: str
    scope: Scope
    sha256: str
    expires_at: datetime | None = None

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and now >= self.expires_at

    def expires_within(self, period: timedelta, now: datetime) -> bool:
        """Return whether the token is valid now and not for the whole `period` any more."""
        return not self.has_expired(now) and self.has_expired(now + period)

    def to_json(self) -> dict[str, str]:
        entry = {"name": self.name, "scope": str(self.scope), "sha256": self.sha256}
        return entry | ({"expires_at": to_text(self.expires_at)} if self.expires_at else {})


def is_token_name(text: str) -> bool:
    return _NAME_PATTERN.fullmatch(text) is not None


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def find_token(tokens: Iterable[ApiToken], secret: str, *, now: datetime) -> ApiToken | None:
    """Return the unexpired token of `secret`, else None.

    It compares all hashes in constant time, so the response time reveals nothing about them.
    """
    if not 0 < len(secret) <= MAX_SECRET_LENGTH or is_mistyped(secret):
        return None
    return find_token_by_hash(tokens, hash_secret(secret), now=now)


def find_token_by_hash(
    tokens: Iterable[ApiToken], digest: str, *, now: datetime
) -> ApiToken | None:
    """Return the unexpired token with the hash `digest`, else None."""
    found = None
    for token in tokens:
        if hmac.compare_digest(token.sha256, digest):
            found = token
    return None if found is None or found.has_expired(now) else found


def parse_tokens(text: Any) -> tuple[ApiToken, ...]:
    """Read the stored list. Raises InvalidTokensError if any entry is invalid."""
    try:
        content = parse_strict_json(text)
    except (TypeError, ValueError):
        raise InvalidTokensError("it is not JSON") from None
    entries = content.get("tokens") if isinstance(content, dict) else None
    if not isinstance(entries, list) or len(content) != 1:
        raise InvalidTokensError('it must be {"tokens": [...]} and nothing else')
    tokens = tuple(_parse_token(entry, n) for n, entry in enumerate(entries))
    if len({token.name for token in tokens}) < len(tokens):
        raise InvalidTokensError("two tokens have the same name")
    if len({token.sha256 for token in tokens}) < len(tokens):
        raise InvalidTokensError("two tokens have the same hash")
    return tokens


def _parse_token(entry: Any, index: int) -> ApiToken:
    if not isinstance(entry, dict) or not _REQUIRED_KEYS <= entry.keys() <= _REQUIRED_KEYS | {
        "expires_at"
    }:
        fields = "name, scope and sha256, and may have expires_at"
        raise InvalidTokensError(f"tokens[{index}] must have {fields}")
    if not (isinstance(entry["name"], str) and is_token_name(entry["name"])):
        raise InvalidTokensError(f"tokens[{index}].name must be letters, digits, dots and dashes")
    if entry["scope"] not in list(Scope):
        raise InvalidTokensError(f"tokens[{index}].scope must be one of: {', '.join(Scope)}")
    if not (isinstance(entry["sha256"], str) and _SHA256_PATTERN.fullmatch(entry["sha256"])):
        raise InvalidTokensError(
            f"tokens[{index}].sha256 must be 64 hexadecimal digits, in lower case"
        )
    expires_at = _parse_expiry(entry, index)
    return ApiToken(entry["name"], Scope(entry["scope"]), entry["sha256"], expires_at)


def _parse_expiry(entry: Mapping[str, Any], index: int) -> datetime | None:
    if "expires_at" not in entry:
        return None
    try:
        return from_text(entry["expires_at"])
    except (TypeError, ValueError, OverflowError):
        problem = f"tokens[{index}].expires_at must be a time such as 2026-02-17T15:00:00Z"
        raise InvalidTokensError(problem) from None
