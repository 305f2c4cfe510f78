"""Long calls release the interpreter's lock for other threads, and respond to Ctrl-C.

A call counts down an estimate of its work: the statements of each iteration, matrix products. When it has done enough, it
polls: may another thread run, has a signal arrived? Its state is the *watch*, memory in the frame of the call from Python,
whose address is the last argument of all functions of the module.

    left     work until the next poll; a kept function returns the rest to its caller
    thread   the state of this thread while it has released the lock, else NULL
    due      when the lock is next taken back to look for signals, in ns of a monotonic clock
    bare     1 if the call relies on the contents of arrays that are not its own (`transpile.codegen.llvm.wrapper`), else 0
    asked    1 after the first poll

Only the main thread receives signals: other threads take the lock back only when they are done. If there is no other thread,
the lock is not released. A bare call keeps the lock and runs no handler of a signal, which might write to its arrays: it ends
at Ctrl-C unless that has a handler of its own; all other handlers run when the call has ended.
"""

from __future__ import annotations

import sys
from typing import Any

FIRST = 2**16  # work before the first poll: 10 to 30 µs
NEXT = 2**21  # work before each later poll
TRIPS = 256  # the iterations of a piece of a loop are a multiple of this
PAUSE = 50_000_000  # ns between two checks for a signal
POLL, POLL_TOGETHER, INTERRUPT, SEVERAL, CLOCK = (
    "transpile.poll",
    "transpile.poll_together",
    "transpile.interrupt",
    "transpile.several",
    "transpile.clock",
)
LEFT, THREAD, DUE, BARE, ASKED = range(5)
NEVER = 2**62
_SIGINT = 2
_MONOTONIC = 6 if sys.platform == "darwin" else 1


def types() -> tuple[Any, Any, Any]:
    """LLVM's types of a 64-bit number, an address, and the watch."""
    from llvmlite import ir

    number, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
    return number, pointer, ir.LiteralStructType([number, pointer, number, number, number])


def begin(builder: Any, watch: Any, bare: Any) -> None:
    """Writes the initialisation of the watch at this address; ``bare``: its field, an LLVM number 1 or 0."""
    number, pointer, _ = types()
    for k, value in (
        (LEFT, number(FIRST)),
        (THREAD, pointer(None)),
        (DUE, number(0)),
        (BARE, bare),
        (ASKED, number(0)),
    ):
        builder.store(value, field(builder, watch, k))


def field(builder: Any, watch: Any, k: int) -> Any:
    """The address of field ``k`` of the watch, or of another structure."""
    from llvmlite import ir

    return builder.gep(watch, [ir.IntType(32)(0), ir.IntType(32)(k)], inbounds=True)


def outside(module: Any, name: str, result: Any, *args: Any) -> Any:
    """A function of the interpreter or of the C library, declared in the module if it is not yet.

    ``result`` and ``args`` are LLVM's types of its result and its arguments.
    """
    from llvmlite import ir
    from numba.core import cgutils

    return cgutils.get_or_insert_function(module, ir.FunctionType(result, args), name)


def rare(function: Any, *attributes: str) -> None:
    """Marks a function of this module as rarely run, so that LLVM does not optimise it, and gives it the other ``attributes``.

    Every program has these functions; optimising them took a third of the compile time of a small one.
    """
    for attribute in ("noinline", "optnone", "cold", *attributes):
        function.attributes.add(attribute)


