"""Strict parsing of a URL that comes from outside and that a worker will call.

Refuses everything that two parsers may read differently: otherwise the check could see another host
than the request reaches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from duecourse.domain.http.ip_rules import is_allowed, is_ip_literal, is_loopback
from duecourse.domain.text.redaction import REDACTED, redact_whole

MAX_URL_LENGTH = 2_000
_ALLOWED_CHARACTERS = re.compile(r"[!-\[\]-~]*")  # visible ASCII without the backslash
_URL_PATTERN = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^#]*)(?:#.*)?", re.I
)
_USER_INFO = re.compile(r"(?<=//)[^/?#]*(?=@)")
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_AUTHORITY = re.compile(
    rf"(?:\[(?P<address>[0-9a-f:.]{{2,45}})\]|(?P<name>{_LABEL}(?:\.{_LABEL})*)\.?)"
    r"(?::(?P<port>\d{1,5}))?",
    re.I,
)
_MAX_HOST_LENGTH = 253
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Url:
    """`path` includes the query. It may hold secrets, so errors name only the host."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    def can_reach(self, address: str, *, is_loopback_allowed: bool) -> bool:
        """Return True if the URL may be requested at `address`. Plain http only reaches loopback.

        Loopback must be allowed by `is_loopback_allowed`.
        """
        if not self.is_encrypted:
            return is_loopback_allowed and is_loopback(address)
        return is_allowed(address, is_loopback_allowed=is_loopback_allowed)


def parse_url(text: str) -> Url:
    """Parse `text` strictly. Raises ValueError with a message that does not repeat the URL."""
    if len(text) > MAX_URL_LENGTH:
        raise ValueError(f"must be at most {MAX_URL_LENGTH:,} characters, not {len(text):,}")
    if not _ALLOWED_CHARACTERS.fullmatch(text):
        raise ValueError(
            "must be ASCII without spaces and backslashes: percent-encode other characters"
        )
    parts = _URL_PATTERN.fullmatch(text)
    if parts is None:
        raise ValueError("must begin with https://")
    host, port = _parse_authority(parts["authority"])
    scheme = parts["scheme"].lower()
    return Url(scheme, host, port or _DEFAULT_PORTS[scheme], _ensure_leading_slash(parts["path"]))


def mask_url(text: str) -> str:
    """Return `text` with user info, query values and fragment masked, for showing it.

    `text` may be no valid URL. A path is searched for the secrets of known services only.
    """
    rest, has_fragment, _ = text.partition("#")
    place, has_query, query = rest.partition("?")
    masked = redact_whole(_USER_INFO.sub(REDACTED, place))
    if has_query:
        masked += "?" + "&".join(map(_mask_query_part, query.split("&")))
    return f"{masked}#{REDACTED}" if has_fragment else masked


def _mask_query_part(part: str) -> str:
    """Mask the value of `name=value`, and a part without a name altogether."""
    name, has_value, _ = part.partition("=")
    return f"{name}={REDACTED}" if has_value else REDACTED


def check_reachable(url: Url, *, is_loopback_allowed: bool) -> None:
    """Raise ValueError if the URL is not allowed, as far as that is known without DNS."""
    if not url.is_encrypted and not is_loopback_allowed:
        raise ValueError("must begin with https://")
    if is_ip_literal(url.host) and not url.can_reach(
        url.host, is_loopback_allowed=is_loopback_allowed
    ):
        raise ValueError(f"{url.host} is not a public address")


def _parse_authority(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise ValueError("must not contain a user name or a password")
    found = _AUTHORITY.fullmatch(authority)
    host = (found["address"] or found["name"]).lower() if found else ""
    if found is None or len(host) > _MAX_HOST_LENGTH:
        raise ValueError("must have a valid host, and after it at most a port")
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 1 <= port <= 65_535:
        raise ValueError("must have a port from 1 to 65535")
    return host, port


def _ensure_leading_slash(path: str) -> str:
    return path if path.startswith("/") else f"/{path}"
