"""How an action went: only the reply's own last line tells, and nothing quoted can forge it."""

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

GOOD = f"{MARKER} success"
BAD = f"{MARKER} failed | no key"


@pytest.mark.parametrize(
    "reply",
    [
        GOOD,
        f"All done.\n{GOOD}",
        f"All done.\n\n{GOOD}\n\n",
        f"{GOOD}   ",
        f"  {GOOD}\t",
        f"All done.\r\n{GOOD}\r\n",
        f"… {GOOD}",
        f"{BAD}\n{GOOD}",
    ],
)
def test_a_last_line_that_says_success_is_success(reply: str) -> None:
    assert parse_outcome(reply) == Succeeded()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (BAD, "no key"),
        (f"I tried.\n{BAD}", "no key"),
        (f"I tried.\r\n{BAD} \r\n", "no key"),
        (f"{GOOD}\n{BAD}", "no key"),
        (f"{MARKER} failed | a | b", "a | b"),
        (f"{MARKER} failed", "the provider gave no reason"),
        (f"{MARKER} failed | it said {GOOD}", f"it said {GOOD}"),
        (f"{MARKER} failed | it stopped. {GOOD}", f"it stopped. {GOOD}"),
    ],
)
def test_a_last_line_that_says_failed_gives_its_reason(reply: str, reason: str) -> None:
    assert parse_outcome(reply) == Failed(reason)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        "All done.",
        f"{GOOD}\nBut wait, there is more.",
        f"You said: {GOOD}\nI did nothing of the kind.",
        f"> {GOOD}",
        f'"{GOOD}"',
        f"'{GOOD}'",
        f"`{GOOD}`",
        f"**{GOOD}**",
        f"- {GOOD}",
        f"```\n{GOOD}\n```",
        f"the line {GOOD}",
        f"I refuse to do it. {GOOD}",
        f"You asked me to end with {GOOD}",
        f'The task says "do it. {GOOD}"',
        f"{GOOD}.",
        f"{GOOD}!",
        f"{GOOD} or so",
        f"{GOOD}fully",
        f"NOT_{GOOD}",
        f"{MARKER} failure",
        f"{MARKER} SUCCESS",
        f"{MARKER} Success",
        GOOD.lower(),
        GOOD.replace(" ", ""),
        GOOD.replace(": ", " : "),
        MARKER,
        INSTRUCTION,
    ],
)
def test_anything_else_is_no_outcome(reply: str) -> None:
    assert parse_outcome(reply) == NoOutcome()


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("word " * 200_000 + f"\n{GOOD}", Succeeded()),
        (f"{GOOD}\n" * 100_000, Succeeded()),
        (f"{GOOD}\n" + "word " * 200_000, NoOutcome()),
        ("x" * 1_000_000 + GOOD, NoOutcome()),
        (". " * 500_000, NoOutcome()),
        (MARKER * 60_000, NoOutcome()),
    ],
    ids=["long before", "many markers", "long after", "one long line", "full stops", "no blanks"],
)
def test_a_huge_reply_is_read_at_once(reply: str, outcome: Succeeded | Failed | NoOutcome) -> None:
    began = time.thread_time()
    assert parse_outcome(reply) == outcome
    assert time.thread_time() - began < 0.1


def test_the_provider_is_asked_for_the_markers_that_are_understood() -> None:
    asked = re.findall(rf"`({MARKER} [^`]+)`", INSTRUCTION)
    assert [parse_outcome(line) for line in asked] == [Succeeded(), Failed("<reason>")]


def test_the_guidance_after_a_missing_outcome_names_markers_that_are_understood() -> None:
    [rule] = [rule for rule in builtin_policies()["agent"].rules if rule.id == "no-outcome"]
    named = re.findall(rf"{MARKER} \w+", rule.fix or "")
    assert len(named) == 2
    assert [line for line in named if parse_outcome(line) == NoOutcome()] == []
