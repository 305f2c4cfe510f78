"""Activity: which variables carry a derivative.

*Varied*: depends on a differentiated input, through steps that have a derivative. *Useful*: a differentiated result depends on
it. *Active*: both. Buffers and stacks count as a whole, whatever the time.

>>> # y = floor(x) is not varied, since the derivative of floor is zero; n = x.shape[0] is not, since it is an integer
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transpile.core import nodes as ir
from transpile.core.functions import is_custom
from transpile.core.walk import blocks, statements
from transpile.ops.record import ZERO, Op
from transpile.ops.tables import prims, record_of

Edge = tuple[ir.Operand, ir.Var]  # the second depends on the first


def carries_derivative(operand: ir.Operand) -> bool:
    """Whether the operand's type can carry a derivative: floating point, or a tuple with such an item."""
    type_ = operand.type
    return type_.is_float or any(t.is_float for t in type_.items)


def differentiable_args(prim: Op, args: tuple[ir.Operand, ...]) -> Iterator[ir.Operand]:
    """Those of the operands ``args`` that can carry a derivative and in which the derivative of ``prim`` is not zero
    everywhere."""
    if prim.elementwise:
        for arg, partial in zip(args, prim.partials):
            if partial is not ZERO and carries_derivative(arg):
                yield arg
    elif prim.jvp is not ZERO:
        yield from (a for a in args if carries_derivative(a))


def edges(block: ir.Block) -> Iterator[Edge]:
    """Pairs of an operand and a variable whose derivative depends on it, in a block and its nested blocks.

    Steps whose derivative is zero are left out. Pairs of other statements than *lets* and allocations may also have operands or
    variables that carry no derivative.
    """
    table = prims()
    for stmt in block.stmts:
        yield from _edges(stmt, table)
        for inner in blocks(stmt):
            yield from edges(inner)


def _edges(stmt: ir.Stmt, table: dict[str, Op]) -> Iterator[Edge]:
    """The pairs of `edges` that the statement itself makes, without nested blocks."""
    match stmt:
        case ir.Let() | ir.Alloc():
            if carries_derivative(stmt.var):
                yield from ((a, stmt.var) for a in differentiable_args(table[stmt.prim], stmt.args))
        case ir.Store() | ir.Add():
            yield stmt.value, stmt.buf
        case ir.Push():
            yield stmt.value, stmt.stack
        case ir.Pop():
            yield stmt.stack, stmt.var
        case ir.Call():
            outs = stmt.results[: stmt.custom.outputs] if is_custom(stmt) else stmt.results
            for arg in stmt.args:
                yield from ((arg, r) for r in outs)
        case ir.If():
            for result, a, b in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                yield a, result
                yield b, result
        case ir.For() | ir.While():
            loop_params = [stmt.body.params] if isinstance(stmt, ir.For) else [stmt.body.params, stmt.test.params]
            for k, (init, out, result) in enumerate(zip(stmt.inits, stmt.body.yields, stmt.results)):
                for params in loop_params:
                    yield init, params[k]
                    yield out, params[k]
                yield init, result
                yield out, result


def active(fn: ir.Function, wrt: Iterable[ir.Var], results: Iterable[ir.Operand]) -> set[ir.Var]:
    """The variables of ``fn`` that depend on ``wrt`` and on which ``results`` depend, both through steps that have a
    derivative."""
    forward: dict[ir.Var, list[ir.Var]] = {}
    backward: dict[ir.Var, list[ir.Var]] = {}
    for source, target in edges(fn.body):
        if isinstance(source, ir.Var) and carries_derivative(source) and carries_derivative(target):
            forward.setdefault(source, []).append(target)
            backward.setdefault(target, []).append(source)
    varied = _reach(wrt, forward)
    useful = _reach((r for r in results if isinstance(r, ir.Var) and carries_derivative(r)), backward)
    return {v for v in varied if v in useful}


def is_stopped(fn: ir.Function, wrt: Iterable[ir.Var]) -> bool:
    """Whether ``fn`` applies ``stop_gradient`` to a value that depends on the variables ``wrt``."""
    stops = [s for s in statements(fn.body) if isinstance(s, ir.Let) and record_of(s).hides]
    hidden = [a for s in stops for a in s.args]
    reached = active(fn, wrt, hidden)
    return any(a in reached for a in hidden)


def _reach(roots: Iterable[ir.Var], graph: dict[ir.Var, list[ir.Var]]) -> dict[ir.Var, None]:
    """The roots and all variables that can be reached from them in ``graph``, as keys in the order in which they were found."""
    found: dict[ir.Var, None] = dict.fromkeys(roots)
    queue = list(found)
    while queue:
        for target in graph.get(queue.pop(), ()):
            if target not in found:
                found[target] = None
                queue.append(target)
    return found
