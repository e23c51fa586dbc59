"""Signature version 4 of a POST request to the root of a JSON service.

botocore's signer handles any request and derives the day's key for each; this one handles one form
and keeps the key. The tests compare their signatures.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from hmac import digest
from typing import Any

from botocore.compat import get_current_datetime

from duecourse.adapters.aws.http_exchange import host_of

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNSIGNED = ("user-agent",)  # proxies may change it


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request without its body. The headers have the case in which they are sent."""

    url: str
    headers: dict[str, str]
    region: str
    service: str
    host: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "host", host_of(self.url))


def sign(request: SignedRequest, body: bytes, credentials: Any) -> dict[str, str]:
    """Return the headers of the request with its signature."""
    timestamp = get_current_datetime().strftime("%Y%m%dT%H%M%SZ")
    headers = {**request.headers, "X-Amz-Date": timestamp}
    if credentials.token:
        headers["X-Amz-Security-Token"] = credentials.token
    signed = {"host": request.host}
    signed |= {name.lower(): value for name, value in headers.items()}
    for name in _UNSIGNED:
        signed.pop(name, None)
    names = sorted(signed)
    lines = "".join([f"{name}:{signed[name]}\n" for name in names])
    canonical = f"POST\n/\n\n{lines}\n{';'.join(names)}\n{sha256(body).hexdigest()}"
    scope = f"{timestamp[:8]}/{request.region}/{request.service}/aws4_request"
    text = f"{_ALGORITHM}\n{timestamp}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    key = _signing_key(credentials.secret_key, scope)
    headers["Authorization"] = (
        f"{_ALGORITHM} Credential={credentials.access_key}/{scope}, "
        f"SignedHeaders={';'.join(names)}, Signature={digest(key, text.encode(), 'sha256').hex()}"
    )
    headers["Content-Length"] = str(len(body))
    return headers


@lru_cache(maxsize=16)
def _signing_key(secret_key: str, scope: str) -> bytes:
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = digest(key, part.encode(), "sha256")
    return key
