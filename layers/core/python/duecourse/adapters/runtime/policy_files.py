"""Read the policies of a folder: the built-in ones, or a team's own.

layers/core/Makefile stores the parsed policies beside their files, because parsing takes longer
than the rest of a cold start of the failure function. The stored copy begins with a digest of the
files and of the code it was made of, so a copy of others is not used.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from duecourse.adapters.runtime.code_version import read_build_fingerprint
from duecourse.domain.errors import PolicyError
from duecourse.domain.failures.classifier.confidence_table import ConfidenceTable
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.policy_loader import RULES_SUFFIX, load_policies

BUILTIN_FOLDER = Path(__file__).parents[2] / "policies"
PARSED_FILE = "policies.pickle"
# `make calibrate` makes it. Without it, the confidence is what the rules state.
CONFIDENCE_FILE = "confidence.json"


@cache
def read_policies(folder: Path = BUILTIN_FOLDER) -> Mapping[str, Policy]:
    """Return the policies by name. They are cached: they change only with a deployment.

    Raises PolicyError.
    """
    texts = _read_texts(folder)
    table = _read_table(texts)
    policies = _read_parsed(folder / PARSED_FILE, _digest(texts)) or _load(texts, table)
    if table is None:
        return policies
    return {name: replace(policy, confidence_table=table) for name, policy in policies.items()}


def write_parsed_policies(folder: Path = BUILTIN_FOLDER) -> None:
    """Store the parsed policies for `read_policies`, without the examples of their rules."""
    texts = _read_texts(folder)
    policies = {
        name: replace(policy, rules=tuple(replace(rule, examples=()) for rule in policy.rules))
        for name, policy in _load(texts, _read_table(texts)).items()
    }
    (folder / PARSED_FILE).write_bytes(_digest(texts) + pickle.dumps(policies))


def _read_texts(folder: Path) -> Mapping[str, str]:
    files = [*sorted(folder.glob("*.toml")), *folder.glob(CONFIDENCE_FILE)]
    return {path.name: _read_text(path) for path in files}


def _read_table(texts: Mapping[str, str]) -> ConfidenceTable | None:
    text = texts.get(CONFIDENCE_FILE)
    return ConfidenceTable.from_text(text) if text else None


def _load(texts: Mapping[str, str], table: ConfidenceTable | None) -> Mapping[str, Policy]:
    files = {name: text for name, text in texts.items() if name != CONFIDENCE_FILE}
    return load_policies(files, table.rules if table else {})


def _read_parsed(path: Path, digest: bytes) -> Mapping[str, Policy] | None:
    """Return the stored policies, or None if there are none of exactly these files."""
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        return None
    if not stored.startswith(digest):
        return None
    parsed: Mapping[str, Policy] = pickle.loads(stored[len(digest) :])  # noqa: S301 - our own build
    return parsed


def _digest(texts: Mapping[str, str]) -> bytes:
    parts = [*sorted(texts.items()), read_build_fingerprint()]
    return hashlib.sha256(repr(parts).encode()).digest()


@cache
def read_policies_without_rules(folder: Path = BUILTIN_FOLDER) -> Mapping[str, Policy]:
    """Return the policies without the rules from separate files, in a tenth of the time.

    Such policies know everything except how to classify an error.
    """
    files = [path for path in folder.glob("*.toml") if not path.name.endswith(RULES_SUFFIX)]
    return load_policies({path.name: _read_text(path) for path in files})


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(path.name, None, f"cannot be read: {error}") from None
