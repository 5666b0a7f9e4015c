"""Modules in the place of other packages'."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: The modules of a package that hosts import.
_MODULES = {
    "llguidance": [
        "_lib",
        "_util",
        "_tokenizer",
        "_struct_tag",
        "_grammar_from",
        "hf",
        "llamacpp",
        "mlx",
        "numpy",
        "tiktoken",
        "torch",
    ],
}


class _Finder(MetaPathFinder):
    """Finds the modules in place of the package's: each is imported when it is asked for."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        if name != self.package and not name.startswith(self.package + "."):
            return None
        inner = name.removeprefix(self.package).removeprefix(".")
        if inner and inner not in _MODULES[self.package]:
            return None
        return ModuleSpec(name, _Loader(f"{__name__}.{name}"), is_package=not inner)


class _Loader(Loader):
    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(self.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def install(package: str) -> None:
    """Puts a package of this module in the place of the other: call it before a host imports that.

    The one package so far is `llguidance`. Each process has to call it.
    """
    if package not in _MODULES:
        raise ValueError(f"there is nothing in the place of {package!r}; there is llguidance")
    if any(isinstance(finder, _Finder) and finder.package == package for finder in sys.meta_path):
        return
    if package in sys.modules:
        raise RuntimeError(f"{package} is imported already; install this before")
    sys.meta_path.insert(0, _Finder(package))
