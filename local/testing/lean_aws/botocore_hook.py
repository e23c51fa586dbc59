"""Answer botocore's calls from memory, below its retries and without serialising or signing.

The calls still pass `Endpoint._do_get_response`, where the local stack counts them and injects
faults.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from unittest.mock import patch
from weakref import WeakSet

from botocore.client import BaseClient
from botocore.endpoint import Endpoint
from botocore.session import Session
from duecourse.adapters.aws.json_client import JsonClient

from local.testing.lean_aws.endpoint import SERVICES, LeanAws
from local.testing.lean_aws.errors import AwsError
from local.testing.lean_aws.values import decode_binary

_ERROR_STATUS = 300
_STUBBER_ID = "boto_stubber"
_clients: dict[Any, Any] = {}
_clients_with_full_quota: WeakSet[Any] = WeakSet()


@dataclass(frozen=True)
class LeanRequest:
    url: str
    body: bytes


@dataclass(frozen=True)
class LeanResponse:
    status_code: int
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""


@contextmanager
def install_hook(aws: LeanAws) -> Iterator[None]:
    """Send the calls of every client of a supported service to `aws`."""
    refill_retry_quotas()
    endpoint_class: Any = Endpoint
    with (
        _patch_calls(BaseClient),
        _patch_calls(JsonClient),
        patch.object(
            endpoint_class, "_do_get_response", _answer(aws, endpoint_class._do_get_response)
        ),
        patch.object(Session, "create_client", _reuse_clients(Session.create_client)),
    ):
        yield


def _patch_calls(client_class: Any) -> Any:
    real = client_class._make_api_call
    return patch.object(client_class, "_make_api_call", answer_leanly(real))


def refill_retry_quotas() -> None:
    """Let every client retry again, as a new one may: clients outlive the stack that used them."""
    _clients_with_full_quota.clear()


def _refill_on_first_call(client: Any) -> None:
    """Refill the client's quota, also of one that was created before this hook was installed."""
    if client in _clients_with_full_quota:
        return
    _clients_with_full_quota.add(client)
    event = f"needs-retry.{client.meta.service_model.service_id.hyphenize()}"
    for handler in client.meta.events._emitter._handlers.prefix_search(event):
        checker = getattr(getattr(handler, "__self__", None), "_retry_quota", None)
        if checker is not None:
            checker._quota._available_capacity = checker._quota._max_capacity


def _answer(aws: LeanAws, real: Callable[..., Any]) -> Callable[..., Any]:
    def get_response(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        service = operation.service_model.service_name
        if service not in SERVICES:
            return real(endpoint, request, operation, context)
        try:
            parsed = aws.call(service, operation.name, _parse(service, request.body))
            status = 200
        except AwsError as error:
            parsed, status = _to_error(error), error.status
        parsed["ResponseMetadata"] = {"HTTPStatusCode": status, "HTTPHeaders": {}}
        return (LeanResponse(status), parsed), None

    return get_response


def _parse(service: str, body: bytes) -> Any:
    has_binary = service == "dynamodb" and b'"B' in body
    return json.loads(body.decode(), object_hook=decode_binary if has_binary else None)


def _to_error(error: AwsError) -> dict[str, Any]:
    return {"Error": {"Code": error.code, "Message": error.message}, **error.fields}


def answer_leanly(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a replacement of a client's `_make_api_call`."""

    def make_api_call(client: Any, operation_name: str, params: dict[str, Any]) -> Any:
        service_model = client.meta.service_model
        if service_model.service_name not in SERVICES:
            return real(client, operation_name, params)
        _refill_on_first_call(client)
        operation = service_model.operation_model(operation_name)
        context: dict[str, Any] = {"client_config": client.meta.config, "retries": {}}
        if operation.idempotent_members or _is_stubbed(client):  # botocore adds a token
            _emit(client, "before-parameter-build", operation, params=params, context=context)
        body = _encode(params).encode()
        response, parsed = _send(client, operation, body, context)
        if response.status_code >= _ERROR_STATUS:
            error_class = client.exceptions.from_code(parsed["Error"]["Code"])
            raise error_class(parsed, operation_name)
        return parsed

    return make_api_call


def _send(
    client: Any, operation: Any, body: bytes, context: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Send the request, and again for as long as botocore's retry handler wants."""
    request = LeanRequest(client.meta.endpoint_url, body)
    request_dict = {"context": context, "body": body, "url": request.url, "headers": {}}
    if _is_stubbed(client):
        stubbed: tuple[Any, dict[str, Any]] = _emit(
            client, "before-call", operation, params=request_dict, context=context
        )
        return stubbed
    attempts = 1
    answer, error = client._endpoint._do_get_response(request, operation, context)
    while (error is not None or answer[0].status_code >= _ERROR_STATUS) and (
        client._endpoint._needs_retry(attempts, operation, request_dict, answer, error)
    ):
        attempts += 1
        answer, error = client._endpoint._do_get_response(request, operation, context)
    if error is not None:
        raise error
    response, parsed = answer
    parsed.setdefault("ResponseMetadata", {})["RetryAttempts"] = attempts - 1
    if attempts > 1:  # returns the capacity that the retries took
        _emit(
            client, "after-call", operation, http_response=response, parsed=parsed, context=context
        )
    return response, parsed


def _is_stubbed(client: Any) -> bool:
    """Return whether botocore's Stubber is active. Its other handlers only add headers."""
    return _STUBBER_ID in client.meta.events._emitter._unique_id_handlers


def _emit(client: Any, event: str, operation: Any, **arguments: Any) -> Any:
    service_id = client.meta.service_model.service_id.hyphenize()
    _handler, response = client.meta.events.emit_until_response(
        f"{event}.{service_id}.{operation.name}",
        model=operation,
        request_signer=client._request_signer,
        **arguments,
    )
    return response


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.timestamp()
    if isinstance(value, bytes):
        return b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is not supported in a request")


_encode = json.JSONEncoder(default=_to_json).encode


def _reuse_clients(real: Callable[..., Any]) -> Callable[..., Any]:
    """Reuse clients with the same settings. Creating one is slower than a hundred calls."""

    def create_client(session: Any, service_name: str, *args: Any, **settings: Any) -> Any:
        if service_name not in SERVICES:
            return real(session, service_name, *args, **settings)
        config = settings.get("config")
        options = None if config is None else config._user_provided_options
        # Each container of a simulation has a class of sessions, and so clients, of its own.
        known = (type(session), service_name, repr(args), repr({**settings, "config": options}))
        if known not in _clients:
            _clients[known] = real(session, service_name, *args, **settings)
        return _clients[known]

    return create_client
