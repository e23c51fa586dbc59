"""The API's address and token: DUECOURSE_URL and DUECOURSE_TOKEN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from duecourse.domain.http.ip_rules import is_ip_literal, is_loopback
from duecourse.domain.http.url import Url, parse_url

from local.cli.errors import UsageError

LOCAL_URL = "http://127.0.0.1:8000"
LOCAL_TOKEN = "local"  # noqa: S105 - of the stack on this machine, which it guards from nobody


@dataclass(frozen=True, slots=True)
class Server:
    """The server. `token` is not part of its repr."""

    url: Url
    token: str = field(repr=False)

    @property
    def is_local(self) -> bool:
        host = self.url.host
        return host == "localhost" or (is_ip_literal(host) and is_loopback(host))

    @property
    def name(self) -> str:
        return f"{self.url.scheme}://{self.url.authority}{self.base}"

    @property
    def hint(self) -> str:
        """Return what to do if nothing answers."""
        if not self.is_local:
            return ""
        return "; start the local stack with `make up`, or set DUECOURSE_URL"

    @property
    def base(self) -> str:
        """Return the path before every route: empty, or a stage such as /prod."""
        return self.url.path.rstrip("/")


def server_from_env(env: Mapping[str, str]) -> Server:
    """Return the server. Raises UsageError for invalid settings."""
    token = env.get("DUECOURSE_TOKEN") or LOCAL_TOKEN
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError("DUECOURSE_TOKEN must be ASCII without spaces")
    try:
        server = Server(parse_url(env.get("DUECOURSE_URL") or LOCAL_URL), token)
    except ValueError as error:
        raise UsageError(f"DUECOURSE_URL {error}") from None
    if "?" in server.url.path:
        raise UsageError("DUECOURSE_URL must not contain a query")
    if not (server.url.is_encrypted or server.is_local):
        raise UsageError(
            "DUECOURSE_URL must begin with https://; http:// works only for this machine"
        )
    return server
