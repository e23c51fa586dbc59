"""Plans that violated an invariant once, replayed: none does so again."""

from __future__ import annotations

import json
from pathlib import Path

from local.simulate.find_mutants import run_worker

REPLAYS = sorted((Path(__file__).parent / "replays").glob("*.json"))


def test_no_violation_occurs_again_and_every_fault_still_strikes() -> None:
    reports = run_worker("--replay", *map(str, REPLAYS))

    assert len(reports) == len(REPLAYS) > 0
    for path, report in zip(REPLAYS, reports, strict=True):
        assert report["violation"] is None, path.name
        planned = json.loads(path.read_text())["faults"]
        assert sum(report["faults"].values()) == len(planned), path.name
