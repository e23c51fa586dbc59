"""Checks and settings that apply to every test."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.loaders import JSONFileLoader
from duecourse.adapters.runtime import unreadable_items, unsent_dispatches
from hypothesis import settings

from local.testing.faults import Fault, Faults
from tests.support.api_response import RESPONSES
from tests.support.examples import FULL_COUNT, QUICK_COUNT

# The duration of one example depends on the machine, not on the property.
settings.register_profile("duecourse", deadline=None, max_examples=FULL_COUNT)
settings.register_profile("quick", deadline=None, max_examples=QUICK_COUNT)
settings.load_profile("duecourse")


def pytest_collection_finish() -> None:
    """Exclude the modules and thousands of collected tests from every later garbage collection.

    And collect less often: it takes a twentieth of the tests' time, and frees little.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@pytest.fixture(autouse=True)
def _fail_on_unmet_faults(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test whose fault no call met, unless it has the mark `fault_may_miss`."""
    added: list[Fault] = []
    real = Faults.add

    def add(faults: Faults, fault: Fault) -> None:
        added.append(fault)
        real(faults, fault)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Faults, "add", add)
        yield
    missed = [fault for fault in added if fault.seen_count < fault.nth]
    if request.node.get_closest_marker("fault_may_miss") is None:
        assert missed == []


@pytest.fixture(autouse=True)
def _fail_on_unchecked_errors() -> Iterator[None]:
    """Fail a test that never reads the status of an error response."""
    RESPONSES.clear()
    yield
    assert [response for response in RESPONSES if response.is_unchecked_error] == []


@pytest.fixture(scope="session", autouse=True)
def _cache_botocore_files() -> Iterator[None]:
    """Read botocore's endpoints and service models once, not megabytes again for each stack."""
    real, cached = JSONFileLoader.load_file, dict[str, Any]()

    def load_file(loader: JSONFileLoader, file_path: str) -> Any:
        if file_path not in cached:
            cached[file_path] = real(loader, file_path)
        return cached[file_path]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(JSONFileLoader, "load_file", load_file)
        yield


@pytest.fixture(autouse=True)
def _clear_unreported() -> Iterator[None]:
    """Forget what no function has reported, or the next one would report it."""
    unreadable_items._collected.clear()
    unsent_dispatches._collected.clear()
    yield
    unreadable_items._collected.clear()
    unsent_dispatches._collected.clear()
