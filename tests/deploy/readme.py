"""The commands of README's section on deployment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from local.runtime.template import ROOT

_SECTION = re.compile(r"^## Deploy\n(.*?)^## ", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"<the output (\w+)>")
_TOKEN = "<the token>"
_EXPORT = re.compile(r"export (\w+)=(.*)")


def deploy_commands() -> list[str]:
    section = _SECTION.search((ROOT / "README.md").read_text())
    assert section is not None, "README.md has no section Deploy"
    blocks = _CONSOLE.findall(section[1])
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


def fill_in(command: str, outputs: Mapping[str, str], token: str | None) -> str:
    """Replace `<the output Name>` by its value, and `<the token>` by the one that was printed."""
    assert _TOKEN not in command or token, f"no token was printed before: {command}"
    filled = _OUTPUT.sub(lambda match: outputs[match[1]], command)
    return filled.replace(_TOKEN, token or "")


def parse_export(command: str) -> tuple[str, str] | None:
    """Return name and value if the command is an `export`, which later commands need."""
    match = _EXPORT.fullmatch(command)
    return (match[1], match[2]) if match else None
