"""Compiled kernels on disk: object code and its data, under a hash of the functions that it was compiled from."""

from __future__ import annotations

import pickle
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from transpile.base import loader
from transpile.core import structure
from transpile.driver.cache import directory
from transpile_runtime.compiled.cache import digest, environment

Kinds = tuple[tuple[str, int], ...]  # dtype and rank of each parameter

_loaded: WeakValueDictionary[str, Any] = WeakValueDictionary()  # loading the same code twice in a process would clash


def stem(name: str, *source: object) -> str | None:
    """The name of a kernel's files: ``name``, made fit for a file, and a hash of ``source`` and the versions; None if something
    in ``source`` cannot be hashed."""
    try:
        stamp = structure.digest(*source, environment(), _writer())[:20]
    except TypeError:
        return None
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', name)[:60]}_{stamp}"


WRITERS = ("codegen", "loops", "simplify", "analysis", "ops", "core", "base")
"""The packages that generate machine code from lowered functions, and those they use."""


@lru_cache(maxsize=1)
def _writer() -> tuple[str, ...]:
    """The hashes of the source text of the packages in `WRITERS`, in their order."""
    return tuple(digest(Path(__file__).parents[2] / name) for name in WRITERS)


def find(stem: str) -> Any:
    """The kernel with this stem, the same object as before in this process, or loaded from disk; None if there is none that is
    usable."""
    found = _loaded.get(stem)
    if found is None:
        data = directory.read(f"{stem}.kernel")
        try:
            found = _revived(stem, pickle.loads(data)) if data is not None else None
        except Exception:  # whatever is wrong with the file: it is compiled again
            return None
        if found is not None:
            _loaded[stem] = found
    return found


def _revived(stem: str, kept: Mapping[str, Any]) -> Any:
    """The kernel made from ``kept``, the content of its file, with its messages and the lines of its text registered; None if
    this version of Numba is not known."""
    from transpile_runtime.compiled import objects, pending
    from transpile_runtime.compiled.kernel import Kernel
    from transpile_runtime.compiled.threads import with_own_threads

    if not objects.is_known():
        return None
    made: Any = Kernel(kept["name"], kept["kinds"], objects.entry(kept["object"]))
    made.stem, made.returns = stem, kept["returns"]
    made = with_own_threads(made) if kept["has_own_threads"] else made
    pending.add(kept["sites"])
    if kept["file"] is not None:
        loader.register_later(kept["file"], kept["lines"])
    return made


def keep(
    kernel: Any, compiled: Any, sites: Mapping[int, Any], file: str | None, lines: Mapping[int, Any] | None
) -> None:
    """Stores a newly compiled kernel on disk, unless the code of ``compiled`` cannot be kept; if the file cannot be written,
    ``kernel.stem`` becomes None.

    ``sites`` are its messages; ``file`` is the path of its text, if there is one, and ``lines`` the user's place for each line.
    """
    from numba.core.serialize import dumps

    from transpile_runtime.compiled import objects

    if not objects.can_be_kept(compiled):
        return
    kept = {
        "name": kernel.__name__,
        "kinds": kernel.kinds,
        "returns": kernel.returns,
        "has_own_threads": kernel.has_own_threads,
        "object": objects.describe(compiled, linking=False),
        "sites": dict(sites),
        "file": file,
        "lines": pickle.dumps(dict(lines or {})),
    }
    if directory.write(f"{kernel.stem}.kernel", dumps(kept)):
        _loaded[kernel.stem] = kernel
    else:
        kernel.stem = None


def text_file(stem: str, text: str) -> str | None:
    """The path of the file ``stem.py`` in the cache, which holds ``text``, written unless it does already; None if it cannot be
    written."""
    path = directory.folder() / f"{stem}.py"
    try:
        if path.read_text(encoding="utf-8") == text:
            return str(path)
    except (OSError, ValueError):
        pass
    return str(path) if directory.put(path.name, text.encode()) else None
