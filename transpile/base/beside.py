"""Where `transpile_runtime` is found: in a checkout under ``runtime/`` beside this package, else wherever it is installed.

So that a tree that is not installed runs with its own runtime, and not with that of another version which is.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

NAME = "transpile_runtime"
STARTED = time.time()  # a source of ours that is newer is not what runs


def find_runtime(folder: Path) -> None:
    """Makes the package in ``folder``, if it is there, the one of that name. ImportError where another one is imported already."""
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
