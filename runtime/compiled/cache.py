"""The disk cache of compiled functions: one data file a signature, and what cannot be read is compiled again.

Numba's own numbers the data files: two processes that compile different signatures of one function at once can give both the
same number, and then load one for the other. Here a file is named by what is in it, and carries a checksum.
"""

import hashlib
import pickle
from contextlib import suppress
from functools import lru_cache
from pathlib import Path


def keep(dispatcher):
    """The dispatcher, with the disk cache where there can be one."""
    with suppress(Exception):  # no directory can be written, or another Numba has other private names
        files, cache = _classes()
        found = cache(dispatcher.py_func)
        found._cache_file.__class__ = files
        found._cache_file._source_stamp = (found._cache_file._source_stamp, sources())
        dispatcher._cache = found
    return dispatcher


@lru_cache(maxsize=1)
def sources():
    """A hash of all of this package: a compiled function holds what it calls, of other files too."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@lru_cache(maxsize=1)
def _classes():
    from numba.core.caching import FunctionCache, IndexDataCacheFile
    from numba.core.runtime.nrt import rtsys

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

    class Cache(FunctionCache):
        def load_overload(self, sig, target_context):
            rtsys.initialize(target_context)  # all that loading needs; Numba's own does far more
            try:
                return self._load_overload(sig, target_context)
            except Exception:
                with suppress(Exception):
                    self.flush()
                return None

        def save_overload(self, sig, data):
            with suppress(Exception):  # the disk is full, or read-only by now
                self._save_overload(sig, data)

    return Files, Cache
