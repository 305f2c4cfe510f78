"""The user's own derivatives (`custom_jvp`, `custom_vjp`): how a `Call` is differentiated, and how it is expanded.

A `Call` is opaque to activity analysis, recording and dead-code elimination. Forward mode replaces it by the user's rule.
Reverse mode puts the user's pullback into the reverse sweep; if the derivative is differentiated again, the values that the
pullback reads of the call are computed by ordinary statements. Remaining calls are expanded before rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from transpile.analysis.activity import active, carries_derivative
from transpile.core import nodes as ir
from transpile.core.builder import Builder
from transpile.core.functions import is_again, is_custom
from transpile.core.inline import splice
from transpile.core.rebuild import of_outputs, with_blocks, with_body, with_results, with_stmts
from transpile.core.walk import Cloner, blocks, first_read, leaves, map_operands, reads, statements, uses
from transpile.errors import error
from transpile.ops.slicing import raise_if
from transpile.ops.tables import prims, record_of

Place = Callable[[Builder, ir.Call], Sequence[ir.Operand] | None]
"""Gives other operands for the results of a call; None if the call stays."""


def expand_calls(fn: ir.Function) -> ir.Function:
    """``fn`` with every call of a function with a custom rule replaced by that function's body; calls of kept functions
    stay."""
    while any(map(is_custom, statements(fn.body))):
        fn = _placed(fn, lambda b, call: splice(b, call.custom.fn, call.args))
    return fn


def with_kept_apart(fn: ir.Function) -> ir.Function:
    """``fn``, about to be differentiated, in which ordinary statements compute the kept values of calls whose pullbacks ``fn``
    runs itself.

    They then compute the results of these calls too, unless the rule calls its own function, which must keep the user's
    derivative.
    """
    while True:
        read = {o for s in statements(fn.body) if not (isinstance(s, ir.Let) and s.prim == "dim") for o in reads(s)}
        read |= {o for block in _blocks(fn.body) for o in leaves(block)}

        def apart(b: Builder, call: ir.Call, read: set[ir.Operand] = read) -> Sequence[ir.Operand] | None:
            """The results of a call by ordinary statements, emitted here; None if ``fn`` reads no value that it keeps."""
            rule, count = call.custom, call.custom.outputs
            if rule.rule != "vjp" or read.isdisjoint(call.results[count:]):
                return None
            if not rule.calls_itself:
                return splice(b, rule.fn, call.args)
            outs = call.results[:count]
            b.emit(replace(call, results=(*outs, *(ir.Var(r.name, r.type) for r in call.results[count:]))))
            return (*outs, *splice(b, of_outputs(rule.fn, len(call.args), count), (*call.args, *outs)))

        new = _placed(fn, apart)
        if new is fn:
            return fn
        fn = new


def tied(fn: ir.Function, call: ir.Call) -> ir.Function:
    """``fn``, a rule of ``call``, in which calls that the rule makes of its own function have the rule of ``call`` too.

    ``fn`` itself if the rule makes none. The first parameters of ``fn`` are the arguments of ``call``. T307 if such a call has
    other types than ``call``.
    """
    if not call.custom.again:
        return fn
    given = call.custom.given or 0
    around = fn.params[given : len(call.args)]

    def again(stmt: ir.Stmt) -> ir.Stmt:
        """The statement; a call of the rule's own function as a call with the rule of ``call``."""
        if not is_again(stmt):
            return with_blocks(stmt, block)
        args = (*stmt.args[:given], *around)
        pairs = zip((*args, *stmt.results), (*call.custom.fn.params, *call.custom.fn.body.yields))
        if any((a.type.dtype, a.type.rank) != (p.type.dtype, p.type.rank) for a, p in pairs):
            message = (
                f"the rule of {call.custom.fn.name!r} calls it with arguments that are batched differently from its own"
            )
            raise error("T307", message, stmt.loc, "compute these arguments from the arguments of the function")
        return replace(stmt, function=call.custom, args=args)

    def block(old: ir.Block) -> ir.Block:
        return with_stmts(old, [again(s) for s in old.stmts])

    return with_body(fn, block(fn.body))


