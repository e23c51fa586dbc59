"""Each kind of failure in words, and what a person can do about it.

`dashboard/kinds.js` has the same words; a test compares them.
"""

from __future__ import annotations

from duecourse.domain.tasks.failure_kind import Kind

# The name, and the advice. Failures that clear by waiting need none.
WORDS: dict[Kind, tuple[str, str]] = {
    Kind.AUTH: ("not authenticated", "a person has to add or renew the key"),
    Kind.PERMISSION: ("permission denied", "a person has to grant access"),
    Kind.NOT_FOUND: ("not found", "check the name or the address"),
    Kind.INVALID_REQUEST: ("invalid request", "it is refused until the request changes"),
    Kind.CONFLICT: ("conflict", ""),
    Kind.QUOTA: ("quota used up", "pay the provider or raise its limit"),
    Kind.BUDGET: ("budget used up", ""),
    Kind.RATE_LIMIT: ("rate limit", ""),
    Kind.NETWORK: ("network error", ""),
    Kind.SERVER_ERROR: ("server error", ""),
    Kind.TIMEOUT: ("timeout", ""),
    Kind.MEMORY: ("out of memory", ""),
    Kind.DISK: ("disk full", ""),
    Kind.CAPACITY: ("out of capacity", ""),
    Kind.SYNTAX: ("syntax error", "change the code"),
    Kind.TYPE: ("type error", "change the code"),
    Kind.IMPORT: ("missing dependency", "install or declare it"),
    Kind.LINT: ("lint error", "change the code"),
    Kind.ASSERTION: ("failed test", "change the code or the test"),
    Kind.CRASH: ("crash", "change the code"),
    Kind.CONTENT_POLICY: ("refused content", "it is refused until the input changes"),
    Kind.TOKEN_LIMIT: ("input too long", "shorten or split it"),
    Kind.BAD_JSON: ("invalid JSON", ""),
    Kind.DATA: ("unexpected data", "correct the data or the code"),
    Kind.CONFIG: ("wrong configuration", "correct the settings"),
    Kind.UNKNOWN: ("unknown error", ""),
}


def name_kind(kind: Kind) -> str:
    return WORDS[kind][0]


def describe_kind(kind: Kind) -> str:
    """Return the name of the kind and, if there is something to do, what."""
    name, advice = WORDS[kind]
    return f"{name}: {advice}" if advice else name
