"""The part of botocore's Lambda client that the product uses, with a function of the world."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from local.simulate.outside_work import OutsideWork

_INVOKE = SimpleNamespace(
    name="Invoke", service_model=SimpleNamespace(service_name="lambda", protocol="rest-json")
)
_ERROR_STATUS = 300


@dataclass(frozen=True)
class LambdaClient:
    """`calls` is the container's interceptor: an invocation is an AWS call that faults can hit."""

    work: OutsideWork
    calls: Any

    def invoke(self, *, FunctionName: str, Payload: bytes, **_options: Any) -> dict[str, Any]:  # noqa: N803 - as botocore names them
        request = SimpleNamespace(url=f"https://lambda.example/{FunctionName}", body=Payload)
        answer, error = self.calls._intercept_aws_call(
            lambda: self._answer(FunctionName, Payload), request, _INVOKE
        )
        if error is not None:
            raise error
        response, parsed = answer
        if response.status_code >= _ERROR_STATUS:
            raise ClientError(parsed, _INVOKE.name)
        return dict(parsed)

    def _answer(self, function: str, payload: bytes) -> Any:
        content, error = self.work.invoke(function, payload)
        parsed = {"StatusCode": 200, "Payload": BytesIO(content)}
        failed = {"FunctionError": error} if error else {}
        return (SimpleNamespace(status_code=200), {**parsed, **failed}), None
