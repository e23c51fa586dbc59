"""API Gateway's Lambda authorizers, as configured in the template, with their result cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from local.runtime.clock import LocalClock
from local.runtime.functions import InvocationError
from local.runtime.template import ACCOUNT, REGION, function_id

NO_AUTHORIZER = "NONE"
MAX_CACHED = 1_000
_HEADER_SOURCE = "$request.header."
Identity = tuple[str, ...]
Invoke = Callable[[str, Any], Any]


class AuthorizationError(Exception):
    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass(frozen=True)
class Authorizer:
    """`headers` identify the caller: all are required, and they are the cache key."""

    name: str
    function: str
    headers: tuple[str, ...]
    ttl: timedelta


def parse_authorizers(body: Mapping[str, Any]) -> dict[str, Authorizer]:
    """Return the authorizers of an API in the form that SAM's translator writes."""
    schemes = body.get("components", {}).get("securitySchemes", {})
    return {name: _parse_authorizer(name, scheme) for name, scheme in schemes.items()}


def authorizer_name(security: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the operation's authorizer, or None if the route is public."""
    names = [name for requirement in security for name in requirement if name != NO_AUTHORIZER]
    return names[0] if names else None


def _parse_authorizer(name: str, scheme: Mapping[str, Any]) -> Authorizer:
    settings = scheme["x-amazon-apigateway-authorizer"]
    [function] = map(function_id, settings["authorizerUri"]["Fn::Sub"][1].values())
    sources = settings["identitySource"]
    if any(not source.startswith(_HEADER_SOURCE) for source in sources):
        raise ValueError(
            f"authorizer {name}: only headers are supported as identity sources: {sources}"
        )
    headers = tuple(source.removeprefix(_HEADER_SOURCE).lower() for source in sources)
    ttl = timedelta(seconds=settings["authorizerResultTtlInSeconds"])
    return Authorizer(name, function, headers, ttl)


class CachingAuthorizer:
    def __init__(self, invoke: Invoke, clock: LocalClock) -> None:
        self._invoke = invoke
        self._clock = clock
        self._lock = Lock()
        self._cache: OrderedDict[tuple[str, Identity], tuple[datetime, Any]] = OrderedDict()

    def authorize(self, authorizer: Authorizer, event: Mapping[str, Any]) -> Any:
        """Return the authorizer's context for the function. Raises AuthorizationError."""
        identity = tuple(event["headers"].get(header, "") for header in authorizer.headers)
        if not all(identity):
            raise AuthorizationError(401, "a valid bearer token is required")
        answer = self._invoke_cached(authorizer, identity, event)
        if not isinstance(answer, dict) or not isinstance(answer.get("isAuthorized"), bool):
            raise AuthorizationError(500, "the authorizer's answer is invalid")
        if not answer["isAuthorized"]:
            raise AuthorizationError(403, "the authorizer refused the request")
        return answer.get("context") or {}

    def _invoke_cached(
        self, authorizer: Authorizer, identity: Identity, event: Mapping[str, Any]
    ) -> Any:
        now = self._clock.now()
        with self._lock:
            until, answer = self._cache.get((authorizer.name, identity), (now, None))
        if now < until:
            return answer
        try:
            answer = self._invoke(authorizer.function, _to_authorizer_event(identity, event))
        except InvocationError:
            raise AuthorizationError(500, "the authorizer failed") from None
        self._store((authorizer.name, identity), now + authorizer.ttl, answer)
        return answer

    def _store(self, key: tuple[str, Identity], until: datetime, answer: Any) -> None:
        """Cache an answer. The oldest entries are evicted, so a caller cannot fill the memory."""
        with self._lock:
            self._cache.pop(key, None)
            self._cache[key] = (until, answer)
            while len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)


def _to_authorizer_event(identity: Identity, event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the authorizer's event in payload format 2.0: the request without its body."""
    base = {key: value for key, value in event.items() if key not in ("body", "isBase64Encoded")}
    request = event["requestContext"]["http"]
    path = f"local/$default/{request['method']}{request['path']}"
    return base | {
        "type": "REQUEST",
        "routeArn": f"arn:aws:execute-api:{REGION}:{ACCOUNT}:{path}",
        "identitySource": list(identity),
    }
