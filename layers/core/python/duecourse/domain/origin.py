"""How far an attempt got before it failed."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    WORK = "work"  # the work itself failed
    ANSWER = "answer"  # the provider answered, and said that it did not succeed
    NOT_ATTEMPTED = "not_attempted"  # something of ours failed before the work began
    SUBJECT = "subject"  # the subject had been given up before
    CRASH = "crash"  # the worker was never heard of again
