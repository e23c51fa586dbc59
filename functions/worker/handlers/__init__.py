"""Your own handlers: one file `<name>.py` beside this one, and one line in the table below.

`"lights": Lights()` handles tasks of type `lights`. docs/handlers.md says how to write a handler.
"""

from __future__ import annotations

from duecourse.domain.tasks.handler import Handler

HANDLERS: dict[str, Handler] = {}
