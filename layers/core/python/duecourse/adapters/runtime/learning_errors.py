"""Log that learned patterns could not be read, for every function that records failures."""

from __future__ import annotations

import logging

_log = logging.getLogger("duecourse")


def log_learning_unavailable(error: Exception) -> None:
    _log.warning("learned_patterns_unavailable: %s", error)
