"""Print what `sam local invoke -n events/env.json` gives each function's container, as JSON.

It asks the code of the SAM CLI itself, so it runs in .venv-sam, where this project is not
installed. The template is the built one.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Any


def main(template: str, variables: str, architecture: str) -> None:
    from samcli.commands.local.lib.local_lambda import LocalLambdaRunner
    from samcli.lib.providers.sam_function_provider import SamFunctionProvider
    from samcli.lib.providers.sam_stack_provider import SamLocalStackProvider

    logging.disable(logging.WARNING)
    overrides = {"Architecture": architecture}
    stacks, _ = SamLocalStackProvider.get_stacks(template, parameter_overrides=overrides)
    functions = SamFunctionProvider(stacks)
    runner = LocalLambdaRunner(
        local_runtime=None,
        function_provider=functions,
        real_path=None,
        cwd=str(Path(template).parent),
        env_vars_values=json.loads(Path(variables).read_text()),
    )
    print(json.dumps({one.name: _describe(one, runner) for one in functions.get_all()}))  # noqa: T201


def _describe(function: Any, runner: Any) -> dict[str, Any]:
    return {
        "handler": function.handler,
        "architectures": function.architectures,
        "folders": [function.codeuri, *(layer.codeuri for layer in function.layers)],
        "environment": runner._make_env_vars(function).resolve(),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
