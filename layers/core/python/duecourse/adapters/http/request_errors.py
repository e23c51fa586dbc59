"""Why a request is turned away before anything in it counts."""

from __future__ import annotations

from duecourse.domain.errors import DuecourseError


class TooLargeError(DuecourseError):
    def __init__(self, limit: int) -> None:
        super().__init__(f"a body may have at most {limit // 1024} KiB")


class NotVerifiedError(DuecourseError):
    """Its words are for the log: whoever asked is not told what was wrong."""


class UnknownPlatformError(DuecourseError):
    def __init__(self) -> None:
        super().__init__("this platform is not set up here")
