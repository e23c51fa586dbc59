"""Write confidence.json again: `python -m local.calibration`."""

from __future__ import annotations

from duecourse.adapters.runtime.policy_files import BUILTIN_FOLDER, CONFIDENCE_FILE, read_policies

from local.calibration.measure import measure


def main() -> None:
    path = BUILTIN_FOLDER / CONFIDENCE_FILE
    path.write_text(measure(read_policies()), encoding="utf-8")
    print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
