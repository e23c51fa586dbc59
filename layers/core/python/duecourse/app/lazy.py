"""Build on first use what most events do not need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

V = TypeVar("V")


class LazyMapping(Mapping[str, V]):
    """Builds each value when it is first read. Its names are known without that."""

    def __init__(self, builders: Mapping[str, Callable[[], V]]) -> None:
        self._builders = builders
        self._values: dict[str, V] = {}

    def __getitem__(self, name: str) -> V:
        if name not in self._values:
            self._values[name] = self._builders[name]()
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._builders

    def __iter__(self) -> Iterator[str]:
        return iter(self._builders)

    def __len__(self) -> int:
        return len(self._builders)


class _LazyPort:
    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = build

    def __getattr__(self, name: str) -> Any:
        return getattr(self._build(), name)


def lazy(build: Callable[[], V]) -> V:
    """Return a stand-in for what `build` returns. `build` is called for each use, so cache it."""
    port: Any = _LazyPort(build)
    return port  # type: ignore[no-any-return]
