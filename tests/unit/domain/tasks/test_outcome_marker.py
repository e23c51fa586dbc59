"""The outcome of an action is read from the last line of its reply, and a quote cannot forge it."""

from __future__ import annotations

import re
import time

import pytest
from duecourse.domain.tasks.outcome_marker import (
    INSTRUCTION,
    MARKER,
    Failed,
    NoOutcome,
    Succeeded,
    parse_outcome,
)

from tests.support.builders.failures import builtin_policies

SUCCESS_LINE = f"{MARKER} success"
FAILED_LINE = f"{MARKER} failed | no key"


@pytest.mark.parametrize(
    "reply",
    [
        SUCCESS_LINE,
        f"All done.\n{SUCCESS_LINE}",
        f"All done.\n\n{SUCCESS_LINE}\n\n",
        f"{SUCCESS_LINE}   ",
        f"  {SUCCESS_LINE}\t",
        f"All done.\r\n{SUCCESS_LINE}\r\n",
        f"… {SUCCESS_LINE}",
        f"{FAILED_LINE}\n{SUCCESS_LINE}",
    ],
)
def test_a_success_marker_on_the_last_line_is_a_success(reply: str) -> None:
    assert parse_outcome(reply) == Succeeded()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (FAILED_LINE, "no key"),
        (f"I tried.\n{FAILED_LINE}", "no key"),
        (f"I tried.\r\n{FAILED_LINE} \r\n", "no key"),
        (f"{SUCCESS_LINE}\n{FAILED_LINE}", "no key"),
        (f"{MARKER} failed | a | b", "a | b"),
        (f"{MARKER} failed", "the provider gave no reason"),
        (f"{MARKER} failed | it said {SUCCESS_LINE}", f"it said {SUCCESS_LINE}"),
        (f"{MARKER} failed | it stopped. {SUCCESS_LINE}", f"it stopped. {SUCCESS_LINE}"),
    ],
)
def test_a_failed_marker_on_the_last_line_gives_its_reason(reply: str, reason: str) -> None:
    assert parse_outcome(reply) == Failed(reason)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        "All done.",
        f"{SUCCESS_LINE}\nBut wait, there is more.",
        f"You said: {SUCCESS_LINE}\nI did nothing of the kind.",
        f"> {SUCCESS_LINE}",
        f'"{SUCCESS_LINE}"',
        f"'{SUCCESS_LINE}'",
        f"`{SUCCESS_LINE}`",
        f"**{SUCCESS_LINE}**",
        f"- {SUCCESS_LINE}",
        f"```\n{SUCCESS_LINE}\n```",
        f"the line {SUCCESS_LINE}",
        f"I refuse to do it. {SUCCESS_LINE}",
        f"You asked me to end with {SUCCESS_LINE}",
        f'The task says "do it. {SUCCESS_LINE}"',
        f"{SUCCESS_LINE}.",
        f"{SUCCESS_LINE}!",
        f"{SUCCESS_LINE} or so",
        f"{SUCCESS_LINE}fully",
        f"NOT_{SUCCESS_LINE}",
        f"{MARKER} failure",
        f"{MARKER} SUCCESS",
        f"{MARKER} Success",
        SUCCESS_LINE.lower(),
        SUCCESS_LINE.replace(" ", ""),
        SUCCESS_LINE.replace(": ", " : "),
        MARKER,
        INSTRUCTION,
    ],
)
def test_any_other_reply_has_no_outcome(reply: str) -> None:
    assert parse_outcome(reply) == NoOutcome()


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("word " * 200_000 + f"\n{SUCCESS_LINE}", Succeeded()),
        (f"{SUCCESS_LINE}\n" * 100_000, Succeeded()),
        (f"{SUCCESS_LINE}\n" + "word " * 200_000, NoOutcome()),
        ("x" * 1_000_000 + SUCCESS_LINE, NoOutcome()),
        (". " * 500_000, NoOutcome()),
        (MARKER * 60_000, NoOutcome()),
    ],
    ids=["long before", "many markers", "long after", "one long line", "full stops", "no blanks"],
)
def test_a_huge_reply_is_parsed_quickly(
    reply: str, outcome: Succeeded | Failed | NoOutcome
) -> None:
    started = time.thread_time()
    assert parse_outcome(reply) == outcome
    assert time.thread_time() - started < 0.1


def test_the_instruction_names_markers_that_the_parser_accepts() -> None:
    markers = re.findall(rf"`({MARKER} [^`]+)`", INSTRUCTION)
    assert [parse_outcome(line) for line in markers] == [Succeeded(), Failed("<reason>")]


def test_the_guidance_for_a_missing_outcome_names_markers_that_the_parser_accepts() -> None:
    [rule] = [rule for rule in builtin_policies()["agent"].rules if rule.id == "no-outcome"]
    markers = re.findall(rf"{MARKER} \w+", rule.fix or "")
    assert len(markers) == 2
    assert [line for line in markers if parse_outcome(line) == NoOutcome()] == []
