"""Checks that a function is well-formed array core.

- Only the results of `Alloc` and parameters with ``buffer`` are stored to. Only ``index``, ``dim`` and *alloc copy* read
  buffers. Loops and branches never carry one, and each is returned at most once.
- Inits, parameters, yields and results of a loop or branch agree in number, dtype and dims (`Undef` fits any).
- A stored value has the dtype and dims of its place; a constant fits any place of its dtype.
- Elementwise operands are constants or have the dims of the result; their dtypes are those that the primitive's dtype rule
  requires.
- Each *let* has the type that the type rule gives, the weak mark aside.
- `Undef` occurs only where branches and loops carry values. Pushed and popped values have the element type of their stack.
- Effects, tests, loop bounds, stops and trip counts are scalars of the right kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from transpile.aggregates import leaf_numbers
from transpile.core import nodes as ir
from transpile.core.dialects import is_legal
from transpile.core.dims import Dim
from transpile.core.places import consumed, place_dims
from transpile.core.record_protocol import Records
from transpile.core.types import Type
from transpile.core.verify_scopes import Scopes
from transpile.core.verify_sizes import found_to_be_one, is_apart
from transpile.core.walk import reads

READERS = ("index", "dim")  # the primitives whose first operand may be a buffer


class ArrayForm(Scopes):
    """Checks one function of array core."""

    def __init__(self, fn: ir.Function, prims: Records, after: str = "") -> None:
        super().__init__(fn, prims, after)
        self.ones = found_to_be_one(fn, prims, self.form_of)

    def value(self, operand: ir.Operand, undef: bool = False) -> None:
        """Checks an operand that must be a value: not a buffer, not a stack. ``undef``: it may be undefined."""
        self.use(operand, undef)
        if is_buffer(operand):
            self.fail(f"buffer {operand} is used as a value")
        if operand.type.kind == "stack":
            self.fail(f"stack {operand} is used as a value")

    # ---- the function

    def function(self) -> None:
        fn = self.fn
        for param in fn.params:
            self.define(param)
        self.check(not fn.body.params and fn.body.stop is None, "the body of a function has parameters or a stop")
        self.check(len(fn.captured) <= len(fn.params), "more captured values than parameters")
        self.statements(fn.body)
        self.stmt = None
        returned: dict[ir.Var, None] = {}
        for operand in fn.body.yields:
            self.use(operand)
            self.check(operand.type.kind == "array", f"{operand} is returned but is no array")
            if isinstance(operand, ir.Var) and operand.buffer:
                self.check(operand not in returned, f"buffer {operand} is returned twice")
                returned[operand] = None
        self.trees()

    def trees(self) -> None:
        """Checks that ``arg_tree`` and ``out_tree`` name only parameters and results that exist."""
        fn = self.fn
        if fn.out_tree is not None:
            numbers = leaf_numbers(fn.out_tree)
            self.check(all(k < len(fn.body.yields) for k in numbers), f"out_tree names more results: {numbers}")
        if fn.arg_tree is not None:
            found = [k for spec in fn.arg_tree for k in leaf_numbers(spec.tree)]
            self.check(all(k < len(fn.params) for k in found), f"arg_tree names parameters beyond the last: {found}")

    # ---- statements: each method checks operands and results

    def let(self, s: ir.Let) -> None:
        """Checks a *let*: operands are values, but ``index`` and ``dim`` may read a buffer."""
        self.check(not s.var.buffer, "a let defines a buffer")
        for k, operand in enumerate(s.args):
            if k == 0 and s.prim in READERS:
                self.use(operand)
            else:
                self.value(operand)
        self.made(s)

    def alloc(self, s: ir.Alloc) -> None:
        """Checks an allocation: operands are values, but a copy may be of a buffer."""
        self.check(s.var.buffer, "an alloc defines a value")
        for operand in s.args:
            if s.prim == "copy":
                self.use(operand)
            else:
                self.value(operand)
        self.made(s)

    def made(self, s: ir.Let | ir.Alloc) -> None:
        """Checks that the operands fit the primitive, and that the variable has the type that the type rule gives, the weak
        mark aside."""
        prim = self.prims.get(s.prim)
        if prim is None:
            self.fail(f"{s.prim!r} is not a primitive")
        self.check(is_legal(prim, "array"), f"{s.prim!r} is no operation of array core")
        types = [o.type for o in s.args]
        if s.prim == "index":
            self.path(s.params["path"], s.args[1:], types[0], tuple(s.params.get("dims", types[0].dims)))
        if prim.elementwise:
            self.elementwise(s, prim.dtype_rule)
        wanted = self.wanted(prim, types, s.params)
        if not self.is_same(s.var.type, wanted):
            self.fail(f"{s.var} should be {wanted}")

    def elementwise(self, s: ir.Let | ir.Alloc, dtype_rule: str) -> None:
        """Checks that each operand is a constant or has the dims of the result, and that the dtypes agree."""
        dims = s.var.type.dims
        for operand in s.args:
            if not isinstance(operand, ir.Const) and not self.is_one_shape(operand.type.dims, dims):
                self.fail(f"operand {operand} does not have the dims of {s.var}")
        wide = [o for o in s.args if not isinstance(o, ir.Const)]
        self.check(bool(wide) or not dims, "all operands are constants, but the result has dims")
        super().elementwise(s, dtype_rule)

    def is_one_shape(self, a: tuple[Dim, ...], b: tuple[Dim, ...]) -> bool:
        """Whether the dims are equal, or may be: some symbol in them is no parameter's size, and they do not surely differ."""
        if a == b or len(a) != len(b):
            return a == b
        given = {d.as_symbol for p in self.fn.params for d in p.type.dims}
        of_the_run = any(s not in given for d in (*a, *b) for s in d.symbols())
        return of_the_run and not any(map(self.differ, a, b))

    def is_same(self, a: Type, b: Type) -> bool:
        """Whether two types may be equal: same dtype, kind and rank, and no dims that differ; the weak mark is ignored."""
        return (a.dtype, a.kind, a.rank) == (b.dtype, b.kind, b.rank) and not any(map(self.differ, a.dims, b.dims))

    def differ(self, a: Dim, b: Dim) -> bool:
        """Whether two dims surely differ. Forms that can be compared only at run time are assumed to agree; a form and 1 do so
        only if the function has checked that the form is 1."""
        return is_apart(a, b) or a.is_one != b.is_one and not {a, b} & self.ones

    def store(self, s: ir.Store | ir.Add) -> None:
        """Checks a store or addition: the buffer may be written, and the value has the dims and the dtype of the place."""
        self.use(s.buf)
        self.check(s.buf.buffer, f"{s.buf} is written but is no buffer")
        for operand in s.args:
            self.value(operand)
        self.value(s.value)
        source = s.buf.type
        dims = s.value.type.dims
        if isinstance(s.value, ir.Const):
            dims = tuple(Dim(0) if d is None else d for d in place_dims(source.dims, s.path, s.args, self.form_of))
        self.path(s.path, s.args, source, dims)
        self.check(s.value.type.dtype == source.dtype, f"a value of {s.value.type} is stored in {source}")

    def branch(self, s: ir.If) -> None:
        """Checks a branch: both blocks, and that their yields agree with the results."""
        self.flag(s.test, "test")
        for name, block in (("then", s.then), ("else", s.orelse)):
            self.check(not block.params and block.stop is None, f"the {name} block has parameters or a stop")
            with self.scope():
                self.statements(block)
                self.stmt = s
                self.carried(block.yields, s.results, f"{name} yields", "results")

    def loop(self, s: ir.For) -> None:
        """Checks a `For`: its bounds, inits, body and results."""
        for name, operand in (("start", s.start), ("bound", s.bound), ("step", s.step)):
            self.value(operand)
            self.check(is_int_scalar(operand.type), f"the {name} of a loop is {operand.type}")
        self.check(not (isinstance(s.step, ir.Const) and s.step.value == 0), "the step of a loop is 0")
        self.check(is_int_scalar(s.index.type) and not s.index.buffer, f"the index of a loop is {s.index.type}")
        self.carried(s.inits, s.body.params, "inits", "parameters")
        with self.scope():
            self.define(s.index)
            self.body(s.body, s)
        self.ends(s)

    def repeat(self, s: ir.While) -> None:
        """Checks a `While`: its inits, test, body and results."""
        self.carried(s.inits, s.test.params, "inits", "parameters of the test")
        self.carried(s.inits, s.body.params, "inits", "parameters")
        with self.scope():
            for param in s.test.params:
                self.define(param)
            self.check(s.test.stop is None and len(s.test.yields) == 1, "the test block should yield one flag")
            self.statements(s.test)
            self.stmt = s
            self.flag(s.test.yields[0], "test")
        with self.scope():
            self.body(s.body, s)
        self.ends(s)

    def body(self, block: ir.Block, s: ir.For | ir.While) -> None:
        """Checks the body of a loop: its parameters, statements, yields and stop."""
        for param in block.params:
            self.check(not param.buffer, f"buffer {param} is carried by a loop")
            self.define(param)
        self.statements(block)
        self.stmt = s
        self.carried(block.yields, block.params, "yields", "parameters")
        if block.stop is not None:
            self.flag(block.stop, "stop")

    def ends(self, s: ir.For | ir.While) -> None:
        self.carried(s.body.params, s.results, "parameters", "results", use=False)
        if s.trips is not None:
            self.check(is_int_scalar(s.trips.type), f"the trip count is {s.trips.type}")

    def push(self, s: ir.Push) -> None:
        self.value(s.value)
        self.element(s.stack, s.value)

    def pop(self, s: ir.Pop) -> None:
        self.check(not s.var.buffer, "a pop defines a buffer")
        self.element(s.stack, s.var)

    def effect(self, s: ir.Print | ir.Raise) -> None:
        """Checks a print or raise: operands are values, and the message names only operands that exist."""
        for operand in s.args:
            self.value(operand)
        shown = s.parts if isinstance(s, ir.Raise) else [part for parts in s.parts for part in parts]
        slots = [p[0] if isinstance(p, tuple) else p for p in shown if not isinstance(p, str)]
        self.check(
            all(isinstance(k, str) or k < len(s.args) for k in slots), "a message names an operand that is not there"
        )

    def call(self, s: ir.Call) -> None:
        """Checks a call of a custom rule, whose functions are checked too, or of a routine."""
        for operand in reads(s):
            self.value(operand)
        self.check(not any(r.buffer for r in s.results), "a call defines a buffer")
        match s.function:
            case ir.Custom(fn):
                self.signature(s, [p.type for p in fn.params], [y.type for y in fn.body.yields])
                for one in (fn, s.function.derivative, s.function.pullback):
                    if one is not None:
                        ArrayForm(one, self.prims, self.after).function()
            case ir.Routine():
                self.signature(s, [p.type for p in s.function.params], s.function.results)
            case _:
                self.fail("a function of the loop dialect is called")
        self.check(s.written == (), "a call of array core writes into an argument")

    def signature(self, s: ir.Call, params: Sequence[Type], results: Sequence[Type]) -> None:
        """Checks number, dtype and rank of arguments and results; sizes are not compared, because the call knows them better
        than the function."""
        self.check(len(s.args) == len(params), f"{len(s.args)} arguments for {len(params)} parameters")
        self.check(len(s.results) == len(results), f"{len(s.results)} results for {len(results)} yields")
        for operand, type_ in zip((*s.args, *s.results), (*params, *results)):
            fits = operand.type.dtype == type_.dtype and operand.type.rank == type_.rank
            self.check(fits, f"{operand} stands for {type_} of the function that is called")

    # ---- parts

    def flag(self, operand: ir.Operand, what: str) -> None:
        self.value(operand)
        self.check(operand.type.is_bool and not operand.type.dims, f"the {what} is {operand.type}, not a flag")

    def carried(self, given: Sequence[ir.Operand], taken: Sequence[ir.Var], of: str, to: str, use: bool = True) -> None:
        """Checks that the operands ``given`` for the variables ``taken`` agree with them in number and type and, with ``use``,
        are visible values; ``of`` and ``to`` name the two in messages."""
        self.check(len(given) == len(taken), f"{len(given)} {of} for {len(taken)} {to}")
        for operand, var in zip(given, taken):
            if use:
                self.value(operand, undef=True)
            self.check(not var.buffer, f"buffer {var} is among the {to}")
            if not isinstance(operand, ir.Undef) and not self.is_same(operand.type, var.type):
                self.fail(f"{of} and {to} differ: {operand} for {var}")

    def path(self, path: ir.Path, args: Sequence[ir.Operand], source: Type, dims: tuple[Dim, ...]) -> None:
        """Checks that the path fits its source, that its operands have the right kind, and that it selects ``dims``."""
        rank = source.rank
        for step in path:
            rank = self.step(step, args, rank)
        found = place_dims(source.dims, path, args, self.form_of)
        fits = len(found) == len(dims) and not any(d is not None and is_apart(d, e) for d, e in zip(found, dims))
        self.check(fits, f"the place has dims ({', '.join(map(str, found))}), not ({', '.join(map(str, dims))})")

    def step(self, step: object, args: Sequence[ir.Operand], rank: int) -> int:
        """Checks one step of a path; returns the rank after it."""
        match step:
            case ir.Index():
                covered = sum(consumed(i, args) for i in step.items)
                self.check(covered == rank, f"an index of {covered} axes for {rank}")
                for item in step.items:
                    for slot, wanted in slots(item):
                        fits = wanted(args[slot].type)
                        self.check(fits, f"operand {args[slot]!r} does not fit {type(item).__name__}")
                return len(place_dims([Dim(0)] * rank, (step,), args, self.form_of))
            case ir.Permute():
                self.check(sorted(step.axes) == list(range(rank)), f"axes {step.axes} of rank {rank}")
                return rank
            case ir.Reshape():
                return len(step.args)
        self.check(rank >= 2, "the diagonal of less than two axes")
        return rank - 1


