"""Parallel loops: the iterations become a function of the module, called by the threads of Numba's threading layer.

    for c in prange(chunks): ...   ->   body(first, count, frame): for c in range(first, first + count): ...

``frame`` holds the values that the iterations read from outside. There is at most one chunk for each thread. If there is one
chunk, or the process must not start threads, the function is called directly. The layer and its number of threads are those of
Numba's own parallel loops. The interpreter's lock stays held, so that parallel loops run one after another: one of the layers
ends the process if two run at once. If several chunks raise, the exception of the first one is kept in the frame, and raised
when all have ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transpile.analysis.value_ranges import is_integer
from transpile.codegen.llvm import long_calls
from transpile.codegen.llvm.function_calls import describe
from transpile.codegen.llvm.llvm_values import Scalar, Unsupported, Value
from transpile.codegen.llvm.operands import Operands
from transpile.core import nodes
from transpile.core.walk import statements, uses
from transpile.core.walk import written as changed_by
from transpile.ops.tables import record_of
from transpile_runtime.compiled import threads as layer

# The first fields of a frame: an exception (code and data), the first iteration of the chunk that raised it, a lock for these,
# the thread that has the interpreter's lock, and whether the call is bare (`long_calls`); last the number of these fields.
_CODE, _INFO, _FIRST, _LOCK, _OWNER, _BARE, _FIELDS = range(7)


def loop(written: Operands, stmt: nodes.For) -> None:
    """Writes a parallel loop, its iterations split among threads; `Unsupported` if it carries values or does not start at 0.

    After it an exception of a chunk is raised.
    """
    from llvmlite import ir

    if not isinstance(stmt.start, nodes.Const) or stmt.start.value != 0 or stmt.body.params or stmt.trips is not None:
        raise Unsupported("threads")
    b, given = written.builder, _Given(written, stmt)
    layer.launch()
    written.starts_threads = True
    own = _described(written)
    exception = written.context.call_conv.get_function_type(own.restype, own.argtypes).args[1].pointee
    code = ir.IntType(32)
    number = written.int
    type_ = ir.LiteralStructType([code, exception, number, code, number, number, *(v.type for v in given.passed)])
    body, pooled = _body(written, stmt, own, given, type_), _pooled(written, own, type_)
    frame = written.cell(type_)
    own_thread = b.call(long_calls.outside(written.module, "PyThread_get_thread_ident", written.int), [])
    bare = number(0) if written.watch is None else b.load(long_calls.field(b, written.watch, long_calls.BARE))
    for k, value in enumerate((code(0), exception(None), number(0), code(0), own_thread, bare, *given.passed)):
        b.store(value, written.cgutils.gep_inbounds(b, frame, 0, k))
    chunks = written.index(stmt.bound)
    data = b.bitcast(frame, written.cgutils.voidptr_t)
    is_split = b.and_(b.icmp_signed(">", chunks, written.number(1)), _allowed(written))
    with b.if_else(is_split, likely=True) as (several, one):
        with several:
            _start(written, pooled, chunks, data)
        with one:
            _call(written, own, body, (written.number(0), chunks), frame, data)
    left = b.load(written.cgutils.gep_inbounds(b, frame, 0, _CODE))
    with b.if_then(b.icmp_signed("!=", left, code(0)), likely=False):
        info = b.load(written.cgutils.gep_inbounds(b, frame, 0, _INFO))
        written.pass_on(left, info)


def _is_size(let: nodes.Let) -> bool:
    """Whether the *let* is one that sizes are made of: a sum, a product, a minimum or a maximum."""
    return record_of(let).is_polynomial or bool(record_of(let).extreme)


class _Given:
    """Values from outside that the iterations read; those that are not constants are passed through the frame, in ``passed``.

    Sums of sizes are recomputed inside: with ``m = max(n - 1, 0)`` LLVM knows that a row of ``n`` has room for ``m``. A stack
    among them is `Unsupported`.
    """

    def __init__(self, written: Operands, stmt: nodes.For) -> None:
        changed = (changed_by(s) for s in statements(stmt.body))
        found = dict.fromkeys(op for op in (*uses(stmt.body), *changed) if isinstance(op, nodes.Var))
        if any(op in written.stacks for op in found):
            raise Unsupported("a stack in a parallel loop")
        self.again: dict[nodes.Var, nodes.Let] = {}
        self.values: dict[nodes.Var, Value] = {}
        for op in found:
            self.take(written, op)
        self.passed: list[Any] = []
        self.places: dict[Any, int] = {}
        for value in self.values.values():
            for part in _parts(value):
                if not _is_constant(part) and part not in self.places:
                    self.places[part] = len(self.passed) + _FIELDS
                    self.passed.append(part)

    def take(self, written: Operands, op: nodes.Operand) -> None:
        """Notes an operand as a value to be passed, or, if it is made of sizes, the *let* to be computed again and what that
        reads."""
        if not isinstance(op, nodes.Var) or op not in written.values or op in self.values or op in self.again:
            return
        let = written.lets.get(op)
        if let is None or not _is_size(let) or not all(map(is_integer, (op, *let.args))):
            self.values[op] = written.values[op]
            return
        for a in let.args:
            self.take(written, a)
        self.again[op] = let

    def read(self, inner: Operands, frame: Any) -> None:
        """Binds the values in ``inner``, the writer of the iterations' function, reading them from ``frame``, the address of
        the frame."""
        b = inner.builder
        parts = {p: b.load(inner.cgutils.gep_inbounds(b, frame, 0, k)) for p, k in self.places.items()}
        for op, value in self.values.items():
            inner.values[op] = _with_parts(value, [parts.get(p, p) for p in _parts(value)])
        for let in self.again.values():
            inner.let(let)


def _parts(value: Value) -> list[Any]:
    """The LLVM values that represent a value: its number, or meminfo, data, sizes and strides of an array."""
    if isinstance(value, Scalar):
        return [value.value]
    return [value.meminfo, value.data, *value.sizes, *(value.strides or ())]


def _with_parts(value: Value, parts: Sequence[Any]) -> Value:
    """The value with these parts in place of its own, as `_parts` gives them."""
    if isinstance(value, Scalar):
        return replace(value, value=parts[0])
    rank = len(value.sizes)
    strides = None if value.strides is None else tuple(parts[2 + rank :])
    return replace(value, meminfo=parts[0], data=parts[1], sizes=tuple(parts[2 : 2 + rank]), strides=strides)


def _is_constant(part: Any) -> bool:
    """Whether the LLVM value is a constant or a global, which needs no passing."""
    from llvmlite import ir

    return isinstance(part, (ir.Constant, ir.GlobalValue))


def _described(written: Operands) -> Any:
    """Numba's description of a new function for iterations: it takes two integers and an address, and gives nothing."""
    types = written.types
    name = f"{written.builder.function.name}.chunk{next(written.numbers)}"
    return describe(written.context, name, (types.intp, types.intp, types.voidptr), types.none)


