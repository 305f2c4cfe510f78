"""The bound on the size of the cache: entries that were not used for longest are removed first.

``TRANSPILE_CACHE_SIZE`` is the bound in MiB: 1024 if it is not set, -1 for no bound, 0 to keep nothing after a process. A
process that wrote something looks at the whole directory when it ends, and before that each time it has written a sixteenth of
the bound. Only files that transpile wrote are ever removed: the directory may hold a user's files too.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MIB = 2**20
_DEFAULT = 1024  # MiB
_LEFT = 7 / 8  # of the bound, after entries were removed: so that the next process need not remove any
_STALE = 3600  # seconds after which a use is written down again, and a file that is half written is a dead process's

_OURS = re.compile(
    r"(?P<entry>[0-9a-f]{32})\.calls"
    r"|(?P<kernel>\w+_[0-9a-f]{20})(\.kernel|\.py|[.-][\w.-]*\.(nbi|nbc|pyc))"
    r"|tmp[a-z0-9_]{8}\.tmp"
)
"""The names of files that transpile writes: an entry is all files of one name."""


class File(NamedTuple):
    """A file of ours. ``entry`` is what it belongs to, ``used`` when it was last read, in seconds since the epoch."""

    path: str
    entry: str
    size: int
    used: float

    @property
    def is_partial(self) -> bool:
        return self.path.endswith(".tmp")


class Removed(NamedTuple):
    """How many files were removed, and their bytes."""

    files: int = 0
    size: int = 0


_written: dict[Path, int] = {}  # bytes since a directory was looked at
_own = os.getpid()


def wrote(folder: Path, size: int) -> None:
    """Notes that ``size`` bytes were written in ``folder``; trims it if these are more than a sixteenth of the bound since the
    last time.

    The first call makes the process also trim its folders when it ends.
    """
    global _own
    if not _written:
        atexit.register(_at_exit)
    if _own != os.getpid():  # a child of a fork has written nothing yet
        _written.clear()
        _own = os.getpid()
    _written[folder] = _written.get(folder, 0) + size
    most = bound()
    if most is not None and _written[folder] > most / 16 > 0:
        _written[folder] = 0
        trim(folder, most)


def _at_exit() -> None:
    most = bound()
    if most is not None and _own == os.getpid():
        for folder in _written:
            trim(folder, most)


def note_use(path: Path) -> None:
    """Sets a file's time of last use to now, if it is more than an hour old; errors are ignored."""
    with contextlib.suppress(OSError):
        if time.time() - os.stat(path).st_mtime > _STALE:
            os.utime(path)


def bound() -> int | None:
    """The most bytes that the cache may hold, from ``TRANSPILE_CACHE_SIZE``; None if there is no bound. A text that is not a
    number gives a warning and the default."""
    given = os.environ.get("TRANSPILE_CACHE_SIZE", "").strip()
    try:
        mib = float(given) if given else _DEFAULT
        return None if mib < 0 else int(mib * _MIB)
    except (ValueError, OverflowError):  # a word, NaN, infinity
        message = f"TRANSPILE_CACHE_SIZE is {given!r}, not a number of MiB: {_DEFAULT} is used"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        return _DEFAULT * _MIB


def trim(folder: Path, most: int) -> Removed:
    """If all entries together have more than ``most`` bytes, removes those that were not used for longest, until at most 7/8 of
    it is left; returns what was removed."""
    files = list(_files(folder))
    size = sum(f.size for f in files)
    if size <= most:
        return Removed()
    used: dict[str, float] = {}
    for file in files:
        used[file.entry] = max(file.used, used.get(file.entry, file.used))
    removed, entry = Removed(), ""
    for file in sorted(files, key=lambda f: (used[f.entry], f.entry)):
        if size <= most * _LEFT and file.entry != entry:
            break
        if not file.is_partial or time.time() - file.used > _STALE:
            entry, size = file.entry, size - file.size
            removed = _remove(file, removed)
    return removed


def clear(folder: Path) -> tuple[Removed, int]:
    """Removes all files in a directory that transpile wrote; returns what was removed, and the number of such files that are
    left."""
    removed = Removed()
    for file in _files(folder):
        removed = _remove(file, removed)
    return removed, sum(1 for _ in _files(folder))


def _remove(file: File, so_far: Removed) -> Removed:
    """Deletes the file; returns ``so_far`` with it added, or unchanged if it could not be deleted."""
    try:
        os.unlink(file.path)
    except OSError:  # another process was faster, or has it open
        return so_far
    return Removed(so_far.files + 1, so_far.size + file.size)


def _files(folder: Path) -> Iterator[File]:
    """Yields the files in a directory and its ``__pycache__`` whose names are those of files that transpile, or Numba for it,
    writes."""
    for place in (folder, folder / "__pycache__"):
        with contextlib.suppress(OSError), os.scandir(place) as found:
            for one in found:
                name = _OURS.fullmatch(one.name)
                with contextlib.suppress(OSError):
                    if name is not None and one.is_file(follow_symlinks=False):
                        at = one.stat(follow_symlinks=False)
                        entry = name["entry"] or name["kernel"] or one.name
                        yield File(one.path, entry, at.st_size, at.st_mtime)
