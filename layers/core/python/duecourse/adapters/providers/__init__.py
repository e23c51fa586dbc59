"""The providers that execute actions. Each wraps one API and raises ProviderError."""

from __future__ import annotations
