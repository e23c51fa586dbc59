"""Simulated transaction conflicts, which moto never reports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.endpoint import Endpoint


@contextmanager
def simulate_conflicts(times: int, *, code: str = "TransactionConflict") -> Iterator[None]:
    """Answer the next `times` transactions with a conflict, as DynamoDB would."""
    endpoint_class: Any = Endpoint
    real = endpoint_class._do_get_response
    remaining = iter(range(times))

    def get_response(endpoint: Any, request: Any, operation: Any, context: Any) -> Any:
        if operation.name != "TransactWriteItems" or next(remaining, None) is None:
            return real(endpoint, request, operation, context)
        reasons = [{"Code": "None"}, {"Code": code, "Message": "at the same moment"}]
        parsed = {
            "Error": {"Code": "TransactionCanceledException", "Message": "cancelled"},
            "CancellationReasons": reasons,
            "ResponseMetadata": {"HTTPStatusCode": 400, "HTTPHeaders": {}},
        }
        no_body = SimpleNamespace(stream=lambda **_: iter(()))
        return (AWSResponse(request.url, 400, HTTPHeaders(), no_body), parsed), None

    endpoint_class._do_get_response = get_response
    try:
        yield
    finally:
        endpoint_class._do_get_response = real
