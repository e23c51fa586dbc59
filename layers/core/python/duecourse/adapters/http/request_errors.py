"""Errors that reject a request before its content is processed."""

from __future__ import annotations

from duecourse.domain.errors import DuecourseError


class TooLargeError(DuecourseError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"the body must have at most {limit // 1024} KiB")


class NotVerifiedError(DuecourseError):
    """The request failed verification. The message goes to the log, never to the sender."""


class UnknownPlatformError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("this chat platform is not configured in this deployment")
