"""The commands of README's section on deployment."""

from __future__ import annotations

import re
from collections.abc import Mapping

from local.runtime.template import ROOT

_SECTION = re.compile(r"^## Deploy\n(.*?)^## ", re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_OUTPUT = re.compile(r"<the output (\w+)>")


def deploy_commands() -> list[str]:
    section = _SECTION.search((ROOT / "README.md").read_text())
    assert section is not None, "README.md has no section Deploy"
    blocks = _CONSOLE.findall(section[1])
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


def fill_in(command: str, outputs: Mapping[str, str]) -> str:
    """Replace `<the output Name>` by its value."""
    return _OUTPUT.sub(lambda match: outputs[match[1]], command)