def _body(written: Operands, stmt: nodes.For, own: Any, given: _Given, type_: Any) -> Any:
    """The LLVM function that runs ``count`` iterations of the loop from ``first``; its arguments are these two and the frame.

    ``own`` describes it, ``given`` are the values that the iterations use, ``type_`` is LLVM's type of the frame.
    """
    context = written.context
    inner = type(written)(context, written.typing)
    inner.module, inner.kept, inner.small, inner.scopes = written.module, written.kept, written.small, written.scopes
    inner.apart, inner.is_large = written.apart, written.is_large
    inner.numbers, inner.sites, inner.loc = written.numbers, written.sites, written.loc
    function, (first, count, data) = inner.begin(own)
    function.linkage = "internal"
    function.attributes.add("noinline")
    b = inner.builder
    frame = b.bitcast(data, type_.as_pointer())
    inner.begin_chunk(*(inner.cgutils.gep_inbounds(b, frame, 0, k) for k in (_CODE, _OWNER, _BARE)))
    given.read(inner, frame)
    inner.open()
    limits = nodes.Var("first", stmt.index.type), nodes.Var("last", stmt.index.type)
    for limit, value in zip(limits, (first, b.add(first, count, flags=["nsw"]))):
        inner.values[limit] = inner.cast(Scalar(value, inner.types.intp), inner.types.int64)
    inner.counted(replace(stmt, start=limits[0], bound=limits[1]))
    inner.close()
    context.call_conv.return_value(b, context.get_dummy_value())
    inner.write_exits(own.qualname)
    written.starts_threads |= inner.starts_threads
    return function


