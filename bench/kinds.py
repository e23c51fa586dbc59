"""Score the classifier on labelled messages: `python -m bench.kinds [-v] [file.jsonl ...]`.

Without -v no message is shown, so that messages can be held out while rules are written.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import Policy

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
HELD_OUT = "held_out.jsonl"
LABEL_BY_POLICY = {"agent": "agent", "enrichment": "provider"}


@dataclass(frozen=True, slots=True)
class Scored:
    """A labelled message and its diagnosis. `label` is the row's key for the category."""

    row: dict[str, Any]
    label: str
    diagnosis: Diagnosis

    @property
    def is_category_exact(self) -> bool:
        return bool(self.diagnosis.category == self.row[self.label])

    @property
    def is_category_right(self) -> bool:
        return self.is_category_exact or self.diagnosis.category in self.row["also_ok"][self.label]

    @property
    def is_kind_right(self) -> bool:
        return self.diagnosis.kind in (self.row["kind"], *self.row["also_ok"]["kind"])


def score_rows(rows: Sequence[dict[str, Any]], policy: Policy, label: str) -> list[Scored]:
    return [
        Scored(row, label, diagnose(build_failure(row), policy)) for row in rows if row.get(label)
    ]


def build_failure(row: dict[str, Any]) -> Failure:
    """Return what the classifier is given of a labelled message."""
    return Failure.create(
        row["message"], **{name: row[name] for name in ("type", "code", "status")}
    )


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def describe_kinds(scored: Sequence[Scored]) -> Iterator[str]:
    """Yield precision and recall for each kind. An answer that is also right counts as right."""
    found = Counter(str(one.diagnosis.kind) for one in scored)
    right = Counter(str(one.diagnosis.kind) for one in scored if one.is_kind_right)
    labelled = Counter(str(one.row["kind"]) for one in scored)
    recalled = Counter(str(one.row["kind"]) for one in scored if one.is_kind_right)
    for kind in sorted(found | labelled):
        precision = f"{right[kind] / found[kind]:.2f}" if found[kind] else "   -"
        recall = f"{recalled[kind] / labelled[kind]:.2f}" if labelled[kind] else "   -"
        of_found, of_labelled = f"of {found[kind]:3}", f"of {labelled[kind]:3}"
        yield f"  {kind:16} precision {precision} {of_found}, recall {recall} {of_labelled}"


def describe_misses(scored: Sequence[Scored]) -> Iterator[str]:
    for one in scored:
        if not (one.is_kind_right and one.is_category_right):
            got, row = one.diagnosis, one.row
            yield f"{row['id']} {row[one.label]}/{row['kind']}, but {got.category}/{got.kind}"
            yield f"    by {got.pattern}: {row['message'][:300]!r} {row['code']} {row['status']}"


def describe_ecosystems(scored: Sequence[Scored]) -> str:
    wrong = Counter(str(one.row["ecosystem"]) for one in scored if not one.is_kind_right)
    return ", ".join(f"{name} {count}" for name, count in wrong.most_common())


def print_scores(scored: Sequence[Scored], title: str, *, is_verbose: bool) -> None:
    def mean(name: str) -> str:
        return f"{sum(getattr(one, name) for one in scored) / len(scored):.3f}"

    print(f"{title}: {len(scored)} messages; category {mean('is_category_exact')} strict, ", end="")
    print(f"{mean('is_category_right')} lenient; kind {mean('is_kind_right')}")
    print("\n".join(describe_kinds(scored)))
    print("  wrong kinds by ecosystem:", describe_ecosystems(scored) or "none")
    if is_verbose:
        print("\n".join(describe_misses(scored)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", action="store_true", dest="is_verbose", help="show the misses")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(CORPUS.glob("*.jsonl")))
    arguments = parser.parse_args()
    policies = read_policies()
    for path in arguments.files:
        for policy, label in LABEL_BY_POLICY.items():
            if scored := score_rows(read_rows(path), policies[policy], label):
                shows_misses = arguments.is_verbose and path.name != HELD_OUT
                print_scores(scored, f"{path.name} by {policy}", is_verbose=shows_misses)


if __name__ == "__main__":
    main()
