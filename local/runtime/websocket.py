"""One WebSocket of the local stack: messages on one side, a socket on the other.

A thread reads, the one that accepted the socket, and a thread writes. Whoever sends never waits:
what a client does not read piles up to a limit, and then the client is cut off.
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

LARGEST_MESSAGE = 128 * 1024  # as API Gateway takes them
LARGEST_FRAME = 32 * 1024
IDLE = 10 * 60.0  # seconds, on the real clock: the local one may jump
LIFETIME = 2 * 60 * 60.0
MOST_WAITING = 1_000  # messages
MOST_WAITING_BYTES = 4 * 1024 * 1024
LONGEST_SENDING = 10.0  # seconds
LAST_WORDS = 2.0  # seconds that the other side has to end it, too
TICK = 0.5  # seconds between two looks whether it is over
CHUNK = 64 * 1024
_DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)


class WebSocketOverError(Exception):
    """Nothing can be sent there any more."""


class WebSocket:
    def __init__(self, sock: socket.socket) -> None:
        self._in = sock
        self._out = sock.dup()  # with a time-out of its own
        self._in.settimeout(TICK)
        self._out.settimeout(LONGEST_SENDING)
        self._protocol = ServerProtocol(state=State.OPEN, max_size=(LARGEST_MESSAGE, LARGEST_FRAME))
        self._changed = threading.Condition()
        self._waiting: list[bytes] = []
        self._fragments: list[bytes] = []
        self._is_text = True
        self._is_over = False
        self._began = self._last_used = time.monotonic()
        self._ends_at: float | None = None
        self._writer = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> WebSocket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cut()
        if self._writer.ident is not None:
            self._writer.join()
        self._out.close()

    def shake_hands(self, response: Response) -> None:
        """Answer the request that began it. What was sent until now follows."""
        self._out.sendall(response.serialize())
        if response.status_code == 101:
            self._writer.start()

    def send(self, text: str) -> None:
        """Raises WebSocketOverError. Never waits."""
        with self._changed:
            if self._is_over or self._protocol.state is not State.OPEN:
                raise WebSocketOverError
            self._protocol.send_text(text.encode())
            self._hand_over()
            if not self._is_too_much():
                return
        self.cut()
        raise WebSocketOverError

    def end(self, code: CloseCode = CloseCode.NORMAL_CLOSURE, reason: str = "") -> None:
        """Say so to the other side, and wait for a moment that it does likewise."""
        with self._changed:
            if not self._is_over and self._protocol.state is State.OPEN:
                self._protocol.send_close(code, reason)
                self._hand_over()

    def cut(self) -> None:
        """End it at once, whatever the other side does."""
        with self._changed:
            self._is_over = True
            self._waiting.clear()
            self._changed.notify_all()
        with suppress(OSError):  # the other side was faster
            self._in.shutdown(socket.SHUT_RDWR)

    # --- reading ------------------------------------------------------------------------------

    def messages(self, first: bytes = b"") -> Iterator[str | bytes]:
        """What the other side says, until either ends it. `first` was read already."""
        data = first or self._received()
        while data:
            for frame in self._frames(data):
                yield from self._whole(frame)
            data = self._received()

    def _received(self) -> bytes:
        while not self._has_ended():
            try:
                return self._in.recv(CHUNK)
            except TimeoutError:
                continue
            except OSError:
                break
        return b""

    def _has_ended(self) -> bool:
        now = time.monotonic()
        if now - self._last_used > IDLE or now - self._began > LIFETIME:
            self.end(CloseCode.GOING_AWAY)
        return self._is_over or (self._ends_at is not None and now > self._ends_at)

    def _frames(self, data: bytes) -> list[Frame]:
        with self._changed:
            self._protocol.receive_data(data)
            frames = [one for one in self._protocol.events_received() if isinstance(one, Frame)]
            self._hand_over()
        return [frame for frame in frames if frame.opcode in _DATA]

    def _whole(self, frame: Frame) -> Iterator[str | bytes]:
        """A message that comes in several frames is told when the last has come."""
        if frame.opcode is not Opcode.CONT:
            self._fragments, self._is_text = [], frame.opcode is Opcode.TEXT
        self._fragments.append(bytes(frame.data))
        if not frame.fin:
            return
        message = b"".join(self._fragments)
        try:
            told = message.decode() if self._is_text else message
        except UnicodeDecodeError:
            self.end(CloseCode.INVALID_DATA)
        else:
            yield told

    # --- writing ------------------------------------------------------------------------------

    def _hand_over(self) -> None:
        """What the protocol wants sent, to the writer. With the lock held."""
        self._waiting += self._protocol.data_to_send()
        self._last_used = time.monotonic()
        if self._protocol.close_expected() and self._ends_at is None:
            self._ends_at = self._last_used + LAST_WORDS
        self._changed.notify_all()

    def _is_too_much(self) -> bool:
        too_many = len(self._waiting) > MOST_WAITING
        return too_many or sum(map(len, self._waiting)) > MOST_WAITING_BYTES

    def _write(self) -> None:
        while waiting := self._next():
            try:
                self._out.sendall(b"".join(waiting))
                if not waiting[-1]:  # the protocol's word for: there is no more to come
                    self._out.shutdown(socket.SHUT_WR)
            except OSError:
                self.cut()

    def _next(self) -> list[bytes]:
        """Nothing where it is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_over)
            waiting, self._waiting = self._waiting, []
            return waiting
