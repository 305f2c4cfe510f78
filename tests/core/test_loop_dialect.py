"""The nodes of the loop dialect alone: each is printed, and the verifier refuses it where it means nothing."""

from __future__ import annotations

import pytest
from verified import check, verify

from transpile.core import nodes as ir
from transpile.core.dims import ANY
from transpile.core.dump import dump
from transpile.core.pass_list import Chain, Pass
from transpile.core.types import BOOL, FLOAT64, INT, Type
from transpile.core.verify import Verifying
from transpile.core.watch import watching
from transpile.errors import InternalError
from transpile.ops.library_entries import entries
from transpile.ops.tables import of_dialect

ZERO, ONE, TRUE = ir.Const(0, INT), ir.Const(1, INT), ir.Const(True, BOOL)


def function(*stmts: ir.Stmt, params: tuple[ir.Var, ...] = ()) -> ir.Function:
    return ir.Function("f", params, ir.Block((), list(stmts)), {})


def refused(fn: ir.Function, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        check(fn)


# ------------------------------------------------------------------------------------------------------------ checks


def bounds(**more: object) -> ir.BoundsCheck:
    given = {"at": ZERO, "size": ONE, "given": ZERO, "low": True, "exception": "IndexError", "parts": ("index ", 0)}
    return ir.BoundsCheck(**{**given, **more})  # type: ignore[arg-type]


def test_checks_are_printed() -> None:
    n = ir.Var("n", INT)
    text = dump(function(bounds(at=n, guard=TRUE), ir.Check(TRUE, "OverflowError", ("no",)), params=(n,)))
    assert "check 0 <= n < 1 if True else IndexError of 0" in text
    assert "check not True else OverflowError" in text


def test_a_check_asks_numbers() -> None:
    check(function(bounds(), bounds(guard=TRUE), ir.Check(TRUE, "OverflowError", ())))
    refused(function(bounds(at=TRUE)), "a part of a check is bool")
    refused(function(bounds(guard=ONE)), "a test is int")
    refused(function(ir.Check(ONE, "OverflowError", ())), "a test is int")
    refused(function(ir.Check(ir.Var("t", BOOL), "OverflowError", ())), "before it is defined")


def test_array_core_has_no_checks() -> None:
    with pytest.raises(InternalError, match="BoundsCheck is not a statement"):
        verify(function(bounds()))


def test_a_message_names_what_is_there() -> None:
    verify(function(ir.Raise((ONE,), "ValueError", ("it is ", 0))))
    with pytest.raises(InternalError, match="names an operand that is not there"):
        verify(function(ir.Raise((ONE,), "ValueError", ("it is ", 1))))
    with pytest.raises(InternalError, match="names an operand that is not there"):
        verify(function(ir.Print((ONE,), ((0,), ((1, "", ""),)))))


# ------------------------------------------------------------------------------------------------- trips at once


def loop(prim: str = "add", turned: bool = False, **more: object) -> ir.For:
    """A loop that carries a sum."""
    total, new = ir.Var("total", FLOAT64), ir.Var("new", FLOAT64)
    args = (total, ir.Const(2.0, FLOAT64))
    body = ir.Block((total,), [ir.Let(new, prim, args[::-1] if turned else args)], (new,))
    given: dict[str, object] = {"kind": "vector", "combiners": ("add",), "start": ZERO, "step": ONE, **more}
    start, step = given.pop("start"), given.pop("step")
    inits, results = (ir.Const(0.0, FLOAT64),), (ir.Var("sum", FLOAT64),)
    return ir.For(ir.Var("i", INT), start, ir.Const(16, INT), step, inits, body, results, **given)  # type: ignore[arg-type]


def test_loops_of_a_kind_are_printed() -> None:
    assert "in vector range(0, 16, 1) with total: float64 := 0.0:float64 combined by add:" in dump(function(loop()))
    assert "range(0, 4, 1) in vectors of 1:" in dump(function(counting(width=1)))


def counting(**more: object) -> ir.For:
    return ir.For(ir.Var("i", INT), ZERO, ir.Const(4, INT), ONE, (), ir.Block(), **more)  # type: ignore[arg-type]


def test_what_a_vector_loop_carries_is_combined() -> None:
    for prim, turned, combiners in (
        ("add", False, "add"),
        ("add", True, "add"),
        ("sub", False, "add"),
        ("mul", True, "mul"),
    ):
        check(function(loop(prim, turned, combiners=(combiners,))))
    refused(function(loop(combiners=())), "0 combiners for 1 values")
    refused(function(loop(combiners=("mul",))), "is not only combined by mul")
    refused(function(loop("sub", True)), "is not only combined by add")
    refused(function(loop(combiners=("pow",))), "combines nothing")
    more = loop()
    more.body.stmts.append(ir.Let(ir.Var("more", FLOAT64), "neg", (more.body.params[0],)))
    refused(function(more), "is not only combined by add")


def test_trips_at_once_are_counted() -> None:
    refused(function(loop(step=ir.Const(2, INT))), "does not count up by 1")
    refused(function(loop(backwards=True)), "does not count up by 1")
    refused(function(loop(trips=ir.Var("trips", INT))), "may stop")
    check(function(counting(kind="parallel")))
    refused(function(loop(kind="parallel")), "a parallel loop that carries something")
    ends = ir.For(ir.Var("i", INT), ONE, ir.Const(4, INT), ONE, (), ir.Block(), kind="parallel")
    refused(function(ends), "begins elsewhere")


# ------------------------------------------------------------------------------------------------------------- views

MATRIX = ir.Var("a", Type("float64", (ANY, ANY)))
PART = ir.Index((ir.Point(0), ir.Slice(1, 2)))


def viewed(step: ir.Step, *args: ir.Operand, rank: int, dtype: str = "float64") -> ir.Function:
    return function(ir.view(ir.Var("v", Type(dtype, (ANY,) * rank)), MATRIX, step, args), params=(MATRIX,))


def test_views_are_printed() -> None:
    assert "= view a[0, 0:1]" in dump(viewed(PART, ZERO, ZERO, ONE, rank=1))
    assert "= view a.permute(1, 0)" in dump(viewed(ir.Permute((1, 0)), rank=2))
    assert "= view a.view(1)" in dump(viewed(ir.reshape(1), ONE, rank=1))


def test_a_view_leads_to_what_it_says() -> None:
    check(viewed(PART, ZERO, ZERO, ONE, rank=1))
    check(viewed(ir.Permute((1, 0)), rank=2))
    check(viewed(ir.reshape(1), ONE, rank=1))
    refused(viewed(PART, ZERO, ZERO, ONE, rank=2), "a view of rank 2")
    refused(viewed(ir.Index((ir.Point(1), ir.Slice(0, 2))), ZERO, ZERO, ONE, rank=1), "the items")
    refused(viewed(PART, ZERO, ZERO, TRUE, rank=1), "a part of a view is bool")
    refused(viewed(ir.Permute((0, 0)), rank=2), "axes")
    refused(viewed(ir.Permute((1, 0)), rank=2, dtype="float32"), "a view: float32")
    refused(viewed(ir.Diagonal(), rank=1), "a view by Diagonal")


# ------------------------------------------------------------------------------------------------------------- calls


def called(*args: ir.Operand, function: str = "linalg.expm", written: tuple[int, ...] = (1,)) -> ir.Call:
    return ir.Call(ir.Library(function), args, (), written)


def test_calls_are_printed() -> None:
    out, given = ir.Var("out", MATRIX.type, buffer=True), ir.Var("n", INT)
    calls = (called(MATRIX, out), called(MATRIX, written=()))
    kept = ir.Call(ir.Kept("f"), (given,), (ir.Var("y", FLOAT64), ir.Var("k", INT)))
    text = dump(function(*calls, kept, params=(MATRIX, out, given)))
    assert "call linalg.expm a, out fills out" in text and "call linalg.expm a\n" in text
    assert "y: float64, k: int = call f n" in text


def test_a_call_fills_memory() -> None:
    out = ir.Var("out", MATRIX.type, buffer=True)
    check(function(called(MATRIX, out), params=(MATRIX, out)))
    refused(function(called(MATRIX, MATRIX), params=(MATRIX,)), "argument 1 is filled")
    refused(function(called(MATRIX, out, function="gemv"), params=(MATRIX, out)), "is no function of the runtime")
    refused(function(called(out, out), params=(out,)), "is filled and read at once")
    row = ir.Var("row", Type("float64", MATRIX.type.dims[1:]))
    part = ir.view(row, out, ir.Index((ir.Point(0), ir.Slice())), (ZERO,))
    refused(function(part, called(out, row, function="linalg.svdvals"), params=(out,)), "is filled and read at once")
    several = ir.Var("t", Type("float64", kind="tuple"))
    refused(function(ir.Call(ir.Kept("f"), (), (several,))), "a call gives")


def test_a_call_has_the_signature_of_the_function() -> None:
    out, single = ir.Var("out", MATRIX.type, buffer=True), ir.Var("b", Type("float32", MATRIX.type.dims))
    refused(
        function(called(MATRIX, out, function="no.such"), params=(MATRIX, out)),
        "'no.such' is no function of the runtime",
    )
    refused(
        function(called(MATRIX, out, function="arrays.wrap"), params=(MATRIX, out)), "is no function of the runtime"
    )
    refused(function(called(MATRIX, written=()), params=(MATRIX,)), "linalg.expm: 1 operands for 2")
    refused(function(called(single, out), params=(single, out)), "operand 1 is float64.* not float32 of rank 2")
    refused(function(called(MATRIX, out, written=()), params=(MATRIX, out)), r"it fills operands \(1,\), not \(\)")
    refused(function(called(MATRIX, out, function="linalg.svdvals"), params=(MATRIX, out)), "of rank 1")
    whole = ir.Var("k", Type("int64", MATRIX.type.dims))
    refused(function(called(whole, out), params=(whole, out)), "operand 0 is int64")
    for results in ((), (ir.Var("y", INT),), (ir.Var("y", FLOAT64), ir.Var("z", FLOAT64))):
        call = ir.Call(ir.Library("linalg.det"), (MATRIX,), results, ())
        refused(function(call, params=(MATRIX,)), "results for 1" if len(results) != 1 else "a result: int and float64")
    check(function(ir.Call(ir.Library("linalg.det"), (MATRIX,), (ir.Var("y", FLOAT64),), ()), params=(MATRIX,)))


def test_the_functions_of_the_table_exist() -> None:
    """Each is a function of the module that its name says, with as many parameters."""
    import importlib
    import inspect

    for name, record in entries().items():
        module, function_ = name.split(".")
        found = getattr(importlib.import_module(f"transpile_runtime.compiled.{module}"), function_)
        plain = getattr(found, "py_func", found)
        assert len(inspect.signature(plain).parameters) == len(record.type_rule.operands), name  # type: ignore[attr-defined]


def test_each_dialect_has_its_functions() -> None:
    rule = ir.Custom(function(), "jvp", function(), 0)
    refused(function(ir.Call(rule, (), ())), "a rule of the user's is called")
    refused(function(ir.Call(ir.Routine("f"), (), ())), "a function of array core is called")
    out = ir.Var("out", MATRIX.type, buffer=True)
    writing = ir.Call(ir.Kept("f"), (out,), (), (0,))
    refused(function(writing, params=(out,)), "a kept function writes into an argument")
    verify(function(ir.Call(rule, (), ())))
    with pytest.raises(InternalError, match="a function of the loop dialect is called"):
        verify(function(ir.Call(ir.Kept("f"), (), (), None)))


def test_a_function_of_numbers_reads_no_memory() -> None:
    number = ir.Let(ir.Var("k", INT), "arrays.wrap", (ONE, ONE))
    check(function(number))
    refused(function(ir.Let(ir.Var("k", INT), "arrays.wrap", (MATRIX, ONE)), params=(MATRIX,)), "is given an array")
    refused(function(ir.Let(ir.Var("k", INT), "call", (ONE,), {"fn": "arrays.wrap"})), "'call' is no primitive")


# ------------------------------------------------------------------------------------------------------ memory spaces


def made(*sizes: ir.Operand, space: ir.Space = "frame") -> ir.Alloc:
    return ir.Alloc(ir.Var("m", Type("float64", (ANY,) * len(sizes)), buffer=True), "empty", sizes, {}, space=space)


def returned(*stmts: ir.Stmt, value: ir.Var, params: tuple[ir.Var, ...] = ()) -> ir.Function:
    return ir.Function("f", params, ir.Block((), list(stmts), (value,)), {})


def test_memory_of_the_frame_stays_there() -> None:
    n, alloc = ir.Var("n", INT), made(ONE, ONE)
    assert "m: float64[?, ?] = new in the frame empty 1 1" in dump(function(alloc))
    check(function(alloc))
    check(returned(kept := made(n, space="heap"), value=kept.var, params=(n,)))
    refused(function(made(n), params=(n,)), "whose sizes only the run knows")
    refused(returned(alloc, value=alloc.var), "of the frame is returned")
    turned = ir.view(ir.Var("v", alloc.var.type), alloc.var, ir.Permute((1, 0)))
    refused(returned(alloc, turned, value=turned.var), "of the frame is returned")


# ------------------------------------------------------------------------------------------------- operations and types


def computed(prim: str, *args: ir.Operand, type: Type = FLOAT64, **params: object) -> ir.Function:
    given = tuple(dict.fromkeys(a for a in args if isinstance(a, ir.Var)))
    return function(ir.Let(ir.Var("y", type), prim, args, params), params=given)


X, K, FLAG = ir.Var("x", FLOAT64), ir.Var("k", INT), ir.Var("t", BOOL)


def test_an_operation_is_one_of_the_dialect() -> None:
    check(computed("sin", X))
    refused(computed("sinus", X), "'sinus' is no primitive")
    whole = Type("float64", (ANY, ANY))
    for prim in ("matmul", "sum", "sort", "solve", "cumsum", "transpose", "reshape", "broadcast", "full", "copy"):
        refused(computed(prim, MATRIX, MATRIX, type=whole), f"{prim!r} is no operation of loop core")
    refused(computed("sin", MATRIX, type=whole), "'sin' is given an array")


def test_a_result_has_the_type_of_its_rule() -> None:
    check(computed("cast", X, type=Type("float32"), dtype="float32", weak=False))
    refused(computed("cast", X, type=INT, dtype="float32", weak=False), "cast: int and float32")
    refused(computed("add", X, X, type=INT), "add: int and float64")
    refused(computed("add", X, K), "operands of different dtypes: float64, int64")
    refused(computed("less", X, X), "less: float64 and bool")
    refused(computed("where", X, X, X), "an operand should be bool")
    check(computed("where", FLAG, X, X))


def test_a_function_of_numbers_has_a_signature() -> None:
    check(computed("arrays.bound", K, K, type=INT))
    check(computed("random.unit64", *(ir.Var(n, Type("uint32")) for n in "ab"), K))
    refused(computed("arrays.bound", K, X, type=INT), "operands .int64, float64. for ii->i")
    refused(computed("arrays.bound", K, type=INT), "operands .int64. for ii->i")
    refused(computed("arrays.bound", K, K), "arrays.bound: float64 and int")
    refused(computed("arrays.linspace_at", X, X, X, ir.Var("s", Type("float32")), FLAG), "for xxxxb->x")


def test_nothing_is_read_that_has_no_value() -> None:
    none = ir.Undef(FLOAT64)
    refused(computed("sin", none), "Undef is read")
    refused(
        function(ir.Store(out := ir.Var("out", VECTOR, buffer=True), AT, (ZERO,), none), params=(out,)), "Undef is read"
    )
    side = ir.Block((), [], (none,))
    chosen = ir.If(FLAG, side, ir.Block((), [], (ir.Const(1.0, FLOAT64),)), (ir.Var("y", FLOAT64),))
    check(function(chosen, params=(FLAG,)))


VECTOR = Type("float64", (ANY,))
AT = (ir.Index((ir.Point(0),)),)


def test_a_stack_holds_elements_of_one_type() -> None:
    def tape(value: ir.Operand, taken: Type) -> ir.Function:
        stack = ir.Var("s", Type("float64", (), kind="stack"))
        given = tuple(v for v in (value,) if isinstance(v, ir.Var))
        pop = ir.Pop(ir.Var("y", taken), stack)
        return function(ir.NewStack(stack, reason="of each iteration"), ir.Push(stack, value), pop, params=given)

    check(tape(X, FLOAT64))
    refused(tape(ir.Var("n", Type("int8")), FLOAT64), "an element of .* cannot be int8")
    refused(tape(X, BOOL), "an element of .* cannot be bool")
    refused(tape(ir.Var("v", VECTOR), FLOAT64), "an element of .* cannot be float64")
    refused(function(ir.Push(X, X), params=(X,)), "is no stack")


def test_what_a_pass_changes_in_place_is_verified() -> None:
    """A pass that gives back the function that it was given, with another operation in it."""
    fn = computed("sin", X)

    def bend(given: ir.Function) -> ir.Function:
        given.body.stmts[0] = ir.Let(given.body.stmts[0].var, "matmul", (X, X))  # type: ignore[union-attr]
        return given

    keep = Pass("keep", lambda given: given, "changes nothing")
    with watching(Verifying(of_dialect)):
        Chain("loops", (keep, keep), ()).run(fn)
        with pytest.raises(InternalError, match="after bend: 'matmul' is no operation of loop core"):
            Chain("loops", (keep, Pass("bend", bend, "changes something")), ()).run(fn)
