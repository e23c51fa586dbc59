"""What goes over HTTP: bodies in, problems out."""

from __future__ import annotations
