"""Source locations in a corpus of messages in the formats of many tools."""

from __future__ import annotations

from bench.locations import ScoredMessage, false_rate, hit_rate, score_corpus

MESSAGES = score_corpus()


def describe_misses(messages: list[ScoredMessage]) -> str:
    return "\n".join(
        f"{message.id}: expected {message.expected}, found {message.found}"
        for message in messages
        if not message.is_right
    )


def test_the_corpus_is_large_enough() -> None:
    located = [message for message in MESSAGES if message.expected is not None]
    assert len(located) >= 150
    assert len(MESSAGES) - len(located) >= 80
    assert len({message.id for message in MESSAGES}) == len(MESSAGES)


def test_nearly_all_locations_are_found() -> None:
    assert hit_rate(MESSAGES) >= 0.92, describe_misses(MESSAGES)


def test_nearly_all_held_out_locations_are_found() -> None:
    held_out = [message for message in MESSAGES if message.is_held_out]
    assert hit_rate(held_out) >= 0.92, describe_misses(held_out)


def test_few_messages_without_a_location_get_one() -> None:
    assert false_rate(MESSAGES) < 0.05, describe_misses(MESSAGES)
