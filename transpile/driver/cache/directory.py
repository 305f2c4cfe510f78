"""The cache directory, and its files, which carry a checksum.

Code and pickles are loaded from it, so a directory that another user owns or can write to is not used.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path

from transpile.driver.cache import eviction

_MARK = b"transpile cache\n"


def cache_directory() -> Path:
    """The path for generated files, which need not exist: ``TRANSPILE_CACHE_DIR``, else ``transpile`` in the user's cache
    directory."""
    given = os.environ.get("TRANSPILE_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "transpile"


def folder() -> Path:
    """The directory in use: `cache_directory`, created if needed, or a temporary one for this process if that is not usable."""
    return _usable(cache_directory().absolute())


@lru_cache(maxsize=8)
def _usable(wanted: Path) -> Path:
    """``wanted``, created if it does not exist; if it cannot be written or is not to be trusted (with a warning), a new
    temporary directory, removed at exit."""
    try:
        wanted.mkdir(parents=True, exist_ok=True, mode=0o700)
        refused = why_not(wanted)
        if refused is None:
            with tempfile.TemporaryFile(dir=wanted):
                return wanted
        warnings.warn(f"the cache directory {wanted} is not used: {refused}", RuntimeWarning, stacklevel=2)
    except OSError:
        pass
    own = tempfile.mkdtemp(prefix="transpile-")
    atexit.register(shutil.rmtree, own, ignore_errors=True)
    return Path(own)


def why_not(path: Path) -> str | None:
    """The reason why a directory cannot be trusted, as text; None if only the user can write to it, and always on Windows."""
    if not hasattr(os, "getuid"):
        return None  # on Windows the user's folders are private
    found = os.stat(path)
    if found.st_uid != os.getuid():
        return "it belongs to another user"
    if stat.S_IMODE(found.st_mode) & 0o022:
        return "other users can write to it (chmod go-w)"
    return None


def read(name: str) -> bytes | None:
    """The content of the file ``name`` of the cache, without its checksum; None if it does not exist or the checksum is wrong.
    The file counts as used now."""
    path = folder() / name
    try:
        data = path.read_bytes()
    except OSError:
        return None
    eviction.note_use(path)
    start = len(_MARK)
    content = data[start + 32 :]
    whole = data[:start] == _MARK and data[start : start + 32] == hashlib.sha256(content).digest()
    return content if whole else None


def write(name: str, content: bytes) -> bool:
    """Writes the file ``name`` of the cache with its checksum, completely or not at all; returns True if it was written."""
    return put(name, _MARK + hashlib.sha256(content).digest() + content)


def put(name: str, data: bytes) -> bool:
    """Writes the file ``name`` of the cache without a checksum, completely or not at all; returns True if it was written."""
    path = folder() / name
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.replace(temporary, path)
    except OSError:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return False
    eviction.wrote(path.parent, len(data))
    return True
