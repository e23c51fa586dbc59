"""Transcripts in the docs, replayed on a running stack.

`> text` is sent, `(label)` presses that button of the last message that has it, `+10m` moves the
clock, `! {...}` adds a fault. All other lines are received; buttons have their own line:
`[Done] [1 h]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.support.stack_client import StackClient

_BLOCK = re.compile(r"```transcript\n(.*?)```", re.DOTALL)
_PRESS = re.compile(r"\((.+)\)")
_ID = re.compile(r"\b(?=[0-9a-f]{0,7}[0-9])[0-9a-f]{8}\b")


def transcripts(page: str) -> list[str]:
    return [line for block in _BLOCK.findall(page) for line in block.splitlines() if line]


def is_input(line: str) -> bool:
    return line.startswith(("> ", "+", "! ")) or _PRESS.fullmatch(line) is not None


class Conversation:
    """Replays a page; replaces each new id of the stack with the page's next id."""

    def __init__(self, client: StackClient, page: Sequence[str]) -> None:
        self._client = client
        self._page_ids = list(dict.fromkeys(_ID.findall("\n".join(page))))
        self._page_id_by_real: dict[str, str] = {}
        self._seen_count = 0

    def replay(self, page: Sequence[str]) -> Iterator[str]:
        for line in page:
            if is_input(line):
                yield line
                self._perform(line)
                yield from self._new_lines()

    def _perform(self, line: str) -> None:
        if line.startswith("+"):
            self._client.advance(line[1:])
        elif line.startswith("!"):
            self._client.add_fault(**json.loads(line[1:]))
        elif press := _PRESS.fullmatch(line):
            self._client.say(self._button_command(press[1]), sender="ada")
        else:
            self._client.say(self._with_real_ids(line[2:]), sender="ada")

    def _button_command(self, label: str) -> str:
        messages = self._client.outbox("ada")
        buttons = [button for message in messages for button in message["buttons"]]
        return str([button["says"] for button in buttons if button["label"] == label][-1])

    def _new_lines(self) -> Iterator[str]:
        messages = self._client.outbox("ada")
        fresh, self._seen_count = messages[self._seen_count :], len(messages)
        for message in fresh:
            yield from map(self._with_page_ids, self._lines(message))

    def _lines(self, message: dict[str, Any]) -> Iterator[str]:
        yield from filter(None, str(message["text"]).splitlines())
        if message["buttons"]:
            yield " ".join(f"[{button['label']}]" for button in message["buttons"])

    def _with_page_ids(self, line: str) -> str:
        return _ID.sub(lambda match: self._page_id(match[0]), line)

    def _page_id(self, real: str) -> str:
        if real not in self._page_id_by_real and len(self._page_id_by_real) < len(self._page_ids):
            self._page_id_by_real[real] = self._page_ids[len(self._page_id_by_real)]
        return self._page_id_by_real.get(real, real)

    def _with_real_ids(self, line: str) -> str:
        real_ids = {page_id: real for real, page_id in self._page_id_by_real.items()}
        return _ID.sub(lambda match: real_ids.get(match[0], match[0]), line)
