"""Imports every built handler as Lambda would: from its own folder and the two layers alone.

The policies and the providers' settings, which are data beside the code, must be there as well, the
parsed policies, the bytecode, the version of the code as it was built, the team's handlers, and the
API's pages.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

BUILD = Path(".aws-sam/build").resolve()
BESIDE = """
from duecourse.adapters.providers import settings_file
from duecourse.adapters.runtime import code_version, custom_handlers, policy_files
assert policy_files.read_policies()
assert settings_file.read_provider_settings()
assert (code_version.CORE_FOLDER / code_version.BUILD_FILE).is_file()
assert (policy_files.BUILTIN_FOLDER / policy_files.PARSED_FILE).is_file()
custom_handlers.load_handlers("worker.handlers", reserved_types={})
from api.routes import dashboard, meta
assert meta.DOCS_FILE.is_file()
assert (dashboard.DASHBOARD_FOLDER / dashboard.INDEX_FILE).is_file()
assert dashboard.load_assets()
"""
LAYERS = [str(BUILD / layer / "python") for layer in ("DepsLayer", "CoreLayer")]


def main() -> int:
    handlers = re.findall(r"Handler: (\w+)\.app\.handler", (BUILD / "template.yaml").read_text())
    failed = [name for name in handlers if not _imports(name)]
    print(f"{len(handlers) - len(failed)} of {len(handlers)} built handlers import")
    return 1 if failed or not handlers else 0


def _imports(name: str) -> bool:
    folder = str(BUILD / f"{name.capitalize()}Function")
    code = f"import sys; sys.path[:0] = {[folder, *LAYERS]}; import {name}.app\n"
    code += f"import os.path; assert os.path.isfile({name}.app.__cached__)\n{BESIDE}"
    # -I -S: nothing that is installed here may help. -B: the bytecode must be there already.
    command = [sys.executable, "-I", "-S", "-B", "-c", code]
    return subprocess.run(command, check=False).returncode == 0  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
