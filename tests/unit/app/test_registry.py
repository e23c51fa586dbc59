"""What a deployment supports is found once, and again after a registration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from duecourse.app import registry, services

from local.runtime.call_interceptor import CallInterceptor
from local.testing.faults import Faults
from local.testing.scripted_provider import ScriptedProvider
from tests.support.payload_cases import Lamps
from tests.unit.app.test_settings import ENV


@pytest.fixture(autouse=True)
def container(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in {**ENV, "HANDLERS_MODULE": "functions.worker.handlers"}.items():
        monkeypatch.setenv(name, value)
    services.reset()
    yield
    services.reset()


class Fax:
    """A channel that sends nothing."""


def test_capabilities_are_built_once() -> None:
    assert registry.capabilities() is registry.capabilities()


def test_a_registered_channel_is_supported() -> None:
    before = registry.capabilities()
    registry.register_channel("fax", Fax())  # type: ignore[arg-type]
    assert registry.capabilities().channels == before.channels | {"fax"}


def test_a_registered_handler_is_supported_and_checks_its_payload() -> None:
    before = registry.capabilities()
    registry.register_handler("lamps", Lamps())
    after = registry.capabilities()
    assert after.types == before.types | {"lamps"}
    with pytest.raises(ValueError, match="light: unknown key"):
        after.payload_checks["lamps"]({"light": "hall"})


def test_a_registered_provider_can_verify() -> None:
    verifier = {"provider": "scripted"}
    with pytest.raises(ValueError, match="provider: must be one of"):
        registry.capabilities().check_verifier(verifier)
    registry.register_provider("scripted", ScriptedProvider(CallInterceptor(Faults())))
    registry.capabilities().check_verifier(verifier)


def test_a_reset_removes_what_was_registered() -> None:
    before = registry.capabilities()
    registry.register_channel("fax", Fax())  # type: ignore[arg-type]
    registry.reset()
    assert registry.capabilities().channels == before.channels
