"""A server on the loopback that speaks the Query protocol of AWS: an action in, XML out.

moto emulates CloudFormation only with packages that nothing else here needs, and no subprocess can
reach moto at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs
from xml.sax.saxutils import escape

ACCOUNT = "123456789012"
CALLER = {"Arn": f"arn:aws:iam::{ACCOUNT}:user/ada", "UserId": "AIDA", "Account": ACCOUNT}


@dataclass
class QueryApi:
    """`results` are by action. An action without one is refused with `error`, code and message."""

    url: str = ""
    results: dict[str, Any] = field(default_factory=dict)
    error: tuple[str, str] = ("InvalidAction", "no such action")
    actions: list[str] = field(default_factory=list)

    def respond(self, body: str) -> tuple[int, str]:
        action = parse_qs(body).get("Action", ["?"])[0]
        self.actions.append(action)
        if action not in self.results:
            code, message = self.error
            fault = f"<Code>{code}</Code><Message>{message}</Message>"
            return 400, f"<ErrorResponse><Error>{fault}</Error></ErrorResponse>"
        result = f"<{action}Result>{_to_xml(self.results[action])}</{action}Result>"
        return 200, f"<{action}Response>{result}</{action}Response>"

    def set_stack(
        self,
        outputs: Mapping[str, str],
        resources: Mapping[str, tuple[str, str]],
        *,
        parameters: Mapping[str, str] | None = None,
        status: str = "CREATE_COMPLETE",
        created_at: datetime,
    ) -> None:
        """Describe one stack. `resources` are type and physical id, by their logical ids."""
        stack = {
            "StackName": "duecourse",
            "CreationTime": created_at.isoformat(),
            "StackStatus": status,
            "Outputs": [{"OutputKey": k, "OutputValue": v} for k, v in outputs.items()],
            "Parameters": [
                {"ParameterKey": k, "ParameterValue": v} for k, v in (parameters or {}).items()
            ],
        }
        self.results["DescribeStacks"] = {"Stacks": [stack]}
        self.results["ListStackResources"] = {
            "StackResourceSummaries": [
                {"LogicalResourceId": name, "ResourceType": kind, "PhysicalResourceId": physical}
                for name, (kind, physical) in resources.items()
            ]
        }


def _to_xml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "".join(f"<{name}>{_to_xml(one)}</{name}>" for name, one in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "".join(f"<member>{_to_xml(one)}</member>" for one in value)
    return escape(str(value))


@contextmanager
def serve_query_api() -> Iterator[QueryApi]:
    api = QueryApi()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            status, text = api.respond(self.rfile.read(length).decode())
            self.send_response(status)
            self.send_header("content-type", "text/xml")
            self.send_header("content-length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
