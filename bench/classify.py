"""Measure classifications per second on one core, and the time for the slowest message."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
MEGABYTE = 1_000_000
ROUNDS = 5


def ordinary_messages(label: str) -> list[str]:
    lines = (CORPUS / f"{label}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["message"] for line in lines]


def messages_per_second(policy: Policy, messages: Iterable[str]) -> float:
    sample = list(messages) * ROUNDS
    began = time.process_time()
    for message in sample:
        diagnose(Failure.create(message), policy)
    return len(sample) / (time.process_time() - began)


def hostile_messages(policy: Policy, size: int = MEGABYTE) -> Iterator[str]:
    """Yield texts that keep every phrase and pattern matching for as long as possible."""
    phrases = [
        phrase.text for rule in policy.rules for phrase in (*rule.phrases, *rule.excluded_phrases)
    ]
    seeds = [
        " ".join(phrases).replace("#", "12345").replace("*", "x"),
        " ".join(reversed(phrases)).replace("*", ""),
        "\n".join(phrases),
        " ".join(phrase.partition("*")[0] for phrase in phrases if "*" in phrase),
        *_HOSTILE_SEEDS,
    ]
    yield from (_repeat(seed, size) for seed in seeds)


_HOSTILE_SEEDS = (
    "a", " ", "\n", "\t", "0", "(", "{", "[", "/", "::", "- ", "^~", "é", "错误", "│ ", "\\n",
    "\x1b[", "a.", "/a.py", "a.py:", "a:1:", "at a (", "#0 0x1 in a ", "a/b.go:1 +0x", "e: a",
    "in a", "1 ", "429 ", "E ", "Error: ", "Caused by: ", "x.Error", "raised A", "Aa.Bb.", "(Aa",
    "error TS", "'a' ", "status code ", "code: '", '{"code":', "exit code ", "code = A", "[1] ",
    "http://a", "1 | a\n", "2026-01-01T00:00:00Z ", 'File "a.py", line 1\n', "E   a\n",
    "at a.b(C.java:1)\n", "---> 1 \n", "Error: a.py:1 ", "1. a at a.py ", "@ a.py, ", "(a.py:1",
    "webpack://a/", "a.py\n1:1  error  a\n",
)  # fmt: skip


def _repeat(seed: str, size: int) -> str:
    return (seed * (size // len(seed) + 1))[:size]


def slowest_message(policy: Policy, messages: Iterable[str]) -> tuple[float, str]:
    """Return the longest time, and the beginning of that message."""
    worst = (0.0, "")
    for message in messages:
        began = time.process_time()
        diagnose(Failure.create(message), policy)
        worst = max(worst, (time.process_time() - began, message[:30]))
    return worst


def main() -> None:
    policies = read_policies()
    for name, label in (("agent", "agent"), ("enrichment", "provider"), ("standard", "agent")):
        policy = policies[name]
        rate = messages_per_second(policy, ordinary_messages(label))
        worst, start = slowest_message(policy, hostile_messages(policy))
        print(f"{name}: {rate:,.0f} messages per second; slowest message of 1 MB: ", end="")
        print(f"{worst * 1000:.0f} ms (starts with {start!r})")


if __name__ == "__main__":
    main()
