"""The stored form of the link from a spec review to its task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duecourse.domain.tasks.task import ReviewLink


def review_to_stored(review: ReviewLink) -> dict[str, Any]:
    stored = {"of": review.of, "after_attempts": review.after_attempts or None, "spec": review.spec}
    return {name: value for name, value in stored.items() if value is not None}


def review_from_stored(stored: Mapping[str, Any]) -> ReviewLink:
    return ReviewLink(stored["of"], stored.get("after_attempts", 0), stored.get("spec"))
