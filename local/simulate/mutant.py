"""What a planted bug is."""

from __future__ import annotations

from dataclasses import dataclass

from local.simulate.source_edit import SourceEdit


@dataclass(frozen=True)
class Mutant:
    description: str
    edit: SourceEdit
