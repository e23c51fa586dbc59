"""The server of AWS calls: on 127.0.0.1, or on an address of this machine that containers reach."""

from __future__ import annotations

from http.server import ThreadingHTTPServer

from local.runtime.aws_gateway import AwsGateway, error_response
from local.runtime.server import RequestHandler


class AwsServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, gateway: AwsGateway, host: str, port: int) -> None:
        self.gateway = gateway
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"


class _Handler(RequestHandler):
    def handle_request(self) -> None:
        self.handle_http(self.content_length())

    def refuse(self, status: int, detail: str) -> None:
        self.close_connection = True
        self.send(error_response(status, "ValidationException", detail))
