"""Authentication of a WebSocket handshake: its token and its origin.

Browsers cannot send headers with a WebSocket, but they can offer subprotocols. The encoded token is
one of them, next to SUBPROTOCOL.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from duecourse.domain.access.bearer import extract_secret
from duecourse.domain.errors import DuecourseError

SUBPROTOCOL = "duecourse"
BEARER_PREFIX = "bearer."
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ForeignOriginError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("no page of another website may listen here")


class UnauthorizedError(DuecourseError):
    """The token is missing or invalid. The message never repeats it."""

    def __init__(self) -> None:
        super().__init__("a valid token is required")


class TooManyConnectionsError(DuecourseError):
    def __init__(self, token_name: str, limit: int) -> None:
        super().__init__(
            f"the token {token_name} has {limit} open connections, the most that one may have: "
            "close some, or use another token"
        )


@dataclass(frozen=True)
class ConnectRequest:
    """A WebSocket handshake. `headers` have names in lower case."""

    connection_id: str
    host: str
    headers: Mapping[str, str]
    query: Mapping[str, str]

    @property
    def secret(self) -> str | None:
        """The token, or None if the request carries none or more than one."""
        secrets = [*self._subprotocol_secrets(), *self._header_secrets()]
        secrets += [self.query["token"]] if "token" in self.query else []
        return secrets[0] if len(secrets) == 1 else None

    @property
    def subprotocol(self) -> str | None:
        return SUBPROTOCOL if SUBPROTOCOL in self._offered_subprotocols() else None

    def is_allowed_origin(self, allowed_origins: Collection[str]) -> bool:
        """Return True if there is no Origin header, or it names this host or an allowed origin.

        Browsers always send the header; other programs do not.
        """
        origin = self.headers.get("origin")
        if origin is None:
            return True
        place = _parse_origin(origin)
        return place is not None and place in {
            _parse_origin(one) for one in (self._own_origin(), *allowed_origins)
        }

    def _own_origin(self) -> str:
        """Return the origin of this API.

        API Gateway accepts only https and passes its own host name. The local stack uses http and
        has already checked the Host header.
        """
        if self.headers.get("x-forwarded-proto") == "https":
            return f"https://{self.host}"
        return f"http://{self.headers.get('host', '')}"

    def _offered_subprotocols(self) -> list[str]:
        protocols = self.headers.get("sec-websocket-protocol", "").split(",")
        return [one.strip() for one in protocols]

    def _subprotocol_secrets(self) -> list[str]:
        encoded = [
            one.removeprefix(BEARER_PREFIX)
            for one in self._offered_subprotocols()
            if one.startswith(BEARER_PREFIX)
        ]
        return [_decode_token(one) for one in encoded]

    def _header_secrets(self) -> list[str]:
        if "authorization" not in self.headers:
            return []
        return [extract_secret(self.headers["authorization"], route="$connect") or ""]


def _parse_origin(origin: str) -> tuple[str, str, int] | None:
    """Return scheme, host and port, or None if `origin` is no website, such as `null`."""
    try:
        parts = urlsplit(origin.strip())
        port = parts.port
    except ValueError:
        return None
    is_more = parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or is_more:
        return None
    return parts.scheme, parts.hostname, _DEFAULT_PORTS[parts.scheme] if port is None else port


def _decode_token(encoded: str) -> str:
    """Decode a base64url token. Return "", which matches no token, if it is invalid."""
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except ValueError:
        return ""
