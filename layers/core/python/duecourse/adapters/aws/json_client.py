"""Calls of botocore clients at about half of their usual CPU time.

botocore builds every request from the service's model: it validates and converts the parameters,
resolves the endpoint, builds the user agent twice and emits a dozen events. For the operations
listed here, all that is the same for every request, so it is done once per client. Retries, errors,
hooks (`before-send`), connections and their timeouts stay botocore's own.
"""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from botocore.handlers import add_recursion_detection_header
from botocore.parsers import ResponseParserFactory

from duecourse.adapters.aws.pooled_http import JsonRequest, PooledHttpSession
from duecourse.adapters.aws.request_signature import SignedRequest, sign

if TYPE_CHECKING:
    from collections.abc import Mapping

# tests/unit/adapters/aws/test_json_client.py checks for each that its JSON has the same names and
# values as its parameters, and that botocore adds nothing to it.
OPERATIONS: Mapping[str, frozenset[str]] = {
    "dynamodb": frozenset(
        {
            "BatchGetItem",
            "BatchWriteItem",
            "DeleteItem",
            "GetItem",
            "PutItem",
            "Query",
            "UpdateItem",
        }
    ),
    "events": frozenset({"ListRules", "PutEvents"}),
    "sqs": frozenset({"ChangeMessageVisibility", "SendMessage", "SendMessageBatch"}),
}
_ERROR_STATUS = 300
_SIGNATURE_VERSION = "v4"
_BLOB = b'"B'  # begins the name of a binary attribute of DynamoDB, "B" or "BS"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What all requests of an operation have in common."""

    operation: Any
    event: str
    template: SignedRequest


class JsonClient:
    """Mixin for a botocore client. Operations that are not listed take botocore's usual way."""

    def _make_api_call(self: Any, operation_name: str, api_params: dict[str, Any]) -> Any:
        plan = self._plans.get(operation_name) or self._make_plan(operation_name, api_params)
        credentials = self._request_signer._credentials
        if plan is None or credentials is None:
            usual: Any = super()  # a private method, missing in the type stubs
            return usual._make_api_call(operation_name, api_params)
        body = _encode_json(api_params).encode()
        context: dict[str, Any] = {"client_config": self.meta.config, "retries": {}}
        response, parsed = self._send(plan, body, credentials, context)
        self.meta.events.emit(
            plan.event,
            http_response=response,
            parsed=parsed,
            model=plan.operation,
            context=context,
        )
        if response.status_code < _ERROR_STATUS:
            return parsed
        code = context.get("error_code_override") or parsed.get("Error", {}).get("Code")
        raise self.exceptions.from_code(code)(parsed, operation_name)

    def _send(
        self: Any, plan: _Plan, body: bytes, credentials: Any, context: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Send the request, and again for as long as botocore's retry handler wants."""
        endpoint, operation, attempts = self._endpoint, plan.operation, 0
        while True:
            attempts += 1
            request = _prepare(plan.template, body, credentials, context)
            answer, error = endpoint._do_get_response(request, operation, context)
            if error is None and answer[0].status_code < _ERROR_STATUS:
                break
            arguments = {"context": context, "url": request.url, "headers": request.headers}
            if not endpoint._needs_retry(attempts, operation, arguments, answer, error):
                break
        if error is not None:
            raise error
        response, parsed = answer
        parsed["ResponseMetadata"]["RetryAttempts"] = attempts - 1
        return response, parsed

    def _make_plan(self: Any, operation_name: str, api_params: dict[str, Any]) -> _Plan | None:
        """Return what botocore itself makes of the first request, without its body."""
        if operation_name not in OPERATIONS[self.meta.service_model.service_name]:
            return None
        operation = self.meta.service_model.operation_model(operation_name)
        context = {"client_region": self.meta.region_name, "client_config": self.meta.config}
        url, headers, _ = self._resolve_endpoint_ruleset(operation, api_params, context)
        request = self._convert_to_request_dict(
            api_params=api_params,
            operation_model=operation,
            endpoint_url=url,
            context=context,
            headers=headers,
        )
        signer, signing = self._request_signer, context.get("signing", {})
        has_path = urlsplit(request["url"]).path not in ("", "/")
        if has_path or (context.get("auth_type") or signer.signature_version) != _SIGNATURE_VERSION:
            return None
        template = SignedRequest(
            url=request["url"],
            headers=dict(request["headers"]),
            region=signing.get("region", signer.region_name),
            service=signing.get("signing_name", signer.signing_name),
        )
        service_id = self.meta.service_model.service_id.hyphenize()
        plan = _Plan(operation, f"after-call.{service_id}.{operation_name}", template)
        self._plans[operation_name] = plan
        return plan


def use_json_calls(client: Any) -> Any:
    """Return `client`, of a service in OPERATIONS, with cheaper calls from now on."""
    if not isinstance(client, JsonClient):
        client_class: Any = type(client)
        client.__class__ = _class_with_json_calls(client_class)
        client._plans = {}
        client._endpoint._response_parser_factory = JsonParsers()
        client._endpoint.http_session.__class__ = PooledHttpSession
    return client


@cache
def _class_with_json_calls(client_class: Any) -> Any:
    return type("JsonClient", (JsonClient, client_class), {})


class JsonParsers(ResponseParserFactory):
    def create_parser(self, protocol_name: str) -> Any:
        return _JsonParser(super().create_parser(protocol_name))


class _JsonParser:
    """Parses what needs no conversion: anything but errors and binary attributes.

    Nobody reads the headers of a response, so its metadata does not have them.
    """

    def __init__(self, botocore_parser: Any) -> None:
        self._botocore_parser = botocore_parser

    def parse(self, response: dict[str, Any], shape: Any) -> Any:
        status, body = response["status_code"], response["body"]
        if status >= _ERROR_STATUS or _BLOB in body:
            return self._botocore_parser.parse(response, shape)
        parsed = json.loads(body) if body else {}
        metadata = parsed["ResponseMetadata"] = {"HTTPStatusCode": status}
        if request_id := response["headers"].get("x-amzn-requestid"):
            metadata["RequestId"] = request_id
        return parsed


def _prepare(
    template: SignedRequest, body: bytes, credentials: Any, context: dict[str, Any]
) -> JsonRequest:
    headers: Any = sign(template, body, credentials.get_frozen_credentials())
    add_recursion_detection_header({"headers": headers})
    return JsonRequest("POST", template.url, headers, body, False, context)


def _encode(value: Any) -> Any:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, datetime):
        return round(value.timestamp(), 3)
    raise TypeError(f"{type(value).__name__} is not supported in a request")


_encode_json = json.JSONEncoder(default=_encode, separators=(",", ":")).encode
