"""A conversation as docs tell it, and as a running stack really holds it.

`> text` is typed, `(label)` presses that button of the last message that has it, `+10m` moves the
clock, `! {...}` arms a fault. All other lines are what arrives; buttons stand in a line of their
own: `[Done] [1 h]`.
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
    """Ids are chosen anew each time: each is told as the page tells the first, second, ... one."""

    def __init__(self, client: StackClient, page: Sequence[str]) -> None:
        self._client = client
        self._told = list(dict.fromkeys(_ID.findall("\n".join(page))))
        self._names: dict[str, str] = {}
        self._seen = 0

    def held(self, page: Sequence[str]) -> Iterator[str]:
        for line in page:
            if is_input(line):
                yield line
                self._say(line)
                yield from self._arrived()

    def _say(self, line: str) -> None:
        if line.startswith("+"):
            self._client.advance(line[1:])
        elif line.startswith("!"):
            self._client.fault(**json.loads(line[1:]))
        elif pressed := _PRESS.fullmatch(line):
            self._client.say(self._pressed(pressed[1]), sender="ada")
        else:
            self._client.say(self._real(line[2:]), sender="ada")

    def _pressed(self, label: str) -> str:
        shown = [button for sent in self._client.sent("ada") for button in sent["buttons"]]
        return str([button["says"] for button in shown if button["label"] == label][-1])

    def _arrived(self) -> Iterator[str]:
        sent = self._client.sent("ada")
        fresh, self._seen = sent[self._seen :], len(sent)
        for message in fresh:
            yield from map(self._named, self._lines(message))

    def _lines(self, message: dict[str, Any]) -> Iterator[str]:
        yield from filter(None, str(message["text"]).splitlines())
        if message["buttons"]:
            yield " ".join(f"[{button['label']}]" for button in message["buttons"])

    def _named(self, line: str) -> str:
        return _ID.sub(lambda found: self._name(found[0]), line)

    def _name(self, real: str) -> str:
        if real not in self._names and len(self._names) < len(self._told):
            self._names[real] = self._told[len(self._names)]
        return self._names.get(real, real)

    def _real(self, line: str) -> str:
        reals = {name: real for real, name in self._names.items()}
        return _ID.sub(lambda found: reals.get(found[0], found[0]), line)
