"""The destination of the text: standard output, or a file, which is written completely or not changed.

A source file is never overwritten, by whatever name or link; any other existing file only with ``--force``.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from collections.abc import Iterable

from transpile.errors import TranspileError, error


def check(path: str, read: Iterable[str], force: bool) -> None:
    """Raises T903 if ``path`` must not be written: a folder, one of ``read``, the source files, or another existing file unless
    ``force``.

    Nothing is opened; a path that does not exist passes, as does a device.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return
    except OSError as failed:
        raise _failed(path, failed) from None
    for source in read:
        if os.path.exists(source) and os.path.samefile(path, source):
            raise error("T903", f"{path!r} is the source file, which is never overwritten", hint="name another file")
    if stat.S_ISDIR(found.st_mode):
        raise error("T903", f"cannot write {path!r}: it is a folder", hint="name a file in it")
    if stat.S_ISREG(found.st_mode) and not force:
        raise error("T903", f"{path!r} already exists", hint="use --force to replace it")


def _failed(path: str, failed: OSError) -> TranspileError:
    """The T903 error, for the caller to raise, for a file that could not be written."""
    folder = os.path.dirname(path)
    hint = "name a file that you can write"
    if folder and not os.path.isdir(folder):
        hint = f"make the folder first: {folder}" if not os.path.exists(folder) else f"{folder!r} is not a folder"
    return error("T903", f"cannot write {path!r}: {failed.strerror}", hint=hint)


def write(path: str, text: str, force: bool) -> None:
    """Writes the file completely, or raises T903 and changes nothing.

    Links are followed; the file keeps its permissions. A file created since `check` is replaced only with ``force``.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):  # a pipe, a device
            with open(target, "w", encoding="utf-8") as out:
                out.write(text)
        else:
            _replace(target, text, force)
    except FileExistsError:
        raise error("T903", f"{path!r} already exists", hint="use --force to replace it") from None
    except OSError as failed:
        raise _failed(path, failed) from None


def _replace(target: str, text: str, force: bool) -> None:
    """Writes a temporary file beside ``target`` and gives it the name ``target``; FileExistsError if that exists, unless
    ``force``."""
    number, name = tempfile.mkstemp(prefix=".transpile-", suffix=".part", dir=os.path.dirname(target))
    try:
        with open(number, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(number)
        os.chmod(name, _mode(target))
        if force or not _linked(name, target):
            os.replace(name, target)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


def _linked(name: str, target: str) -> bool:
    """Links the file ``name`` to its final name ``target``; True if that worked, FileExistsError if it exists, False if the
    file system has no links."""
    try:
        os.link(name, target)
    except FileExistsError:
        raise
    except (OSError, AttributeError):
        return False
    return True


def _mode(target: str) -> int:
    """The permission bits of the file ``target``, or, if there is none, those that a new file gets."""
    with contextlib.suppress(FileNotFoundError):
        return stat.S_IMODE(os.stat(target).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def show(text: str) -> None:
    """Writes the text to standard output, in UTF-8 if the encoding there lacks a character."""
    try:
        sys.stdout.write(text)
    except UnicodeEncodeError:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())
    sys.stdout.flush()
