"""One WebSocket connection of the local stack.

The accepting thread reads, another one writes. `send` never blocks: messages are queued up to a
limit, and then the connection is aborted.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType

from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.server import ServerProtocol

MAX_MESSAGE_BYTES = 128 * 1024  # API Gateway's limit
MAX_FRAME_BYTES = 32 * 1024
IDLE_TIMEOUT = 10 * 60.0  # seconds on the real clock, since the local one may jump
MAX_LIFETIME = 2 * 60 * 60.0
MAX_QUEUED_MESSAGES = 1_000
MAX_QUEUED_BYTES = 4 * 1024 * 1024
SEND_TIMEOUT = 10.0  # seconds
CLOSE_TIMEOUT = 2.0  # seconds for the peer to close, too
POLL_INTERVAL = 0.5  # seconds between two checks whether it is closed
CHUNK_SIZE = 64 * 1024
_DATA_OPCODES = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class WebSocketClosedError(Exception):
    """The connection is closed; nothing can be sent."""


class WebSocket:
    def __init__(self, sock: socket.socket) -> None:
        self._in = sock
        self._out = sock.dup()  # a separate object, for a separate timeout
        self._in.settimeout(POLL_INTERVAL)
        self._out.settimeout(SEND_TIMEOUT)
        self._protocol = ServerProtocol(
            state=State.OPEN, max_size=(MAX_MESSAGE_BYTES, MAX_FRAME_BYTES)
        )
        self._condition = threading.Condition()
        self._outgoing: list[bytes] = []
        self._fragments: list[bytes] = []
        self._is_text = True
        self._is_closed = False
        self._opened_at = self._last_used_at = time.monotonic()
        self._close_deadline: float | None = None
        self._writer = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.abort()
        if self._writer.ident is not None:
            self._writer.join()
        self._out.close()

    def send_handshake(self, response: Response) -> None:
        """Send the handshake's response. Messages queued so far follow it."""
        self._out.sendall(response.serialize())
        if response.status_code == 101:
            self._writer.start()

    def send(self, text: str) -> None:
        """Queue a text message, without blocking. Raises WebSocketClosedError."""
        with self._condition:
            if self._is_closed or self._protocol.state is not State.OPEN:
                raise WebSocketClosedError
            self._protocol.send_text(text.encode())
            self._queue_outgoing()
            if not self._is_overloaded():
                return
        self.abort()
        raise WebSocketClosedError

    def close(self, code: CloseCode = CloseCode.NORMAL_CLOSURE, reason: str = "") -> None:
        """Send a close frame and give the peer a moment to answer it."""
        with self._condition:
            if not self._is_closed and self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
                self._queue_outgoing()

    def abort(self) -> None:
        """Close the connection at once."""
        with self._condition:
            self._is_closed = True
            self._outgoing.clear()
            self._condition.notify_all()
        with suppress(OSError):  # the peer closed it first
            self._in.shutdown(socket.SHUT_RDWR)

    # --- reading ------------------------------------------------------------------------------

    def messages(self, initial_data: bytes = b"") -> Iterator[str | bytes]:
        """Yield the peer's messages until either side closes. `initial_data` was read before."""
        data = initial_data or self._receive()
        while data:
            for frame in self._frames(data):
                yield from self._assemble_message(frame)
            data = self._receive()

    def _receive(self) -> bytes:
        while not self._is_finished():
            try:
                return self._in.recv(CHUNK_SIZE)
            except TimeoutError:
                continue
            except OSError:
                break
        return b""

    def _is_finished(self) -> bool:
        now = time.monotonic()
        if now - self._last_used_at > IDLE_TIMEOUT or now - self._opened_at > MAX_LIFETIME:
            self.close(CloseCode.GOING_AWAY)
        return self._is_closed or (self._close_deadline is not None and now > self._close_deadline)

    def _frames(self, data: bytes) -> list[Frame]:
        with self._condition:
            self._protocol.receive_data(data)
            frames = [one for one in self._protocol.events_received() if isinstance(one, Frame)]
            self._queue_outgoing()
        return [frame for frame in frames if frame.opcode in _DATA_OPCODES]

    def _assemble_message(self, frame: Frame) -> Iterator[str | bytes]:
        """Yield the message if this is its last frame."""
        if frame.opcode is not Opcode.CONT:
            self._fragments, self._is_text = [], frame.opcode is Opcode.TEXT
        self._fragments.append(bytes(frame.data))
        if not frame.fin:
            return
        message = b"".join(self._fragments)
        try:
            content = message.decode() if self._is_text else message
        except UnicodeDecodeError:
            self.close(CloseCode.INVALID_DATA)
        else:
            yield content

    # --- writing ------------------------------------------------------------------------------

    def _queue_outgoing(self) -> None:
        """Queue what the protocol has to send. The caller holds the lock."""
        self._outgoing += self._protocol.data_to_send()
        self._last_used_at = time.monotonic()
        if self._protocol.close_expected() and self._close_deadline is None:
            self._close_deadline = self._last_used_at + CLOSE_TIMEOUT
        self._condition.notify_all()

    def _is_overloaded(self) -> bool:
        too_many = len(self._outgoing) > MAX_QUEUED_MESSAGES
        return too_many or sum(map(len, self._outgoing)) > MAX_QUEUED_BYTES

    def _write(self) -> None:
        while waiting := self._take_outgoing():
            try:
                self._out.sendall(b"".join(waiting))
                if not waiting[-1]:  # the protocol marks the end of the stream by an empty chunk
                    self._out.shutdown(socket.SHUT_WR)
            except OSError:
                self.abort()

    def _take_outgoing(self) -> list[bytes]:
        """Return the queued data; nothing if the connection is closed."""
        with self._condition:
            self._condition.wait_for(lambda: self._outgoing or self._is_closed)
            waiting, self._outgoing = self._outgoing, []
            return waiting
