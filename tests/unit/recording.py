"""The recorder of failures over fakes, by the shipped policies."""

from __future__ import annotations

from typing import Any

from duecourse.usecases.record_failure import Recorder

from tests.unit.builders import NOW, shipped_policies
from tests.unit.fakes import ListQueue, ManualClock, MemoryBreakers, MemoryStore


def a_recorder(store: MemoryStore, **parts: Any) -> Recorder:
    defaults = {
        "subjects": store.subjects,
        "queue": ListQueue(),
        "breakers": MemoryBreakers(),
        "policies": shipped_policies(),
        "clock": ManualClock(NOW),
        "pending_retries_limit": 50,
    }
    return Recorder(store=store, **{**defaults, **parts})
