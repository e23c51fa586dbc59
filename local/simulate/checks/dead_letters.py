"""Invariants of dead letters: what is redriven is in its queue again."""

from __future__ import annotations

from collections.abc import Iterator

from local.simulate.observed import Observed

_WITHOUT_QUEUE = "journal"  # its letters are processed by the request


def redriven_sent(observed: Observed) -> Iterator[str | None]:
    """Each letter that a redrive names was sent back to a queue while the request lasted."""
    log = observed.dead_letter_log
    for answer in observed.answers:
        if answer.target != "/dead-letters/redrive" or not answer.is_success:
            continue
        if answer.asked_at is None or answer.at is None:
            continue
        sent = {body for at, body in log.sent if answer.asked_at <= at <= answer.at}
        for letter_id in answer.body["redriven"]:
            letter = log.letters[letter_id]
            is_sent = letter.body in sent or letter.queue == _WITHOUT_QUEUE
            yield None if is_sent else f"letter {letter_id} was redriven and not sent"
