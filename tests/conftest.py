"""What every test may take for granted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader
from hypothesis import settings

# How long one example takes says something about the machine, and nothing about the property.
settings.register_profile("duecourse", deadline=None)
settings.load_profile("duecourse")


@pytest.fixture(scope="session", autouse=True)
def _endpoints_are_read_once() -> Iterator[None]:
    """botocore reads a megabyte of them for each session, and moto begins one for each stack."""
    real, read = JSONFileLoader.load_file, dict[str, Any]()

    def load_file(loader: JSONFileLoader, file_path: str) -> Any:
        if not file_path.endswith("endpoints"):
            return real(loader, file_path)
        if file_path not in read:
            read[file_path] = real(loader, file_path)
        return read[file_path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", load_file)
        yield
