"""What is built on first use."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import pytest
from duecourse.app.lazy import LazyMapping, lazy


def test_a_value_is_built_once_and_only_when_it_is_read() -> None:
    built: list[str] = []

    def build(name: str) -> str:
        built.append(name)
        return name

    mapping = LazyMapping({name: partial(build, name) for name in "ab"})

    assert list(mapping) == ["a", "b"]
    assert len(mapping) == 2
    assert "a" in mapping
    assert "c" not in mapping
    assert built == []

    assert [mapping["b"], mapping.get("b"), mapping.get("c")] == ["b", "b", None]
    assert built == ["b"]


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        LazyMapping[str]({})["a"]


def test_a_port_is_built_for_its_first_use() -> None:
    built: list[int] = []

    def build() -> SimpleNamespace:
        built.append(1)
        return SimpleNamespace(send=lambda text: f"sent {text}")

    port = lazy(build)
    assert built == []

    assert port.send("a") == "sent a"
    assert built == [1]