def _pooled(written: Operands, own: Any, type_: Any) -> Any:
    """A function with the signature of Numba's threading layer that runs one chunk by calling the one that ``own`` describes.

    What the layer passes as its first argument is the number of the chunk's first iteration.
    """
    from llvmlite import ir

    pointer, number = written.cgutils.voidptr_t, written.int
    kinds = [pointer.as_pointer(), number.as_pointer(), number.as_pointer(), pointer]
    made = ir.Function(written.module, ir.FunctionType(ir.VoidType(), kinds), f"{own.mangled_name}.pooled")
    made.linkage = "internal"
    outside = written.builder
    written.builder = b = ir.IRBuilder(made.append_basic_block("entry"))
    args, sizes, _, data = made.args
    body = written.module.globals[own.mangled_name]
    first = b.ptrtoint(b.load(args), number)
    _call(written, own, body, (first, b.load(sizes)), b.bitcast(data, type_.as_pointer()), data)
    b.ret_void()
    written.builder = outside
    return made


def _call(written: Operands, own: Any, body: Any, trips: Sequence[Any], frame: Any, data: Any) -> None:
    """Writes a call of ``body`` that runs iterations in this thread; ``trips``: the first iteration and their number.

    ``frame`` and ``data`` are the frame's address, typed and untyped. Of all threads' exceptions, that of the first iterations
    stays in the frame.
    """
    b, convention = written.builder, written.context.call_conv
    status, _ = convention.call_function(b, body, own.restype, own.argtypes, [*trips, data])
    with b.if_then(status.is_error, likely=False):
        code, info, first, lock = (written.cgutils.gep_inbounds(b, frame, 0, k) for k in range(_OWNER))
        free, taken = lock.type.pointee(0), lock.type.pointee(1)
        wait, go_on = (b.function.append_basic_block(n) for n in ("wait", "alone"))
        b.branch(wait)
        b.position_at_end(wait)
        b.cbranch(b.extract_value(b.cmpxchg(lock, free, taken, "seq_cst", "seq_cst"), 1), go_on, wait)
        b.position_at_end(go_on)
        has_none = b.icmp_signed("==", b.load(code), status.code.type(0))
        with b.if_else(b.or_(has_none, b.icmp_signed("<", trips[0], b.load(first)))) as (is_first, is_later):
            with is_first:
                with b.if_then(b.not_(has_none)):
                    _forget(written, b.load(code), b.load(info))
                for place, value in ((code, status.code), (info, status.excinfoptr), (first, trips[0])):
                    b.store(value, place)
            with is_later:
                _forget(written, status.code, status.excinfoptr)
        b.atomic_rmw("xchg", lock, free, "seq_cst")


def _forget(written: Operands, code: Any, info: Any) -> None:
    """Frees the memory of an exception, given by its status ``code`` and ``info``, that is not raised."""
    from numba.core import callconv

    with written.builder.if_then(written.builder.icmp_signed("==", code, callconv.RETCODE_USEREXC)):
        written.context.call_conv.forget(written.builder, info)


def _allowed(written: Operands) -> Any:
    """A bit, read at run time: whether the process may start threads, which it may not after it was forked."""
    from llvmlite import ir

    found = written.module.globals.get(layer.ALLOWED)
    if found is None:
        found = ir.GlobalVariable(written.module, written.int, layer.ALLOWED)
        found.linkage = "external"
    return written.builder.icmp_signed("!=", written.builder.load(found), written.int(0))


def _start(written: Operands, pooled: Any, chunks: Any, data: Any) -> None:
    """Writes a call of the threading layer that runs ``chunks`` iterations by ``pooled`` on its threads and waits for all."""
    from llvmlite import ir

    b, pointer, number = written.builder, written.cgutils.voidptr_t, written.int
    insert = written.cgutils.get_or_insert_function
    active = insert(written.module, ir.FunctionType(number, []), layer.ACTIVE)
    run = insert(written.module, ir.FunctionType(ir.VoidType(), [pointer] * 5 + [number] * 3), layer.RUN)
    args, sizes, steps = written.cell(pointer), written.cell(number), written.cell(ir.ArrayType(number, 2))
    b.store(pointer(None), args)
    b.store(chunks, sizes)
    # the step of the address between iterations; arguments have no inner sizes
    b.store(ir.ArrayType(number, 2)([1, 0]), steps)
    cells = [b.bitcast(c, pointer) for c in (args, sizes, steps)]
    # numbers of inner dimensions, arguments, threads
    counts = (written.number(0), written.number(1), b.call(active, []))
    b.call(run, [b.bitcast(pooled, pointer), *cells, data, *counts])
