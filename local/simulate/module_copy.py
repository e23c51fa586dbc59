"""Load the functions' modules a second time, as another container has them.

Two containers share nothing but AWS. So each has its own module of every name: its own resolver,
metrics, caches and classes. Imports inside the modules, also those inside functions, find the
modules of the same container.
"""

from __future__ import annotations

import builtins
import importlib
import typing
from collections.abc import Mapping, Sequence
from functools import _lru_cache_wrapper, cache
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec, resolve_name
from types import ModuleType
from typing import Any

from local.simulate.source_edit import planted_in

# The functions' code, and the stand-ins for the outside world whose classes the code compares.
_COPIED = (
    *("duecourse", "functions", "aws_lambda_powertools", "pynamodb"),
    "local.runtime.call_interceptor",
    *("local.runtime.outbox", "local.testing.faults", "local.testing.instrumented_clients"),
    *("local.testing.scripted_provider", "local.simulate.lamp_handler"),
)


class ModuleCopy:
    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._caches: dict[str, tuple[int, Sequence[Any]]] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}
        self._replaced = {
            "importlib": _replace(importlib, import_module=self.load),
            "typing": _replace(typing, get_type_hints=self._get_type_hints),
        }

    def load(self, name: str, package: str | None = None) -> ModuleType:
        """Return the copy's module, importing it on first use, like `importlib.import_module`."""
        absolute = resolve_name(name, package) if name.startswith(".") else name
        if not _is_copied(absolute):
            return importlib.import_module(absolute)
        return self._modules.get(absolute) or self._load_new(absolute)

    def clear_caches(self, package: str) -> None:
        """Clear the caches of the functions that the loaded modules of a package define."""
        for cached in self._find_caches(package):
            cached.cache_clear()

    def _find_caches(self, package: str) -> Sequence[Any]:
        """Return the cached functions. They are searched again when a module was added."""
        count, caches = self._caches.get(package, (0, ()))
        if count != len(self._modules):
            caches = [
                value
                for name, module in self._modules.items()
                if name.startswith(f"{package}.")
                for value in vars(module).values()
                if isinstance(value, _lru_cache_wrapper) and value.__module__ == name
            ]
            self._caches[package] = (len(self._modules), caches)
        return caches

    def _load_new(self, name: str) -> ModuleType:
        importlib.import_module(name)  # dataclasses look for a class's module in sys.modules
        parent_name, _, child = name.rpartition(".")
        parent = self.load(parent_name) if parent_name else None
        if name in self._modules:  # the parent imported it
            return self._modules[name]
        module = module_from_spec(_find(name, parent))
        vars(module)["__builtins__"] = self._builtins
        self._modules[name] = module
        try:
            _execute(module)
        except BaseException:
            del self._modules[name]
            raise
        if _is_copied(parent_name):
            setattr(parent, child, module)
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        """What `import` calls in the copy's modules, in place of the builtin `__import__`."""
        if name in self._replaced and not level:
            return self._replaced[name]
        if fromlist and not level and name in self._modules:
            loaded = self._modules[name]
            if all(map(vars(loaded).__contains__, fromlist)):  # the most frequent case
                return loaded
        package = (globals or {}).get("__package__") or ""
        absolute = resolve_name("." * level + name, package) if level else name
        if not _is_copied(absolute):
            return __import__(name, globals, locals, fromlist, level)
        module = self.load(absolute)
        if not fromlist:
            return self.load(absolute.partition(".")[0])
        for attribute in fromlist:
            self._import_child(module, attribute)
        return module

    def _get_type_hints(self, annotated: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Like `typing.get_type_hints`, which looks for a class's module in `sys.modules`.

        There it finds the process's own module, whose enums are not those of the copy.
        """
        names: dict[str, Any] = {}
        for base in reversed(getattr(annotated, "__mro__", ())):
            names |= vars(self._modules.get(base.__module__, builtins))
        if arguments or not names or "localns" in options:
            return typing.get_type_hints(annotated, *arguments, **options)
        return typing.get_type_hints(annotated, localns=names, **options)

    def _import_child(self, module: ModuleType, name: str) -> None:
        """Import the submodule that `from module import name` means, unless it is an attribute."""
        if name == "*" or hasattr(module, name) or not hasattr(module, "__path__"):
            return
        try:
            self.load(f"{module.__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{module.__name__}.{name}":
                raise


def _replace(module: ModuleType, **values: Any) -> ModuleType:
    """Return a module with the same content but for these values."""
    replaced = ModuleType(module.__name__)
    vars(replaced).update(vars(module), **values)
    return replaced


def _execute(module: ModuleType) -> None:
    """Run the module's code, with the edit that is planted in it if there is one."""
    loader: Any = module.__spec__.loader if module.__spec__ else None
    edit = planted_in(module.__name__)
    if edit is None:
        loader.exec_module(module)
    else:
        source = edit.apply(loader.get_source(module.__name__))
        exec(compile(source, str(module.__file__), "exec"), vars(module))  # noqa: S102 - our own code


@cache
def _is_copied(name: str) -> bool:
    return any(name == one or name.startswith(f"{one}.") for one in _COPIED)


def _find(name: str, parent: ModuleType | None) -> ModuleSpec:
    spec = find_spec(name) if parent is None else PathFinder.find_spec(name, parent.__path__)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return spec
