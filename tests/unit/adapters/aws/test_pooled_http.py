"""Requests on a connection that is already open: the same answers and errors as botocore's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import pytest
from botocore.awsrequest import AWSPreparedRequest, HeadersDict
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError
from botocore.httpsession import URLLib3Session
from duecourse.adapters.aws.pooled_http import JsonRequest, PooledHttpSession

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
EMPTY = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Amzn-RequestId: 7\r\n\r\nok"
ERROR = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 4\r\n\r\noops"
CLOSING = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
TRUNCATED = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"
NOT_HTTP = b"nonsense\r\n\r\n"
TIMEOUTS: Any = (1, 0.2)  # to connect and to read, in seconds
HEADERS = {"X-Amz-Target": "T", "User-Agent": "u", "Content-Length": "7"}


class KeepAliveServer:
    """Answers each request with the next of `answers`, on connections that stay open.

    It closes the connection after an answer of None, and stops answering after an empty one.
    """

    def __init__(self) -> None:
        self.answers: list[bytes | None] = []
        self.requests: list[tuple[int, str, dict[str, str], bytes]] = []
        self._stopped = Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.client_address[1], self.path, dict(self.headers), body))
                answer = outer.answers.pop(0)
                if answer == b"":
                    outer._stopped.wait(5)
                self.wfile.write(answer or b"")
                self.close_connection = answer in (None, b"", TRUNCATED, NOT_HTTP)

            def log_message(self, *_arguments: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> KeepAliveServer:
        self._thread = Thread(target=self._server.serve_forever, args=[0.01], daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._thread.join(5)
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[KeepAliveServer]:
    with KeepAliveServer() as found:
        yield found


@pytest.fixture
def session() -> Iterator[PooledHttpSession]:
    found = PooledHttpSession(timeout=TIMEOUTS)
    yield found
    found.close()


def json_request(url: str) -> Any:
    headers: Any = dict(HEADERS)
    return JsonRequest("POST", url, headers, b'{"a":1}', False)


def usual_request(url: str) -> Any:
    headers: Any = HeadersDict(HEADERS)
    return AWSPreparedRequest("POST", url, headers, b'{"a":1}', False)


def send_all(session: Any, server: KeepAliveServer, answers: Sequence[bytes | None]) -> list[Any]:
    """Return status and body, or the kind of error, of one request for each of `answers`."""
    server.answers = [*answers]
    is_ours = isinstance(session, PooledHttpSession)
    results: list[Any] = []
    for _ in answers:
        request = json_request(server.url) if is_ours else usual_request(server.url)
        try:
            response = session.send(request)
            results.append((response.status_code, response.content))
        except (ConnectionClosedError, ReadTimeoutError) as error:
            results.append(type(error))
    return results


@pytest.mark.parametrize(
    "answers",
    [
        (PLAIN, PLAIN, EMPTY, PLAIN),
        (PLAIN, ERROR, CHUNKED, PLAIN),
        (PLAIN, CLOSING, PLAIN, PLAIN),
        (PLAIN, None, PLAIN),
        (PLAIN, NOT_HTTP, PLAIN),
        (PLAIN, b"", PLAIN),
    ],
)
def test_it_answers_as_botocore_does(
    server: KeepAliveServer, session: PooledHttpSession, answers: Sequence[bytes | None]
) -> None:
    results = send_all(session, server, answers)
    expected = send_all(URLLib3Session(timeout=TIMEOUTS), server, answers)

    assert results == expected
    ours, botocores = server.requests[: len(answers)], server.requests[len(answers) :]
    assert [request[1:] for request in ours] == [request[1:] for request in botocores]
    assert _connection_numbers(ours) == _connection_numbers(botocores)


def _connection_numbers(requests: Sequence[tuple[Any, ...]]) -> list[int]:
    ports = [request[0] for request in requests]
    return [list(dict.fromkeys(ports)).index(port) for port in ports]


def test_a_truncated_answer_is_an_error(
    server: KeepAliveServer, session: PooledHttpSession
) -> None:
    """botocore returns the half of it, which is no JSON."""
    results = send_all(session, server, [PLAIN, TRUNCATED, PLAIN])

    assert results == [(200, b"ok"), ConnectionClosedError, (200, b"ok")]


def test_an_interrupted_exchange_closes_the_connection(
    server: KeepAliveServer, session: PooledHttpSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    send_all(session, server, [PLAIN])
    server.answers = [PLAIN, PLAIN]
    with monkeypatch.context() as patch:
        patch.setattr("duecourse.adapters.aws.http_exchange._read_head", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.send(json_request(server.url))

    assert session.send(json_request(server.url)).content == b"ok"
    assert len({request[0] for request in server.requests}) == 2


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_headers_are_found_in_any_case(server: KeepAliveServer, session: PooledHttpSession) -> None:
    server.answers = [PLAIN, PLAIN]
    responses = [session.send(json_request(server.url)) for _ in range(2)]

    assert [one.headers.get("x-amzn-requestid") for one in responses] == ["7", "7"]


def test_with_a_proxy_botocore_sends_it(server: KeepAliveServer) -> None:
    session = PooledHttpSession(proxies={"http": server.url})
    server.answers = [PLAIN, PLAIN]
    for _ in range(2):
        session.send(json_request("http://dynamodb.test/"))

    assert [request[1] for request in server.requests] == ["http://dynamodb.test/"] * 2
