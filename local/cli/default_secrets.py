"""Find the secrets of the local stack that still have their published defaults."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.adapters.channels.registry import PLATFORMS

from local.cli.client.server import LOCAL_TOKEN, TOKEN_VARIABLE


def list_default_secrets(environment: Mapping[str, str]) -> list[str]:
    """Return the variables whose default or default value is in use: everybody knows it.

    An empty verification secret is none: it closes the platform's webhook.
    """
    proofs = [one.inbound.proof for one in PLATFORMS.values()]
    defaults = {proof.variable: proof.local for proof in proofs if proof is not None}
    used = {name: environment.get(name, default) for name, default in defaults.items()}
    used[TOKEN_VARIABLE] = environment.get(TOKEN_VARIABLE) or LOCAL_TOKEN
    defaults[TOKEN_VARIABLE] = LOCAL_TOKEN
    # Keys are read without the spaces around them.
    stripped = {name: value.strip() for name, value in used.items()}
    return sorted(name for name, value in stripped.items() if value and value == defaults[name])
