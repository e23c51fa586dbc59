"""What every test may take for granted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader
from hypothesis import settings

from local.testing.faults import Fault, Faults
from tests.support.answers import RESPONSES

# How long one example takes says something about the machine, and nothing about the property.
settings.register_profile("duecourse", deadline=None)
settings.load_profile("duecourse")


@pytest.fixture(autouse=True)
def _fail_on_unmet_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """A fault that no call meets tests nothing. `fault_may_miss` marks the tests that mean it."""
    planted: list[Fault] = []
    real = Faults.add

    def add(faults: Faults, fault: Fault) -> None:
        planted.append(fault)
        real(faults, fault)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Faults, "add", add)
        yield
    missed = [fault for fault in planted if fault.seen_count < fault.nth]
    if request.node.get_closest_marker("fault_may_miss") is None:
        assert missed == []


@pytest.fixture(autouse=True)
def _fail_on_unchecked_errors() -> Iterator[None]:
    """A request that is refused does nothing: a test that sends one looks at its status."""
    RESPONSES.clear()
    yield
    assert [answer for answer in RESPONSES if answer.is_unnoticed_refusal] == []


@pytest.fixture(scope="session", autouse=True)
def _cache_botocore_endpoints() -> Iterator[None]:
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
