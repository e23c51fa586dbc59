"""Allow requests from this machine and the stack's own pages, and reject other websites.

Any website can make a visitor's browser send requests here. It cannot forge the Host and Origin
headers that the browser sends.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from duecourse.adapters.channels.registry import PLATFORMS

if TYPE_CHECKING:
    from local.runtime.api_gateway import Request

_WEBHOOKS = "/webhooks/"
_LOOPBACK_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?", re.IGNORECASE)
_SAFE_METHODS = ("GET", "HEAD")


class ForbiddenCallerError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def check_caller(request: Request, *, tunnel_hosts: Collection[str], is_upgrade: bool) -> None:
    """Raise ForbiddenCallerError unless the caller is allowed.

    `is_upgrade`: a WebSocket request, on any path.
    """
    host, origin = request.headers.get("host"), request.headers.get("origin")
    if host is None:
        if origin is not None:
            raise ForbiddenCallerError(421, "a request with an Origin header needs a Host header")
    elif not _LOOPBACK_HOST.fullmatch(host) and (
        is_upgrade or not _is_allowed_tunnel(request, host, tunnel_hosts)
    ):
        raise ForbiddenCallerError(
            421,
            "the Host header must be 127.0.0.1, localhost or [::1];"
            " a host named by --allow-host reaches /webhooks/* alone, and not the console",
        )
    if origin not in (None, f"http://{host}") and _is_unauthenticated_write(request):
        raise ForbiddenCallerError(403, "the Origin header names a page of another website")


def is_typed(path: str) -> bool:
    """Return whether the path belongs to a platform without verification, such as the console."""
    platform = PLATFORMS.get(path.removeprefix(_WEBHOOKS))
    return path.startswith(_WEBHOOKS) and platform is not None and not platform.is_verified


def _is_allowed_tunnel(request: Request, host: str, tunnel_hosts: Collection[str]) -> bool:
    """Return whether a tunnel may pass the request.

    Never to the console, which has no verification.
    """
    path = _path(request)
    is_for_platforms = path.startswith(_WEBHOOKS) and not is_typed(path)
    return is_for_platforms and host.partition(":")[0].lower() in tunnel_hosts


def _is_unauthenticated_write(request: Request) -> bool:
    """Return whether the request changes something without needing a token or a signature."""
    path = _path(request)
    is_open = path.startswith("/_local/") or is_typed(path)
    return is_open and request.method not in _SAFE_METHODS


def _path(request: Request) -> str:
    """Return the path, or an empty one if it is malformed: the gateway rejects that later."""
    try:
        return request.path
    except ValueError:
        return ""