def without_again(fn: ir.Function) -> ir.Function:
    """``fn``, a rule that is itself differentiated, in which each call that it makes of its own function is replaced by that
    function's body."""
    while any(map(is_again, statements(fn.body))):
        fn = _placed(fn, lambda b, call: splice(b, call.custom.fn, call.args) if is_again(call) else None)
    return fn


def _blocks(block: ir.Block) -> Iterator[ir.Block]:
    """The block and all blocks nested in it."""
    yield block
    for stmt in block.stmts:
        for inner in blocks(stmt):
            yield from _blocks(inner)


def _placed(fn: ir.Function, place: Place) -> ir.Function:
    """``fn`` without the custom calls for which ``place`` gives operands, which replace their results; ``fn`` itself if it
    gives none."""
    b = Builder(prims(), dict(fn.symbols), fn)
    mapping: dict[ir.Var, ir.Operand] = {}
    done: list[ir.Call] = []

    def noted(b: Builder, call: ir.Call) -> Sequence[ir.Operand] | None:
        found = place(b, call)
        if found is not None:
            done.append(call)
        return found

    body = _block(b, fn.body, mapping, noted)
    if not done:
        return fn
    cloner = Cloner(mapping)
    body = ir.Block(
        body.params, [_map(s, cloner) for s in body.stmts], tuple(cloner.operand(o) for o in body.yields), body.stop
    )
    return replace(fn, body=body, symbols={name: cloner.operand(op) for name, op in b.symbols.items()})


def _map(stmt: ir.Stmt, cloner: Cloner) -> ir.Stmt:
    return map_operands(stmt, cloner.operand, cloner.root)


def _block(b: Builder, block: ir.Block, mapping: dict[ir.Var, ir.Operand], place: Place) -> ir.Block:
    """The block without the custom calls for which ``place`` gives operands; adds the results of these calls to ``mapping``."""
    with b.into(ir.Block(block.params, [], block.yields, block.stop)) as out:
        for stmt in block.stmts:
            match stmt:
                case ir.Call(function=ir.Custom()):
                    args = tuple(mapping.get(a, a) if isinstance(a, ir.Var) else a for a in stmt.args)
                    found = place(b, replace(stmt, args=args))
                    if found is None:
                        b.emit(stmt)
                    else:
                        mapping.update((r, o) for r, o in zip(stmt.results, found) if r is not o)
                case _:
                    b.emit(with_blocks(stmt, lambda inner: _block(b, inner, mapping, place)))
    return out


def check_sizes(b: Builder, call: ir.Call, given: Sequence[ir.Operand], wanted: Sequence[ir.Operand]) -> None:
    """Emits checks that each of ``given``, derivatives from the rule of ``call``, has the sizes of the value at the same
    position in ``wanted``. A failed check raises ValueError; sizes that the arguments of the call do not determine are not
    checked."""
    _check_sizes(b, call, given, wanted, call.args)


def _check_sizes(
    b: Builder,
    call: ir.Call,
    given: Sequence[ir.Operand],
    wanted: Sequence[ir.Operand],
    known: Sequence[ir.Operand],
) -> None:
    """Emits the checks of `check_sizes`, of the sizes whose symbols all occur in the dims of ``known``."""
    names = {name for a in known for d in a.type.dims for name in d.symbols()}
    for one, other in zip(given, wanted):
        for mine, theirs in zip(one.type.dims, other.type.dims):
            if b.canonical(mine) != b.canonical(theirs) and names.issuperset(theirs.symbols()):
                message = (
                    f"the derivative from the rule of {call.custom.fn.name!r} does not have the size of its argument"
                )
                raise_if(b.elementwise("not_equal", b.dim(mine), b.dim(theirs)), "ValueError", message)


