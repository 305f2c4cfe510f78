"""Exceptions that compiled code raises: each class creates the built-in exception, with the message of its site.

``SITES[number]`` is ``(exception, dtypes, text or slot, ...)``; for a print it is ``(None, dtypes, texts and slots of each
argument, separator, end)``. A slot is the number of an argument, or (number, conversion, format). ``dtypes`` has the dtypes of
arguments that are NumPy scalars, else None: all arrive as Python numbers. ``("at", file, line, column)`` is printed; ``("line",
file, line, column)`` has the same content and is not.
"""

import ctypes
import os
import pickle

import numpy as np
from numba import njit, objmode

from transpile_runtime.compiled.pending import PENDING

SITES = {}
SITES.update(PENDING)


def message(parts, args):
    """The text of the parts of a site, each a text or a slot, with the values from ``args`` in the place of slots."""
    return "".join(p if isinstance(p, str) else _value(p, args) for p in parts)


def _value(slot, args):
    """The text in the place of a slot: the formatted argument, the place of a print, or "" for a line."""
    if isinstance(slot, int):
        return str(args[slot])
    if slot[0] == "at":
        return ":".join(str(part) for part in (_shown(slot[1]), *slot[2:])) + ": "
    if slot[0] == "line":
        return ""
    number, conversion, form = (*slot, "", "")[:3]
    value = args[number]
    if conversion in ("r", ord("r")):
        value = repr(value)
    elif conversion in ("s", ord("s")):
        value = str(value)
    return format(value, form or "")


def _typed(dtypes, args):
    """The arguments as a list, made NumPy scalars where ``dtypes`` has a dtype; unchanged if there are no ``dtypes``."""
    if not dtypes:
        return args
    return [v if d is None else np.dtype(d).type(v) for d, v in zip(dtypes, args)]


def _shown(file):
    """The path of a file, relative to the working directory if it lies below it."""
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):
        return file
    return file if relative.startswith("..") else relative


def _make(base):
    """The class that compiled code raises for ``base``: called with a site and values it creates a ``base`` with the message of
    the site and the attribute ``site``."""

    class Site(base):
        def __new__(cls, site=0, *args):
            # Python calls the class with the instance while it handles an exception
            if isinstance(site, BaseException):
                return site
            entry = SITES.get(site)
            made = base(message(entry[2:], _typed(entry[1], args))) if entry else base(*args)
            made.site = site
            return made

    Site.__name__ = Site.__qualname__ = f"{base.__name__}_"
    Site.__module__ = __name__
    return Site


ArithmeticError_ = _make(ArithmeticError)
AssertionError_ = _make(AssertionError)
AttributeError_ = _make(AttributeError)
BufferError_ = _make(BufferError)
ConnectionError_ = _make(ConnectionError)
DeprecationWarning_ = _make(DeprecationWarning)
EOFError_ = _make(EOFError)
Exception_ = _make(Exception)
FileExistsError_ = _make(FileExistsError)
FileNotFoundError_ = _make(FileNotFoundError)
FloatingPointError_ = _make(FloatingPointError)
FutureWarning_ = _make(FutureWarning)
ImportError_ = _make(ImportError)
IndexError_ = _make(IndexError)
KeyError_ = _make(KeyError)
LookupError_ = _make(LookupError)
MemoryError_ = _make(MemoryError)
ModuleNotFoundError_ = _make(ModuleNotFoundError)
NameError_ = _make(NameError)
NotImplementedError_ = _make(NotImplementedError)
OSError_ = _make(OSError)
OverflowError_ = _make(OverflowError)
PermissionError_ = _make(PermissionError)
RecursionError_ = _make(RecursionError)
ReferenceError_ = _make(ReferenceError)
RuntimeError_ = _make(RuntimeError)
RuntimeWarning_ = _make(RuntimeWarning)
StopIteration_ = _make(StopIteration)
SyntaxError_ = _make(SyntaxError)
SystemError_ = _make(SystemError)
TimeoutError_ = _make(TimeoutError)
TypeError_ = _make(TypeError)
UnboundLocalError_ = _make(UnboundLocalError)
UnicodeError_ = _make(UnicodeError)
UserWarning_ = _make(UserWarning)
ValueError_ = _make(ValueError)
Warning_ = _make(Warning)
ZeroDivisionError_ = _make(ZeroDivisionError)
LinAlgError_ = _make(np.linalg.LinAlgError)


class _Any(type):
    """The metaclass of a class that stands for exceptions of any class.

    Python 3.10 tests whether the class of the created exception is a subclass of it; if so, ``except`` sees that class.
    """

    def __subclasscheck__(cls, other):
        return issubclass(other, BaseException)


class Within(Exception, metaclass=_Any):
    """Creates the exception that a runtime function without a line raised, with its site.

    Numba has pickled the exception at an address.
    """

    def __new__(cls, site=0, address=0, size=0):
        if isinstance(site, BaseException):
            return site
        raised, args, _ = pickle.loads(ctypes.string_at(address, size))
        if raised is MemoryError:
            return MemoryError_(site)
        made = raised(*args)
        made.site = site
        return made


def show(site, values):
    """Prints the values as the user's ``print`` at the site with this number does."""
    _, dtypes, *arguments, sep, end = SITES[site]
    values = _typed(dtypes, values)
    print(*(message(parts, values) for parts in arguments), sep=sep, end=end)


@njit(error_model="numpy", fastmath=False)
def say(site, values):
    """Prints the values as the user's ``print`` at a site does, called from compiled code."""
    with objmode():
        show(site, values)
