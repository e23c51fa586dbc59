"""`duecourse doctor`: check a running stack and say what is missing."""

from __future__ import annotations
