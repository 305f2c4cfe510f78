"""Exceptions that compiled code raises: each class makes the built-in one, with the message of its site.

``SITES[number]`` is ``(exception, text or slot, ...)``; a slot is the number of an argument, or (number, conversion, format).
"""

import os

import numpy as np
from numba import njit, objmode

SITES = {}


def message(parts, args):
    """The text of the parts with the values put in."""
    return "".join(p if isinstance(p, str) else _value(p, args) for p in parts)


def _value(slot, args):
    if isinstance(slot, int):
        return str(args[slot])
    if slot[0] == "at":
        return ":".join(str(part) for part in (_shown(slot[1]), *slot[2:])) + ": "
    number, conversion, form = (*slot, "", "")[:3]
    value = args[number]
    if conversion in ("r", ord("r")):
        value = repr(value)
    elif conversion in ("s", ord("s")):
        value = str(value)
    return format(value, form or "")


def _shown(file):
    """The path relative to the working directory, if it lies under it."""
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):
        return file
    return file if relative.startswith("..") else relative


def _make(base):
    class Site(base):
        def __new__(cls, site=0, *args):
            entry = SITES.get(site)
            made = base(message(entry[1:], args)) if entry else base(*args)
            made.site = site
            return made

    Site.__name__ = Site.__qualname__ = f"{base.__name__}_"
    Site.__module__ = __name__
    return Site


ArithmeticError_ = _make(ArithmeticError)
AssertionError_ = _make(AssertionError)
Exception_ = _make(Exception)
FloatingPointError_ = _make(FloatingPointError)
IndexError_ = _make(IndexError)
KeyError_ = _make(KeyError)
LookupError_ = _make(LookupError)
NotImplementedError_ = _make(NotImplementedError)
OverflowError_ = _make(OverflowError)
RuntimeError_ = _make(RuntimeError)
TypeError_ = _make(TypeError)
ValueError_ = _make(ValueError)
ZeroDivisionError_ = _make(ZeroDivisionError)


def show(site, values):
    """What ``print`` of a site writes for these numbers."""
    _, (*arguments, sep, end), kinds = SITES[site]
    plain = [{"b": bool, "i": int, "f": float}[k](v) for k, v in zip(kinds, values)]
    print(*(message(parts, plain) for parts in arguments), sep=sep, end=end)


@njit(error_model="numpy", fastmath=False, cache=True)
def say(site, numbers):
    """Prints from compiled code."""
    values = np.empty(len(numbers))
    for k in range(len(numbers)):
        values[k] = numbers[k]
    with objmode():
        show(site, values)
