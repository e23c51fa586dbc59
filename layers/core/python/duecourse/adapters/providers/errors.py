"""Errors of providers, with the fields that failure classification uses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Origin


@dataclass(eq=False)
class ProviderError(DuecourseError):
    """A policy classifies it by message, type, code and status.

    `cost` is in micro-dollars: 0 if nothing was sent, None if unknown. `status` is set only if the
    provider rejected the call, which costs nothing; an unusable response has none.
    """

    message: str
    _: KW_ONLY
    type: str | None = None
    code: str | None = None
    status: int | None = None
    retry_after: timedelta | None = None
    cost: int | None = None
    model: str | None = None
    origin: Origin = Origin.WORK

    def __post_init__(self) -> None:
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message


class MissingKeyError(ProviderError):
    def __init__(self, problem: str) -> None:
        super().__init__(
            f"authentication failed before anything was sent: {problem}",
            type="MissingKey",
            code="missing_api_key",
            cost=0,
        )


class InvalidResponseError(ProviderError):
    """The response has a success status but is not the provider's format.

    The message fits both a parse failure and a gateway that answered instead.
    """

    def __init__(self, provider: str, problem: str, *, model: str) -> None:
        super().__init__(
            f"{provider} answered with a success status code but {problem}: a gateway may have cut "
            "the answer short or sent its own",
            type="BadAnswer",
            code="bad_answer",
            model=model,
        )
