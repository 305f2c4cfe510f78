"""Replaces the allocators of Numba and NumPy, permanently, in a process that has not compiled anything yet."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding
from numba import cfunc, types
from numba.core.registry import cpu_target
from numba.core.runtime import _nrt_python, rtsys

from guards import memory

_int, _i32 = types.int64, types.int32
_DATA, _SIZE = 24, 32  # offsets of fields in the reference count header: see NRT's ``struct MemInfo``
_counted = types.ExternalFunction("transpile_tests_counted", _int(_int, _int))
_alive: list[Any] = []


@cfunc("void(int64, int64, int64)")
def _left(address, size, info):
    memory.taken(address)


def _under(name: str, address: int) -> None:
    binding.add_symbol(name, address)


def install(mode: int, filling: int = 0xFF) -> None:
    """From now on compiled code gets memory of this kind; NumPy only inside `numpy_too`."""
    rtsys.initialize(cpu_target.target_context)
    memory.STATE[:8] = 0
    memory.STATE[memory.MODE], memory.STATE[memory.FILLING], memory.STATE[memory.FAILS] = mode, filling, -1
    _under("transpile_tests_counted", _nrt_python.c_helpers["MemInfo_alloc_dtor"])
    left = _left.address

    @cfunc("int64(int64, int32)")  # alignment makes code faster; code does not rely on it
    def aligned(size, alignment):
        address = memory.given(size)
        if address == 0:
            return 0
        counter = _counted(8, left)
        memory.store(counter + _DATA, address)
        memory.store(counter + _SIZE, size)
        return counter

    @cfunc("int64(int64)")
    def given(size):
        return memory.given(size)

    @cfunc("int64(int64, int64)")
    def renewed(address, size):
        return memory.renewed(address, size)

    @cfunc("void(int64)")
    def taken(address):
        memory.taken(address)

    _alive.extend((aligned, given, renewed, taken))
    for name, function in (
        ("NRT_MemInfo_alloc_aligned", aligned), ("NRT_MemInfo_alloc", aligned), ("NRT_Allocate", given), ("NRT_Free", taken),
        ("PyMem_RawRealloc", renewed), ("PyMem_RawFree", taken),
    ):  # fmt: skip
        _under(name, function.address)


# -------------------------------------------------------------------------------------------------------- NumPy


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler``, version 1."""

    _fields_ = (
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p), ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p), ("free", ctypes.c_void_p),
    )  # fmt: skip


_SET_HANDLER = 304  # the index of PyDataMem_SetHandler in NumPy's table of functions


def _handler() -> Any:
    @cfunc("int64(int64, int64)")
    def malloc(context, size):
        return memory.given(size)

    @cfunc("int64(int64, int64, int64)")
    def calloc(context, count, size):
        found = memory.given(count * size)
        if found != 0:
            memory._memset(found, _i32(0), count * size)
        return found

    @cfunc("int64(int64, int64, int64)")
    def realloc(context, address, size):
        return memory.renewed(address, size)

    @cfunc("void(int64, int64, int64)")
    def free(context, address, size):
        memory.taken(address)

    functions = (malloc, calloc, realloc, free)
    made = _Handler(b"guarded", 1, None, *(f.address for f in functions))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    _alive.extend((*functions, made))
    return new(ctypes.addressof(made), b"mem_handler", None)


def _set_handler() -> Any:
    from numpy._core import _multiarray_umath

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(pointer(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])


@contextmanager
def numpy_too() -> Iterator[None]:
    """A context in which NumPy's arrays get such memory as well: arguments, results, and results passed in to be filled."""
    if not hasattr(numpy_too, "handler"):
        numpy_too.handler = _handler()  # type: ignore[attr-defined]
    change = _set_handler()
    before = change(numpy_too.handler)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        change(before)


@contextmanager
def filled(mode: int, filling: int) -> Iterator[None]:
    """A context in which all new memory, NumPy's too, is of this kind."""
    before = memory.STATE[memory.MODE], memory.STATE[memory.FILLING]
    with numpy_too():
        memory.STATE[memory.MODE], memory.STATE[memory.FILLING] = mode, filling
        try:
            yield
        finally:
            memory.STATE[memory.MODE], memory.STATE[memory.FILLING] = before
