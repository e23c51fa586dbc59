"""Put the compiled files of two builds into one folder: `python join_compiled.py ARM64 X86_64`.

Each gets a name that only Python 3.11 on its processor takes for a module.
"""

from __future__ import annotations

import sys
from pathlib import Path

_TAGS = {"arm64": "cpython-311-aarch64-linux-gnu", "x86_64": "cpython-311-x86_64-linux-gnu"}


def main(arm64: str, x86_64: str) -> None:
    target = Path(arm64)
    for architecture, folder in (("arm64", target), ("x86_64", Path(x86_64))):
        for path in list(folder.rglob("*.so")):
            name = f"{path.name.partition('.')[0]}.{_TAGS[architecture]}.so"
            path.rename(target / path.relative_to(folder).parent / name)


if __name__ == "__main__":
    main(*sys.argv[1:])
