"""The result of one check."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`detail` is what the check saw; `advice` what to do about it, empty if there is nothing."""

    name: str
    status: Status
    detail: str
    advice: str = ""

    def to_json(self) -> dict[str, str]:
        return asdict(self)


def ok(name: str, detail: str) -> CheckResult:
    return CheckResult(name, Status.OK, detail)


def _make(status: Status, name: str, detail: str, advice: str) -> CheckResult:
    return CheckResult(name, status, detail, advice)


warning = partial(_make, Status.WARNING)
failed = partial(_make, Status.FAILED)
skipped = partial(_make, Status.SKIPPED)
