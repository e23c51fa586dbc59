"""What an exception says about where a failure comes from and whether the effect happened."""

from __future__ import annotations

from duecourse.domain.origin import Effect, Origin

# These mean a bug in the handler's code, which a retry does not fix.
_BUG_EXCEPTIONS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
)


def origin_of(error: Exception) -> Origin:
    """Return the error's own `origin`, else LOGIC for a bug in the handler, else WORK.

    An error with a `type` attribute reports somebody else's error, so it is no bug of the handler.
    """
    declared = getattr(error, "origin", None)
    if isinstance(declared, Origin):
        return declared
    is_bug = isinstance(error, _BUG_EXCEPTIONS) and not hasattr(error, "type")
    return Origin.LOGIC if is_bug else Origin.WORK


def effect_of(error: Exception) -> Effect:
    """Return the error's own `effect`, else UNKNOWN for a timeout or a bug, else NONE."""
    declared = getattr(error, "effect", None)
    if isinstance(declared, Effect):
        return declared
    is_unknown = isinstance(error, TimeoutError) or origin_of(error) is Origin.LOGIC
    return Effect.UNKNOWN if is_unknown else Effect.NONE
