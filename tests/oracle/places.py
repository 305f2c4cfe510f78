"""Imports programs under paths relative to the checkout.

The user's file and line are part of the text for Numba and of message numbers: with absolute paths no other checkout would give
the same text. The path is stored in a function's code, so it is replaced when the module is compiled.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("corpus", "bench")


class _Loader(SourceFileLoader):
    """Compiles a module under its path in the checkout; Python's cached bytecode has another path."""

    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.path).resolve().relative_to(ROOT).as_posix()
        return compile(self.get_data(self.path), path, "exec", dont_inherit=True)


class _Finder:
    """Finds the modules of the programs as Python does, and loads them with `_Loader`."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] not in PACKAGES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


def enter() -> None:
    """From now on programs have relative paths; the working directory is the checkout, so that these are valid."""
    known = [name for name in sys.modules if name.partition(".")[0] in PACKAGES]
    assert not known, f"imported under other paths: {known[:3]}"
    finder: Any = _Finder
    sys.meta_path.insert(0, finder)
    os.chdir(ROOT)
