"""A header of a request: a name that is one word, and a value that is one line of plain ASCII."""

from __future__ import annotations

import re

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t -~]*")
# Said by whoever sends the request: they tell where it goes, where it ends, and what comes back.
RESERVED_HEADERS = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def check_header(name: str, value: str) -> None:
    """Raises ValueError with a sentence that does not repeat the value: it may be a secret."""
    if not _NAME.fullmatch(name):
        raise ValueError("the name of a header must be one word")
    if name.lower() in RESERVED_HEADERS:
        raise ValueError(f"{name} cannot be set")
    if not _VALUE.fullmatch(value):
        raise ValueError(f"{name} must be one line of plain ASCII")