def poll(module: Any, gives: bool) -> Any:
    """The polling function of this module, which takes a watch: its result is 0 if the handler of a signal has raised, else 1.

    With ``gives`` it may release the lock. It is written at first use; later ``gives`` has no effect.
    """
    from llvmlite import ir

    found = module.globals.get(POLL)
    if found is not None:
        return found
    number, pointer, watch_type = types()
    found = ir.Function(module, ir.FunctionType(number, [watch_type.as_pointer()]), POLL)
    found.linkage = "internal"
    # handlers of signals do not change what a loop has loaded: LLVM may keep that in registers
    rare(found, "nounwind", "inaccessiblemem_or_argmemonly")
    (watch,) = found.args
    b = ir.IRBuilder(found.append_basic_block("entry"))
    thread, due = field(b, watch, THREAD), field(b, watch, DUE)
    b.store(number(NEXT), field(b, watch, LEFT))
    b.store(number(1), field(b, watch, ASKED))
    state = b.load(thread)
    away, here, ask, raised, give, done, listen = (
        b.append_basic_block(n) for n in ("away", "here", "ask", "raised", "give", "done", "listen")
    )
    b.cbranch(b.icmp_unsigned("==", state, pointer(None)), ask, away)

    b.position_at_end(away)  # the lock is released, and is taken back only from time to time
    b.cbranch(b.icmp_signed("<", b.call(_clock(module), []), b.load(due)), done, here)
    b.position_at_end(here)
    b.call(outside(module, "PyEval_RestoreThread", ir.VoidType(), pointer), [state])
    b.store(pointer(None), thread)
    b.branch(ask)

    b.position_at_end(ask)
    with b.if_then(b.icmp_unsigned("!=", b.load(field(b, watch, BARE)), number(0))):
        b.cbranch(_is_interrupted(module, b, watch), raised, done)
    b.branch(listen)
    b.position_at_end(listen)
    signalled = b.call(outside(module, "PyErr_CheckSignals", ir.IntType(32)), [])
    b.cbranch(b.icmp_signed("!=", signalled, ir.IntType(32)(0)), raised, give)
    b.position_at_end(raised)
    b.ret(number(0))

    b.position_at_end(give)
    if gives:
        others = b.call(several(module), [])
        with b.if_then(b.icmp_unsigned("!=", others, number(0)), likely=False):
            pause = b.select(b.icmp_unsigned("==", others, number(1)), number(PAUSE), number(NEVER))
            now = b.call(_clock(module), [])
            b.store(b.add(now, pause), due)
            b.store(b.call(outside(module, "PyEval_SaveThread", pointer), []), thread)
    b.branch(done)
    b.position_at_end(done)
    b.ret(number(1))
    return found


def poll_together(module: Any) -> Any:
    """The polling function of this module for chunks of a parallel loop; its result is 0 if the chunk must end, else 1.

    It takes the chunk's watch and the addresses of an exception's code and of the identity of the lock's owner, which the
    threads share. The owner receives signals, and an exception that a handler raises ends the other threads too.
    """
    from llvmlite import ir
    from numba.core.callconv import RETCODE_EXC

    found = module.globals.get(POLL_TOGETHER)
    if found is not None:
        return found
    number, _, watch_type = types()
    code_type = ir.IntType(32)
    kinds = [watch_type.as_pointer(), code_type.as_pointer(), number.as_pointer()]
    found = ir.Function(module, ir.FunctionType(number, kinds), POLL_TOGETHER)
    found.linkage = "internal"
    rare(found, "nounwind", "inaccessiblemem_or_argmemonly")
    watch, code, owner = found.args
    b = ir.IRBuilder(found.append_basic_block("entry"))
    b.store(number(NEXT), field(b, watch, LEFT))
    left = b.load_atomic(code, "monotonic", 4)
    with b.if_then(b.icmp_signed("==", left, RETCODE_EXC), likely=False):
        b.ret(number(0))
    own = b.call(outside(module, "PyThread_get_thread_ident", number), [])
    with b.if_then(b.icmp_unsigned("==", own, b.load(owner)), likely=False):
        with b.if_then(b.icmp_unsigned("!=", b.load(field(b, watch, BARE)), number(0))):
            b.ret(b.select(_is_interrupted(module, b, watch), number(0), number(1)))
        signalled = b.call(outside(module, "PyErr_CheckSignals", code_type), [])
        with b.if_then(b.icmp_signed("!=", signalled, code_type(0)), likely=False):
            b.ret(number(0))
    b.ret(number(1))
    return found


def _is_interrupted(module: Any, builder: Any, watch: Any) -> Any:
    """A bit: whether a bare call must end, as Ctrl-C has raised. If another handler waits for its end, it does not poll
    again."""
    number, _, _ = types()
    found = builder.call(_interrupt(module), [])
    with builder.if_then(builder.icmp_signed("<", found, number(0)), likely=False):
        builder.store(number(NEVER), field(builder, watch, LEFT))
    return builder.icmp_signed(">", found, number(0))


