"""A minimal server that plays AWS on loopback: it answers what a recording answered.

Run as `python -m bench.loopback FILE`; it prints its port. `GET /invocation/N` selects the
invocation whose answers come next and returns how many calls the last one made.
"""

from __future__ import annotations

import json
import socketserver
import sys
import threading
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

Answer = tuple[int, bytes]
_UPDATED = (200, b"{}")


def answer_key(target: str, body: dict[str, Any]) -> str:
    """Return what identifies a call: the operation, the table or index, and the key of the item."""
    place = body.get("IndexName") or body.get("TableName") or ""
    item = body.get("Item") or {}
    return f"{target} {place} {json.dumps(body.get('Key') or item.get('id') or '', sort_keys=True)}"


class Answers:
    """The answers of one invocation, by call. A call that is repeated gets the next answer.

    A call that the recording made in another invocation, such as a cached read, is answered from
    there.
    """

    def __init__(self, invocations: list[dict[str, Any]]) -> None:
        self._recorded = [_group(one["answers"]) for one in invocations]
        self._all = _group([answer for one in invocations for answer in one["answers"]])
        self._lock = threading.Lock()
        self._current: dict[str, deque[Answer]] = {}
        self._calls = 0

    def select(self, number: int) -> int:
        """Start invocation `number` and return the number of calls since the last start."""
        with self._lock:
            calls, self._calls = self._calls, 0
            self._current = {key: deque(found) for key, found in self._recorded[number].items()}
            return calls

    def find(self, target: str, body: bytes) -> Answer:
        if target.endswith(".UpdateItem") and b'"benchmark"' in body:
            return _UPDATED  # the call that everything is compared with
        key = answer_key(target, json.loads(body))
        with self._lock:
            self._calls += 1
            if found := self._current.get(key):
                return found.popleft() if len(found) > 1 else found[0]
            found = self._all.get(key) or self._all.get(_without_item(key))
            return found[0] if found else (404, b'{"__type": "aws#NotRecorded"}')


def _group(answers: list[tuple[str, int, str]]) -> dict[str, deque[Answer]]:
    grouped: dict[str, deque[Answer]] = defaultdict(deque)
    for key, status, body in answers:
        for name in {key, _without_item(key)}:
            grouped[name].append((status, body.encode()))
    return grouped


def _without_item(key: str) -> str:
    return " ".join(key.split(" ", 2)[:2])


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Answer the requests of one connection. HTTP is parsed as far as botocore uses it."""
        while line := self.rfile.readline():
            headers = self._read_headers()
            body = self.rfile.read(int(headers.get("content-length", 0)))
            status, reply = self._answer(line.decode(), headers, body)
            head = (
                f"HTTP/1.1 {status} X\r\nContent-Type: application/x-amz-json-1.0\r\n"
                f"Content-Length: {len(reply)}\r\n\r\n"
            )
            self.wfile.write(head.encode() + reply)

    def _answer(self, line: str, headers: dict[str, str], body: bytes) -> Answer:
        answers: Answers = self.server.answers  # type: ignore[attr-defined]
        method, path, _ = line.split(" ", 2)
        if method == "GET":
            return 200, str(answers.select(int(path.rpartition("/")[2]))).encode()
        return answers.find(headers["x-amz-target"], body)

    def _read_headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        while (line := self.rfile.readline().strip()) != b"":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return headers


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        super().__init__(("127.0.0.1", 0), Handler)


def main() -> None:
    recording = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with Server(Answers(recording["invocations"])) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
