"""`sam` for the emulator: `sam deploy` takes the adapted template, other commands are unchanged.

The emulator is the one at AWS_ENDPOINT_URL. `make deploy SAM_VENV=<folder of make_sam_folder>` runs
all that it runs for AWS. SAM_PARAMETERS, such as `Name=value Other=value`, sets parameters.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from local.runtime.template import ROOT, load_template
from tests.deploy.emulated_template import adapt

SAM_FOLDER = ROOT / ".venv-sam" / "bin"
BUILD = ROOT / ".aws-sam" / "build"
TEMPLATE = ROOT / ".aws-sam" / "emulated" / "template.json"


def make_sam_folder(folder: Path) -> None:
    """Make the part of a virtual environment that the Makefile uses: bin/sam and bin/python."""
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    commands = {
        "sam": f"cd '{ROOT}' && exec '{sys.executable}' -m tests.deploy.sam",
        "python": f"exec '{SAM_FOLDER / 'python'}'",
    }
    for name, command in commands.items():
        path = folder / "bin" / name
        path.write_text(f'#!/bin/sh\n{command} "$@"\n')
        path.chmod(0o755)
    (folder / ".installed").touch()


def to_arguments(arguments: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """Return the arguments for the real `sam`, after writing the template for `sam deploy`."""
    if arguments[0] != "deploy":
        return list(arguments)
    # Without an endpoint, this would go to AWS.
    endpoint = environment["AWS_ENDPOINT_URL"]
    parameters = environment.get("SAM_PARAMETERS", "").split()
    overrides = ["--parameter-overrides", *parameters] if parameters else []
    TEMPLATE.parent.mkdir(parents=True, exist_ok=True)
    template = adapt(load_template(), build=BUILD, endpoint=endpoint)
    TEMPLATE.write_text(json.dumps(template, indent=1))
    files = ["--template-file", str(TEMPLATE), "--config-file", str(ROOT / "samconfig.toml")]
    return [*arguments, *files, "--no-progressbar", *overrides]


if __name__ == "__main__":
    command = SAM_FOLDER / "sam"
    arguments = to_arguments(sys.argv[1:], os.environ)  # noqa: TID251 - as sam itself
    os.execv(command, [str(command), *arguments])  # noqa: S606
