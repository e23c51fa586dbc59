"""The providers that carry out actions: each knows one API and raises one kind of error."""

from __future__ import annotations
