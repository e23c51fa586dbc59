"""Call moto's handlers of DynamoDB without making the call look like HTTP.

botocore still checks and serialises the request and decides about retries. A call that fails
is sent again the long way, so that an error is moto's own; it had no effect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint
from botocore.signers import RequestSigner
from botocore.useragent import UserAgentString
from moto.dynamodb.responses import DynamoHandler

from local.runtime.template import ACCOUNT, REGION

_HANDLERS: dict[str, Callable[[DynamoHandler], Any]] = {
    "BatchGetItem": DynamoHandler.batch_get_item,
    "DeleteItem": DynamoHandler.delete_item,
    "GetItem": DynamoHandler.get_item,
    "PutItem": DynamoHandler.put_item,
    "Query": DynamoHandler.query,
    "TransactWriteItems": DynamoHandler.transact_write_items,
    "UpdateItem": DynamoHandler.update_item,
}
_BINARY_MARKS = (b'"B":', b'"BS":')  # moto decodes them on the way


@contextmanager
def install_direct_calls() -> Iterator[None]:
    endpoint_class: Any = Endpoint  # a private method, missing in the type stubs
    real = endpoint_class._do_get_response

    def get_response(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        result = _call_directly(operation, request.body)
        if result is None:
            return real(endpoint, request, operation, context)
        return _to_response(request.url, result)

    with (
        patch.object(endpoint_class, "_do_get_response", get_response),
        patch.object(RequestSigner, "handler", _sign_unless_dynamodb(RequestSigner.handler)),
        patch.object(UserAgentString, "to_string", lambda _: "duecourse"),
    ):
        yield


def _sign_unless_dynamodb(real: Callable[..., Any]) -> Callable[..., Any]:
    def handler(signer: Any, *args: Any, **more: Any) -> Any:
        return None if signer._service_id == "DynamoDB" else real(signer, *args, **more)

    return handler


def _call_directly(operation: Any, body: bytes) -> dict[str, Any] | None:
    """Return the response, or None if the call has to go the long way."""
    if operation.service_model.service_name != "dynamodb" or operation.name not in _HANDLERS:
        return None
    if any(mark in body for mark in _BINARY_MARKS):
        return None
    try:
        return call_dynamodb(operation.name, json.loads(body))
    except Exception:  # noqa: BLE001 - whatever it is, it is raised again and becomes a response
        return None


def call_dynamodb(operation: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return DynamoDB's response."""
    handler = DynamoHandler()
    handler.body, handler.region, handler.current_account = request, REGION, ACCOUNT
    response: dict[str, Any] = _HANDLERS[operation](handler).result
    return response


def _to_response(url: str, result: dict[str, Any]) -> Any:
    """Return what botocore's endpoint makes of a successful response."""
    parsed = {name: value for name, value in result.items() if value is not None}
    parsed["ResponseMetadata"] = {"HTTPStatusCode": 200, "HTTPHeaders": {}}
    return (AWSResponse(url, 200, HTTPHeaders(), _EmptyBody()), parsed), None


class _EmptyBody:
    def stream(self, **_: Any) -> Iterator[bytes]:
        return iter(())
