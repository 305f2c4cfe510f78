"""BLAS and LAPACK by name: addresses in the library that NumPy or SciPy has loaded, and intrinsics that call them.

Importing this module always registers every address with LLVM: code from the disk cache calls the names. The routines are
Fortran's, so that all arguments are pointers. Integers are 64 bits wide and zero-extended, which on a little-endian machine
also serves a library with 32-bit integers.
"""

import ctypes
import importlib.machinery
import importlib.util
import inspect
import sys
from pathlib import Path

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

_BLAS = ("gemm", "gemv", "syrk", "trsm")
_LAPACK = ("gesv", "getrf", "potrf", "syevd", "syevr", "gesdd", "geqrf", "orgqr", "gelsd")
_LETTERS = {types.float64: "d", types.float32: "s"}
_THREADS = "transpile.blas_threads"
_INT, _POINTER = ir.IntType(64), ir.IntType(8).as_pointer()


# ---------------------------------------------------------------------------------------------------- addresses


def _numpy_library():
    """The loaded library through which the routines of NumPy's linear algebra are found: its extension module, which links to
    the others; on Windows OpenBLAS itself, or None."""
    from numpy.linalg import _umath_linalg

    if sys.platform == "win32":  # there a lookup finds only a library's own names
        found = sorted(Path(np.__file__).parent.parent.glob("numpy.libs/*openblas*.dll"))
        return ctypes.CDLL(str(found[0])) if found else None
    return ctypes.CDLL(_umath_linalg.__file__)


def _in_numpy(library, name):
    """The address of a routine in ``library``, under one of the names that builds of OpenBLAS and others give it; None if it
    lacks it."""
    for pattern in ("scipy_{}_64_", "{}_64_", "scipy_{}_", "{}_", "{}"):
        found = getattr(library, pattern.format(name), None)
        if found is not None:
            return ctypes.cast(found, ctypes.c_void_p).value
    return None


def _in_scipy(name, kind):
    """The address of a routine in SciPy's ``cython_blas`` or ``cython_lapack`` (``kind``); only this module is loaded, not all
    of ``scipy.linalg``."""
    module = f"scipy.linalg.cython_{kind}"
    if module not in sys.modules:
        folder = Path(importlib.util.find_spec("scipy").origin).parent / "linalg"
        finder = importlib.machinery.PathFinder.find_spec(f"cython_{kind}", [str(folder)])
        loader = importlib.machinery.ExtensionFileLoader(module, finder.origin)
        spec = importlib.machinery.ModuleSpec(module, loader, origin=finder.origin)
        sys.modules[module] = importlib.util.module_from_spec(spec)
        loader.exec_module(sys.modules[module])
    return get_cython_function_address(module, name)


@ctypes.CFUNCTYPE(ctypes.c_int)
def _nobody_knows():
    return 0


def _count_of_threads(library):
    """The address of the C function that returns BLAS's number of threads; of one that returns 0 if ``library`` is not NumPy's
    OpenBLAS."""
    patterns = ("scipy_openblas_{}64_", "openblas_{}64_", "scipy_openblas_{}", "openblas_{}")
    found = (getattr(library, pattern.format("get_num_threads"), None) for pattern in patterns)
    known = next((f for f in found if f is not None), None) if _in_numpy(library, "dgemm") else None
    return ctypes.cast(_nobody_knows if known is None else known, ctypes.c_void_p).value


def _register():
    """Registers with LLVM the addresses of all routines, for both letters, and of the function for the number of BLAS's
    threads."""
    library = _numpy_library()
    binding.add_symbol(_THREADS, _count_of_threads(library))
    for kind, names in (("blas", _BLAS), ("lapack", _LAPACK)):
        for name in (f"{letter}{name}" for name in names for letter in "ds"):
            address = _in_numpy(library, name) or _in_scipy(name, kind)
            binding.add_symbol(f"transpile.{name}", address)


_register()


# --------------------------------------------------------------------------------------------------- intrinsics


@intrinsic
def blas_threads(context):
    """The current number of threads of BLAS; 0 if unknown."""

    def generate(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(32), [])
        return builder.sext(builder.call(cgutils.get_or_insert_function(builder.module, kind, _THREADS), []), _INT)

    return types.int64(), generate


def routine(name, parameters):
    """The intrinsic that calls the routine ``name`` for float64 or float32, by the dtype of its arrays; its arguments are the
    names in ``parameters``, a text.

    A parameter in capitals is an option, passed as the number of its letter. ``info`` is not passed: it is the result of the
    call.
    """
    given = parameters.split()
    taken = [p for p in given if p != "info"]

    def typed(context, *args):
        arrays = {a.dtype for a in args if isinstance(a, types.Array) and a.dtype in _LETTERS}
        if len(arrays) != 1:
            return None
        (real,) = arrays
        kinds = [
            a if isinstance(a, types.Array) else types.int64 if isinstance(a, types.Integer) else real for a in args
        ]
        result = types.int64 if "info" in given else types.void
        return result(*kinds), _caller(f"transpile.{_LETTERS[real]}{name}", given)

    form = inspect.Parameter.POSITIONAL_OR_KEYWORD
    typed.__signature__ = inspect.Signature([inspect.Parameter(p, form) for p in ("context", *taken)])
    typed.__name__ = name
    return intrinsic(typed)


def _caller(symbol, given):
    """The function by which Numba generates a call of the routine ``symbol`` with the parameters ``given``, each passed by its
    address."""

    def generate(context, builder, signature, args):
        def pointer(kind, value):
            if isinstance(kind, types.Array):
                value = context.make_array(kind)(context, builder, value).data
                return builder.bitcast(value, _POINTER)
            place = cgutils.alloca_once(builder, value.type)
            builder.store(value, place)
            return builder.bitcast(place, _POINTER)

        info = cgutils.alloca_once(builder, _INT)
        builder.store(_INT(0), info)
        values = iter(zip(signature.args, args))
        passed = [builder.bitcast(info, _POINTER) if p == "info" else pointer(*next(values)) for p in given]
        lengths = [_INT(1) for p in given if p.isupper()]  # lengths of the options, which are Fortran strings
        kinds = [_POINTER] * len(passed) + [_INT] * len(lengths)
        kind = ir.FunctionType(ir.VoidType(), kinds)
        builder.call(cgutils.get_or_insert_function(builder.module, kind, symbol), passed + lengths)
        if signature.return_type == types.void:
            return context.get_dummy_value()
        return builder.sext(builder.trunc(builder.load(info), ir.IntType(32)), _INT)

    return generate
