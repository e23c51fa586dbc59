"""What goes wrong with a provider, as the engine wants to hear it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from datetime import timedelta

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Origin


@dataclass(eq=False)
class ProviderError(DuecourseError):
    """The words decide, with type, code and status, which category a policy gives it.

    `cost` is in micro-dollars: 0 where nothing was sent, None where nobody can say. `status` is
    that of a refusal, which costs nothing; an answer that only cannot be used has none.
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
    def __init__(self, provider: str, problem: str = "there is no API key") -> None:
        super().__init__(
            f"authentication failed before anything was sent: {problem} for {provider} here",
            type="MissingKey",
            code="missing_api_key",
            cost=0,
        )


class InvalidResponseError(ProviderError):
    """Words that fit a failed parse as well as a gateway that answered in place of the provider."""

    def __init__(self, provider: str, problem: str, *, model: str) -> None:
        super().__init__(
            f"{provider} answered with a good status code but {problem}: a gateway may have cut "
            "the answer short or given its own",
            type="BadAnswer",
            code="bad_answer",
            model=model,
        )
