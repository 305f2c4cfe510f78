"""Memory with guard pages, in compiled code that calls the C library and does not need Python's lock.

Each block of memory is a mapping of its own. The pages before and after the data cannot be accessed; the data lie at the end of
their pages, or at the start; the rest of the pages holds a filling, which is checked when the memory is freed. After that the
mapping stays for a while, inaccessible.

    | size, pages |  guard  | filling, data (or data, filling) |  guard  |
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

END, START = range(2)  # the position of the data in their pages
MODE, FILLING, COUNT, FAILS, EVER, LIVE, DAMAGED, NEXT = range(8)  # indices into STATE
PAGE, KEPT = 4096, 4096
STATE = np.zeros(8 + 2 * KEPT, np.int64)  # after the numbers, the freed mappings
_AT = STATE.ctypes.data
_READ, _WRITE, _PRIVATE, _ANONYMOUS, _NO_RESERVE = 1, 2, 2, 0x20, 0x4000
_MOST = 2**28  # bytes; larger requests fail, since all memory is filled

_int, _i32 = types.int64, types.int32
_mmap = types.ExternalFunction("mmap", _int(_int, _int, _i32, _i32, _i32, _int))
_munmap = types.ExternalFunction("munmap", _i32(_int, _int))
_mprotect = types.ExternalFunction("mprotect", _i32(_int, _int, _i32))
_memset = types.ExternalFunction("memset", _int(_int, _i32, _int))
_memcpy = types.ExternalFunction("memcpy", _int(_int, _int, _int))


def _instruction(result, count, write):
    """An intrinsic of ``count`` integers; ``write`` gets the builder, the first integer as a pointer, and the others."""
    word = ir.IntType(64)

    def typed(context, *given):
        def generate(context, builder, signature, args):
            found = write(builder, builder.inttoptr(args[0], word.as_pointer()), *args[1:])
            return context.get_dummy_value() if result is types.void else found

        return result(*[_int] * count), generate

    if count == 1:
        return intrinsic(lambda typingctx, address: typed(typingctx, address))
    return intrinsic(lambda typingctx, address, value: typed(typingctx, address, value))


load = _instruction(_int, 1, lambda b, p: b.load(p))
store = _instruction(types.void, 2, lambda b, p, v: b.store(v, p))
load_byte = _instruction(_int, 1, lambda b, p: b.zext(b.load(b.bitcast(p, ir.IntType(8).as_pointer())), ir.IntType(64)))
added = _instruction(_int, 2, lambda b, p, v: b.atomic_rmw("add", p, v, "seq_cst"))
exchanged = _instruction(_int, 2, lambda b, p, v: b.atomic_rmw("xchg", p, v, "seq_cst"))


@njit
def state(place):
    return load(_AT + 8 * place)


@njit
def add(place, value):
    return added(_AT + 8 * place, value)


@njit
def is_refused(size):
    """Whether this request fails (``FAILS``; with ``EVER`` all later ones do), or asks for too much."""
    number, fails = add(COUNT, 1), state(FAILS)
    return number == fails or (number > fails >= 0 and state(EVER) != 0) or size < 0 or size > _MOST


@njit
def given(size):
    """The address of new memory; 0 if it is refused."""
    if is_refused(size):
        return 0
    found = _guarded(size)
    if found != 0:
        add(LIVE, 1)
    return found


@njit
def _guarded(size):
    pages = max((size + PAGE - 1) // PAGE, 1)
    base = _mmap(0, (pages + 3) * PAGE, _i32(_READ | _WRITE), _i32(_PRIVATE | _ANONYMOUS | _NO_RESERVE), _i32(-1), 0)
    if base == -1:
        return 0
    store(base, size)
    store(base + 8, pages)
    store(base + 16, state(FILLING))
    start, end = base + 2 * PAGE, base + (2 + pages) * PAGE
    _memset(start, _i32(state(FILLING)), pages * PAGE)
    _mprotect(base + PAGE, PAGE, _i32(0))
    _mprotect(end, PAGE, _i32(0))
    return start if state(MODE) == START else end - (size if size > 0 else 16)


@njit
def renewed(address, size):
    """Reallocates memory, as ``realloc`` does."""
    if address == 0:
        return given(size)
    found = given(size)
    if found != 0:
        _memcpy(found, address, min(size, load(_base(address))))
        taken(address)
    return found


@njit
def _base(address):
    return address // PAGE * PAGE - 2 * PAGE


@njit
def taken(address):
    """Frees memory."""
    if address == 0:
        return
    add(LIVE, -1)
    base = _base(address)
    size, pages, filling = load(base), load(base + 8), load(base + 16)
    start, end = base + 2 * PAGE, base + (2 + pages) * PAGE
    for place in range(start, address):
        if load_byte(place) != filling:
            add(DAMAGED, 1)
    for place in range(address + size, end):
        if load_byte(place) != filling:
            add(DAMAGED, 1)
    whole = (pages + 3) * PAGE
    _mprotect(base, whole, _i32(0))
    place = _AT + 8 * (8 + 2 * (add(NEXT, 1) % KEPT))
    old, length = exchanged(place, base), exchanged(place + 8, whole)
    if old != 0:
        _munmap(old, length)
