"""The API's address and token: DUECOURSE_URL and DUECOURSE_TOKEN."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from duecourse.domain.http.ip_rules import is_ip_literal, is_loopback
from duecourse.domain.http.url import Url, parse_url

from local.cli.errors import UsageError

LOCAL_URL = "http://127.0.0.1:8000"
TOKEN_VARIABLE = "DUECOURSE_TOKEN"  # noqa: S105 - the name of a variable
LOCAL_TOKEN = "local"  # noqa: S105 - of the stack on this machine, which it guards from nobody


@dataclass(frozen=True, slots=True)
class Server:
    """The server. `token` is not part of its repr.

    `has_default_token`: DUECOURSE_TOKEN is not set, so `token` is that of the local stack.
    """

    url: Url
    token: str = field(repr=False)
    has_default_token: bool = False

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
        return "start the local stack with `make up`, or set DUECOURSE_URL"

    @property
    def token_name(self) -> str:
        return "the local stack's default token" if self.has_default_token else TOKEN_VARIABLE

    @property
    def base(self) -> str:
        """Return the path before every route: empty, or a stage such as /prod."""
        return self.url.path.rstrip("/")


def server_from_env(env: Mapping[str, str]) -> Server:
    """Return the server. Raises UsageError for invalid settings."""
    own_token = env.get(TOKEN_VARIABLE)
    token = own_token or LOCAL_TOKEN
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError(f"{TOKEN_VARIABLE} must be ASCII without spaces")
    try:
        url = parse_url(env.get("DUECOURSE_URL") or LOCAL_URL)
    except ValueError as error:
        raise UsageError(f"DUECOURSE_URL {error}") from None
    server = Server(url, token, has_default_token=not own_token)
    if "?" in server.url.path:
        raise UsageError("DUECOURSE_URL must not contain a query")
    if not (server.url.is_encrypted or server.is_local):
        raise UsageError(
            "DUECOURSE_URL must begin with https://; http:// works only for this machine"
        )
    return server
