"""The disk cache of compiled functions: one data file for each signature; an unreadable file is compiled again.

Numba numbers the data files: two processes that compile different signatures of one function at once can choose the same
number, and then load one for the other. Here a file is named by its content, and has a checksum.
"""

import hashlib
import os
import pickle
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path


def keep(dispatcher):
    """The dispatcher, the same object, now with a disk cache of its own files if that is possible."""
    with suppress(Exception):  # no directory is writeable, or this Numba has other private names
        files, cache = _classes()
        found = cache(dispatcher.py_func)
        found._cache_file.__class__ = files
        found._cache_file._source_stamp = (found._cache_file._source_stamp, sources())
        dispatcher._cache = found
    return dispatcher


@lru_cache(maxsize=1)
def sources():
    """A hash of the text of this whole package, ``transpile_runtime.compiled``: a compiled function contains its callees, from
    other files too."""
    return digest(Path(__file__).parent)


def digest(folder):
    """A hash of the names and contents of all Python files under a folder, at any depth."""
    found = hashlib.sha256()
    start = len(str(folder))
    for path in sorted(python_files(folder)):
        with open(path, "rb") as file:
            data = file.read()
        found.update(f"{path[start:]} {len(data)} ".encode())
        found.update(data)
    return found.hexdigest()


def python_files(folder):
    """Yields the paths of all Python files under a folder, at any depth, in no fixed order."""
    for here, _, names in os.walk(folder):
        yield from (os.path.join(here, name) for name in names if name.endswith(".py"))


@lru_cache(maxsize=1)
def environment():
    """A hash of what object code depends on besides the text of its function.

    That is this package, the versions of Numba, llvmlite, NumPy and Python, the processor, and Numba's settings.
    """
    import llvmlite
    import numba
    import numpy
    from llvmlite import binding
    from numba.core import config

    versions = (
        numba.__version__,
        llvmlite.__version__,
        numpy.__version__,
        sys.version_info[:3],
        sys.implementation.name,
    )
    processor = (binding.get_process_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    settings = [(name, getattr(config, name, None)) for name in _SETTINGS]
    return hashlib.sha256(repr((sources(), versions, processor, settings)).encode()).hexdigest()


_SETTINGS = (
    "OPT",
    "LOOP_VECTORIZE",
    "SLP_VECTORIZE",
    "ENABLE_AVX",
    "CPU_NAME",
    "CPU_FEATURES",
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "DISABLE_INTEL_SVML",
    "LLVM_REFPRUNE_PASS",
    "LLVM_REFPRUNE_FLAGS",
)


@lru_cache(maxsize=1)
def _classes():
    """Two classes for the disk cache of a dispatcher: that of its files, each with a checksum and named by its content, and
    that of the cache itself."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
    from numba.core.runtime.nrt import rtsys

    from transpile_runtime.compiled import objects

    class Files(IndexDataCacheFile):
        def save(self, key, data):
            overloads = self._load_index()
            stamp = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
            overloads[key] = f"{self._index_name.removesuffix('.nbi')}.{stamp}.nbc"
            self._save_data(overloads[key], data)
            self._save_index(overloads)

        def _save_data(self, name, data):
            data = self._dump(data)
            with self._open_for_write(self._data_path(name)) as file:
                file.write(hashlib.sha256(data).digest() + data)

        def _load_data(self, name):
            with open(self._data_path(name), "rb") as file:
                digest, data = file.read(32), file.read()
            if hashlib.sha256(data).digest() != digest:
                raise ValueError(f"{name} is damaged")
            return pickle.loads(data)

    class Light(CompileResultCacheImpl):
        def reduce(self, result):
            return objects.describe(result, linking=True)

        def rebuild(self, target_context, found):
            return objects.compile_result(found, target_context)

    class Cache(FunctionCache):
        def __init__(self, function):
            super().__init__(function)
            if objects.is_known():
                self._impl.__class__ = Light

        def load_overload(self, sig, target_context):
            if not objects.is_known():
                rtsys.initialize(target_context)  # sufficient for loading; Numba's own initialisation does far more
            try:
                return self._load_overload(sig, target_context)
            except Exception:
                with suppress(Exception):
                    self.flush()
                return None

        def save_overload(self, sig, data):
            with suppress(Exception):  # the disk may be full, or read-only by now
                self._save_overload(sig, data)

    return Files, Cache
