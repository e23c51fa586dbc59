"""Who may talk to the local stack: programs on this machine and its own pages, no other website.

A website can send requests here from the browser of whoever looks at it. It cannot choose what the
browser says of it: the name by which it found this machine, and the page that sends.
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
    """Raises StrangerError. A WebSocket is an upgrade, whatever its path."""
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
    """Whether the path is that of a chat whose requests nobody verifies, such as the console."""
    platform = PLATFORMS.get(path.removeprefix(_WEBHOOKS))
    return path.startswith(_WEBHOOKS) and platform is not None and not platform.is_verified


def _is_allowed_tunnel(request: Request, host: str, tunnel_hosts: Collection[str]) -> bool:
    """The console takes everybody's word for who they are: no tunnel leads to it."""
    path = _path(request)
    is_for_platforms = path.startswith(_WEBHOOKS) and not is_typed(path)
    return is_for_platforms and host.partition(":")[0].lower() in tunnel_hosts


def _is_unauthenticated_write(request: Request) -> bool:
    """What changes something and asks for no token, nor for any other proof."""
    path = _path(request)
    is_open = path.startswith("/_local/") or is_typed(path)
    return is_open and request.method not in _SAFE_METHODS


def _path(request: Request) -> str:
    """None of ours where it cannot be read: the gateway refuses it."""
    try:
        return request.path
    except ValueError:
        return ""
