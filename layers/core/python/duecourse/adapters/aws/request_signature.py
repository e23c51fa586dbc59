"""Signature version 4 of a POST request to the root of a JSON service.

botocore's signer handles any request and derives the day's key for each; this one handles one form
and keeps the key. The tests compare their signatures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from hmac import digest
from typing import TYPE_CHECKING, Any

from botocore.compat import get_current_datetime

from duecourse.adapters.aws.http_exchange import host_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNSIGNED = ("user-agent",)  # proxies may change it
_DATE, _TOKEN = "\0date", "\0token"  # no header contains such a text


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request without its body. The headers have the case in which they are sent."""

    url: str
    headers: dict[str, str]
    region: str
    service: str
    # The signed headers without a session token, and with one. Date and token are filled in.
    canonical: tuple[tuple[str, str], tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        host = host_of(self.url)
        dated = {**self.headers, "X-Amz-Date": _DATE}
        with_token = {**dated, "X-Amz-Security-Token": _TOKEN}
        pairs = _canonical_headers(host, dated), _canonical_headers(host, with_token)
        object.__setattr__(self, "canonical", pairs)


def sign(request: SignedRequest, body: bytes, credentials: Any) -> dict[str, str]:
    """Return the headers of the request with its signature."""
    timestamp = get_current_datetime().strftime("%Y%m%dT%H%M%SZ")
    headers = {**request.headers, "X-Amz-Date": timestamp}
    if credentials.token:
        headers["X-Amz-Security-Token"] = credentials.token
    lines, names = request.canonical[bool(credentials.token)]
    lines = lines.replace(_DATE, timestamp).replace(_TOKEN, credentials.token or "")
    canonical = f"POST\n/\n\n{lines}\n{names}\n{sha256(body).hexdigest()}"
    scope = f"{timestamp[:8]}/{request.region}/{request.service}/aws4_request"
    text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    key = _signing_key(credentials.secret_key, scope)
    headers["Authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={names}, Signature={digest(key, text.encode(), 'sha256').hex()}"
    )
    headers["Content-Length"] = str(len(body))
    return headers


def _canonical_headers(host: str, headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the lines of the signed headers, and their names."""
    signed = {"host": host}
    signed |= {name.lower(): value for name, value in headers.items()}
    for name in _UNSIGNED:
        signed.pop(name, None)
    names = sorted(signed)
    return "".join([f"{name}:{signed[name]}\n" for name in names]), ";".join(names)


@lru_cache(maxsize=16)
def _signing_key(secret_key: str, scope: str) -> bytes:
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = digest(key, part.encode(), "sha256")
    return key
