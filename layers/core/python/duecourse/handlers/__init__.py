"""What performs each type of task."""

from __future__ import annotations
