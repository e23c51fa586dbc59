"""Validation of a request header: the name is one token, the value one line of ASCII."""

from __future__ import annotations

import re

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VALUE = re.compile(r"[\t -~]*")
# Set by the HTTP client: they control routing, framing and the form of the response.
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
    """Raise ValueError for an invalid header. The message omits the value: it may be a secret."""
    if not _NAME.fullmatch(name):
        raise ValueError("the name of a header must be one token, such as X-Team")
    if name.lower() in RESERVED_HEADERS:
        raise ValueError(f"{name} is set by Duecourse and cannot be given")
    if not _VALUE.fullmatch(value):
        raise ValueError(f"{name} must be one line of plain ASCII")