def _interrupt(module: Any) -> Any:
    """The function of this module that looks for Ctrl-C only; written at first use.

    Its result is 1 if it has raised KeyboardInterrupt, -1 if a handler must wait, else 0. It runs no Python code.
    """
    from llvmlite import ir
    from numba.core import cgutils

    found = module.globals.get(INTERRUPT)
    if found is not None:
        return found
    number, pointer, _ = types()
    code, nothing = ir.IntType(32), ir.VoidType()
    found = ir.Function(module, ir.FunctionType(number, []), INTERRUPT)
    found.linkage = "internal"
    rare(found, "nounwind")
    b = ir.IRBuilder(found.append_basic_block("entry"))

    def text(value: str) -> Any:
        return b.bitcast(
            cgutils.global_constant(b, "transpile.text", cgutils.make_bytearray(value.encode() + b"\0")), pointer
        )

    def forget(value: Any) -> None:
        b.call(outside(module, "Py_DecRef", nothing, pointer), [value])  # accepts NULL

    came = b.call(outside(module, "PyOS_InterruptOccurred", code), [])
    with b.if_then(b.icmp_signed("==", came, code(0)), likely=True):
        b.ret(number(0))
    signals = b.call(outside(module, "PyImport_ImportModule", pointer, pointer), [text("_signal")])
    with b.if_then(b.icmp_unsigned("!=", signals, pointer(None))):
        own = b.call(
            outside(module, "PyObject_GetAttrString", pointer, pointer, pointer), [signals, text("default_int_handler")]
        )
        ask = cgutils.get_or_insert_function(
            module, ir.FunctionType(pointer, [pointer] * 3, var_arg=True), "PyObject_CallMethod"
        )
        handler = b.call(ask, [signals, text("getsignal"), text("i"), code(_SIGINT)])
        is_usual = b.and_(b.icmp_unsigned("==", own, handler), b.icmp_unsigned("!=", own, pointer(None)))
        for value in (own, handler):
            forget(value)
        with b.if_then(is_usual):
            b.call(ask, [signals, text("default_int_handler"), text("iz"), code(_SIGINT), pointer(None)])
            forget(signals)
            b.ret(number(1))
        forget(signals)
    b.call(outside(module, "PyErr_Clear", nothing), [])
    b.call(outside(module, "PyErr_SetInterrupt", nothing), [])
    b.ret(number(-1))
    return found


def several(module: Any) -> Any:
    """The function of this module that looks for other threads of the interpreter; written at first use.

    Its result is 0 if there are none, 1 if this is the first one, which receives signals, else 2. The interpreter's list of
    threads ends with the first one.
    """
    from llvmlite import ir

    found = module.globals.get(SEVERAL)
    if found is not None:
        return found
    number, pointer, _ = types()
    found = ir.Function(module, ir.FunctionType(number, []), SEVERAL)
    found.linkage = "internal"
    rare(found)
    entry, walk, last, one, more = (found.append_basic_block(n) for n in ("entry", "walk", "last", "one", "more"))
    b = ir.IRBuilder(entry)
    interpreter = b.call(outside(module, "PyInterpreterState_Get", pointer), [])
    head = b.call(outside(module, "PyInterpreterState_ThreadHead", pointer, pointer), [interpreter])
    b.branch(walk)
    b.position_at_end(walk)
    at, count = b.phi(pointer), b.phi(number)
    after = b.call(outside(module, "PyThreadState_Next", pointer, pointer), [at])
    counted = b.add(count, number(1))
    for phi, first, later in ((at, head, after), (count, number(0), counted)):
        phi.add_incoming(first, entry)
        phi.add_incoming(later, walk)
    b.cbranch(b.icmp_unsigned("==", after, pointer(None)), last, walk)
    b.position_at_end(last)
    b.cbranch(b.icmp_unsigned("==", counted, number(1)), one, more)
    b.position_at_end(one)
    b.ret(number(0))
    b.position_at_end(more)
    own = b.call(outside(module, "PyThreadState_Get", pointer), [])
    b.ret(b.select(b.icmp_unsigned("==", own, at), number(1), number(2)))
    return found


def _clock(module: Any) -> Any:
    """The function of this module that gives a monotonic time in ns; written at first use."""
    from llvmlite import ir

    found = module.globals.get(CLOCK)
    if found is not None:
        return found
    number, _, _ = types()
    found = ir.Function(module, ir.FunctionType(number, []), CLOCK)
    found.linkage = "internal"
    rare(found)
    b = ir.IRBuilder(found.append_basic_block("entry"))
    if sys.platform == "win32":
        b.ret(b.mul(b.call(outside(module, "GetTickCount64", number), []), number(1_000_000)))
        return found
    time = ir.LiteralStructType([number, number])
    place = b.alloca(time)
    b.call(outside(module, "clock_gettime", ir.IntType(32), ir.IntType(32), time.as_pointer()),
           [ir.IntType(32)(_MONOTONIC), place])  # fmt: skip
    seconds, rest = (b.load(field(b, place, k)) for k in (0, 1))
    b.ret(b.add(b.mul(seconds, number(10**9)), rest))
    return found


def end(builder: Any, module: Any, watch: Any) -> None:
    """Writes code that takes Python's lock back if the watch has released it."""
    from llvmlite import ir

    _, pointer, _ = types()
    state = builder.load(field(builder, watch, THREAD))
    with builder.if_then(builder.icmp_unsigned("!=", state, pointer(None)), likely=False):
        builder.call(outside(module, "PyEval_RestoreThread", ir.VoidType(), pointer), [state])