def slots(item: object) -> Iterator[tuple[int, Callable[[Type], bool]]]:
    """The slots of an item's operands, each with a predicate for the operand's type."""
    match item:
        case ir.Point():
            yield item.arg, is_int_scalar
        case ir.Slice():
            yield from ((s, is_int_scalar) for s in (item.start, item.stop, item.step) if s is not None)
        case ir.Gather():
            yield item.arg, lambda t: t.is_int
        case ir.Mask():
            yield item.arg, lambda t: t.is_bool


def is_buffer(operand: ir.Operand) -> bool:
    return isinstance(operand, ir.Var) and operand.buffer


def is_int_scalar(type_: Type) -> bool:
    return type_.is_int and not type_.dims and type_.kind == "array"


ArrayForm.handlers = {
    ir.Let: ArrayForm.let,
    ir.Alloc: ArrayForm.alloc,
    ir.Store: ArrayForm.store,
    ir.Add: ArrayForm.store,
    ir.If: ArrayForm.branch,
    ir.For: ArrayForm.loop,
    ir.While: ArrayForm.repeat,
    ir.NewStack: ArrayForm.new_stack,
    ir.Push: ArrayForm.push,
    ir.Pop: ArrayForm.pop,
    ir.Print: ArrayForm.effect,
    ir.Breakpoint: ArrayForm.effect,
    ir.Raise: ArrayForm.effect,
    ir.Call: ArrayForm.call,
}
