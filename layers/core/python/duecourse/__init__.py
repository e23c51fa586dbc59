"""Duecourse: a serverless task scheduler for AWS that understands why work fails.

These names are the public API for handlers of your own. Everything else may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duecourse.version import __version__

if TYPE_CHECKING:
    from duecourse.app.registry import remote
    from duecourse.domain.errors import IndeterminateError
    from duecourse.domain.tasks.handler import (
        Applied,
        Handler,
        NotApplied,
        ReconcileResult,
        RunContext,
        Unknown,
    )


__all__ = [
    "Applied",
    "Handler",
    "IndeterminateError",
    "NotApplied",
    "ReconcileResult",
    "RunContext",
    "Unknown",
    "__version__",
    "remote",
]
_MODULES = {"IndeterminateError": "duecourse.domain.errors", "remote": "duecourse.app.registry"}


def __getattr__(name: str) -> Any:
    """Load a public name on first use: every function imports this package, few need handlers."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, "duecourse.domain.tasks.handler")), name)
