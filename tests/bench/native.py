"""Adjoints in C: a source file beside the problem is compiled to a library in a temporary folder and called through ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

FLAGS = ("-O3", "-march=native", "-ffast-math", "-fPIC", "-c")
SOURCES = Path(__file__).parent / "problems" / "c"


class NoCompiler(Exception):
    """There is no C compiler."""


@cache
def library(source: Path) -> ctypes.CDLL:
    """The compiled file; ``CC`` names the compiler, ``cc`` is the default."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise NoCompiler("no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        made, built = (Path(folder) / (source.stem + ending) for ending in (".o", ".so"))
        # linked with -ffast-math, a library makes the whole process flush subnormal numbers to zero
        for command in ([*FLAGS, str(source), "-o", str(made)], ["-shared", str(made), "-o", str(built), "-lm"]):
            subprocess.run([compiler, *command], check=True, capture_output=True)
        return ctypes.CDLL(str(built))


def function(name: str, signature: str, file: str | None = None) -> Callable[..., float]:
    """A function of a C file that returns a double. ``signature`` has one letter for each argument.

    ``p`` is an array, ``i`` a long, ``d`` a double. Arrays are passed by address, so they must be C-ordered float64, or int64.
    """
    call = library(SOURCES / f"{file or name}.c")[name]
    call.restype = ctypes.c_double
    call.argtypes = [{"p": ctypes.c_void_p, "i": ctypes.c_long, "d": ctypes.c_double}[letter] for letter in signature]
    return call


def at(array: np.ndarray) -> Any:
    """The address of an array's first element, for a call; takes half the time of ``array.ctypes.data``."""
    return ctypes.byref(ctypes.c_char.from_buffer(array))
