"""Says in the log that what was learnt could not be read, whichever function records a failure."""

from __future__ import annotations

import logging

_log = logging.getLogger("duecourse")


def log_learning_unavailable(error: Exception) -> None:
    _log.warning("what was learnt could not be read: %s", error)
