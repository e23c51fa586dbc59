"""The same kinds of work in Celery and Dramatiq on redis. Needs .venv-peers: `make bench-peers`."""

from __future__ import annotations