def _with_fitting_tangents(
    call: ir.Call, rule: ir.Function, values: Sequence[ir.Operand], dots: Sequence[ir.Operand]
) -> ir.Function:
    """``rule``, a tangent rule, with checks that each tangent that it returns (``dots``) has the size of its value; ``rule``
    itself if nothing must be checked. ``values``: all results, floating-point or not. Reverse mode computes no tangents, so it
    cannot check."""
    b = Builder(prims(), dict(rule.symbols), rule)
    with b.into(ir.Block()) as checks:
        _check_sizes(b, call, dots, [v for v in values if carries_derivative(v)], values)
    if not checks.stmts:
        return rule
    body = with_stmts(rule.body, [*rule.body.stmts, *checks.stmts])
    return replace(rule, body=body, symbols=b.symbols)


def transposed(
    call: ir.Call, vjp: Callable[[ir.Function, Sequence[int]], ir.Function]
) -> tuple[ir.Function, list[int]]:
    """The transpose of the tangent rule of ``call``, and the positions, among its floating-point arguments, of those with an
    adjoint.

    Its parameters are those of the rule, tangents too, and a cotangent for each tangent that the rule returns; its results are
    adjoints. ``vjp`` derives it: the rule is linear in its tangents, so the transpose does not read them. T312 if it does, or
    if a tangent returned depends on none, except for implicit rules.
    """
    rule, own, outputs = tied(call.custom.derivative, call), len(call.args), call.custom.outputs
    values: Sequence[ir.Operand]
    if call.custom.rule == "implicit":
        known, values, tangents = own + outputs, rule.params[own : own + outputs], rule.body.yields
    else:
        known, values, tangents = own, rule.body.yields[:outputs], rule.body.yields[outputs:]
    rule = with_results(_with_fitting_tangents(call, rule, values, tangents), tangents)
    dots = range(known, len(rule.params))
    read = set(uses(rule.body)) if call.custom.rule == "implicit" else set(rule.params)
    used = [k for k in dots if rule.params[k] in read]
    back = vjp(rule, used)
    if call.custom.rule != "implicit":
        _check_linear(call, rule, back, dots)
    return back, [k - known for k in used]


def _check_linear(call: ir.Call, rule: ir.Function, back: ir.Function, dots: Sequence[int]) -> None:
    """Raises T312 if ``back``, the transpose of ``rule``, reads a tangent, or if ``rule`` returns a tangent that depends on
    none and is not zero. ``dots``: positions of the tangents among the parameters."""
    found, name = first_read(back, dots), call.custom.fn.name
    if found is not None:
        tangent, stmt = found
        message = f"the rule of {name!r} is not linear in its tangent {tangent.name!r}: it has no transpose"
        hint = "reverse mode transposes the rule: make it linear in its tangents, or use custom_vjp"
        raise error("T312", message, stmt.loc, hint)
    tangents = [rule.params[k] for k in dots]
    for result in rule.body.yields:
        if not (_is_zero(rule.body, result) or active(rule, tangents, [result])):
            message = f"the tangent that the rule of {name!r} returns does not depend on the tangents that it is given"
            raise error("T312", message, _place_of(rule, result), "return (derivative) * (tangent), or 0.0 for none")


def _is_zero(block: ir.Block, operand: ir.Operand) -> bool:
    """Whether the operand is the constant 0, or computed in ``block`` from such constants by linear primitives only."""
    if isinstance(operand, ir.Const):
        return operand.value == 0
    made = next((s for s in block.stmts if isinstance(s, ir.Let) and s.var is operand), None)
    if made is None or not made.args or not record_of(made).linear:
        return False
    return all(carries_derivative(a) and _is_zero(block, a) for a in made.args)


def _place_of(fn: ir.Function, operand: ir.Operand) -> ir.Loc:
    """The location of the statement that computes the operand; that of the function for a parameter or a constant."""
    made = (s.loc for s in statements(fn.body) if isinstance(s, ir.Let) and s.var is operand)
    return next(made, fn.loc)
