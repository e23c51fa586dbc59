"""Send a request to `sam local start-api`, with a process in the place of each container.

The SAM CLI's own server finds the route, calls the authorizer and builds the events. As a script,
this runs in .venv-sam, where the project is not installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def call_start_api(path: str, headers: Mapping[str, str], *, endpoint: str) -> int:
    """Return the status of a GET request."""
    from local.runtime.template import ROOT
    from tests.deploy.container import architecture, container_settings, invocation
    from tests.deploy.sam import BUILD, SAM_FOLDER

    names = container_settings(architecture())
    request = {
        "template": str(BUILD / "template.yaml"),
        "path": path,
        "headers": dict(headers),
        "invocations": {name: invocation(name, endpoint=endpoint) for name in names},
    }
    done = subprocess.run(  # noqa: S603 - this script
        [SAM_FOLDER / "python", Path(__file__)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.splitlines()[-1])


class ProcessRunner:
    """Stands in for the SAM CLI's runner of containers."""

    def __init__(self, invocations: Mapping[str, Any]) -> None:
        self._invocations = invocations

    def is_debugging(self) -> bool:
        return False

    def invoke(self, name: str, event: str, stdout: Any, **_: Any) -> None:
        command, environment = self._invocations[name.rpartition("/")[2]]
        done = subprocess.run(  # noqa: S603 - the built code
            command, env=environment, input=event, capture_output=True, text=True, check=True
        )
        stdout.write_str(done.stdout.rpartition("--- reply ")[2])


def main() -> None:
    from samcli.lib.providers.api_provider import ApiProvider
    from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider
    from samcli.local.apigw.local_apigw_service import LocalApigwService

    request = json.load(sys.stdin)
    stacks, _ = SamLocalStackProvider.get_stacks(request["template"])
    folder = str(Path(request["template"]).parent)
    api = ApiProvider(stacks, cwd=folder, disable_authorizer=False).api
    service = LocalApigwService(
        api, ProcessRunner(request["invocations"]), port=0, host="127.0.0.1"
    )
    service.create()
    client = service._app.test_client()
    print(client.get(request["path"], headers=request["headers"]).status_code)  # noqa: T201


if __name__ == "__main__":
    main()
