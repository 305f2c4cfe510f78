"""Finds `transpile_runtime`: in a checkout under ``runtime/`` beside this package, else wherever it is installed.

So a checkout that is not installed runs with its own runtime, and not with another version that is installed.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

NAME = "transpile_runtime"
STARTED = time.time()  # source files of ours that are newer are not the code that runs


def find_runtime(folder: Path) -> None:
    """Imports the runtime from ``folder`` if it is there and not imported yet. ImportError if another runtime is imported
    already."""
    start = folder / NAME / "__init__.py"
    if not start.is_file():
        return
    if NAME in sys.modules:
        other = sys.modules[NAME].__file__
        if other is None or not start.samefile(other):
            raise ImportError(f"transpile needs {start}, and {other} is imported already: import transpile first")
        return
    spec = importlib.util.spec_from_file_location(NAME, start, submodule_search_locations=[str(start.parent)])
    assert spec is not None and spec.loader is not None
    module = sys.modules[NAME] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[NAME]
        raise
