"""The arrays that are alive at once in compiled code, read off the text of its loops.

Numba gives an array back behind its last use; what is used in a loop and made before it lives as long as the loop. Sizes are the
integers that the text computes from the shapes of its arguments. Where an array comes from a call whose result has a size of
its own, nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from transpile.core import nodes as ir
from transpile.errors import TranspileError
from transpile.reports.call_numbers import Values
from transpile.reports.formula import Formula
from transpile.reports.peak import Array, Peak
from transpile.reports.recorded import Amount
from transpile.reports.size_formulas import Sizes

AS_FIRST = ("inv", "cholesky", "sort", "argsort", "expm")  # calls whose result has the dims of their first argument
OF_ITS_OWN = (
    "bincount", "bincount_weighted", "digitize", "interp", "isin", "nonzero", "repeat_each", "resort", "scatter_add", "unique",
)  # calls of `transpile_runtime.compiled.arrays` whose result is an array of another size; the others give numbers  # fmt: skip

Dims = tuple["Formula | None", ...]


MODULES = ("linalg", "arrays")


@dataclass
class _Life:
    """An array: from where on and up to where it is alive, in numbers of statements."""

    name: str
    dims: Dims
    item: int
    line: int
    start: int
    end: int
    loops: tuple[int, ...]
    stack: Amount | None = None

    @property
    def formula(self) -> Formula | None:
        total = Formula.of(self.item)
        for dim in self.dims:
            if dim is None:
                return None
            total = total * dim
        return total


@dataclass(frozen=True)
class Plan:
    """The arrays of a compiled function; ``formulas`` are those of their sizes."""

    lives: tuple[_Life, ...]
    lines: Mapping[int, ir.Loc]
    core: ir.Function

    @property
    def formulas(self) -> list[Formula]:
        return [life.formula for life in self.lives if life.formula is not None]

    def peak(self, values: Values) -> Peak | None:
        """The moment at which most is alive."""
        arrays: list[tuple[_Life, Array]] = []
        for life in self.lives:
            formula = life.formula
            size = None if formula is None else values.of(formula)
            bounded = life.stack is not None and life.stack.var in values.taken
            if life.stack is not None and bounded:
                size = values.taken[life.stack.var]
            if formula is None or size is None:
                return None
            loc = self.lines.get(life.line, self.core.loc)
            arrays.append((life, Array(life.name, formula, size, loc, not bounded)))
        best: list[tuple[_Life, Array]] = []
        for life, _ in arrays:
            alive = [(other, a) for other, a in arrays if other.start <= life.start <= other.end]
            if sum(a.bytes for _, a in alive) > sum(a.bytes for _, a in best):
                best = alive
        last = max((life for life, _ in best), key=lambda life: life.start, default=None)
        loc = self.core.loc if last is None else self.lines.get(last.line, self.core.loc)
        total = sum((a.formula for _, a in best), Formula())
        exact = all(a.is_exact for _, a in best)
        return Peak(sum(a.bytes for _, a in best), total, loc, tuple(a for _, a in best), exact)


TextOf = Callable[[ir.Function], tuple[str, Mapping[int, ir.Loc]]]  # and the user's line of each of its lines


def compiled_plan(
    core: ir.Function, sizes: Sizes, stacks: Sequence[tuple[Amount, Dims]], text_of: TextOf
) -> Plan | None:
    """The arrays of the compiled function; None if it cannot be compiled, or if the size of one is not known.

    ``stacks`` are those of the text, in order, with the dims of their entries.
    """
    try:
        text, lines = text_of(core)
    except TranspileError:
        return None
    kernel = next(s for s in ast.parse(text).body if isinstance(s, ast.FunctionDef) and s.name == core.name)
    reader = _Reader(core, sizes, kernel, stacks)
    reader.run()
    return Plan(tuple(reader.lives), lines, core) if reader.is_known else None


class _Reader:
    def __init__(
        self, core: ir.Function, sizes: Sizes, kernel: ast.FunctionDef, stacks: Sequence[tuple[Amount, Dims]]
    ) -> None:
        self.sizes, self.kernel, self.stacks = sizes, kernel, list(stacks)
        names = [a.arg for a in kernel.args.args]
        self.numbers: dict[str, Formula | None] = {}
        self.dims: dict[str, Dims] = {}  # of arrays, by name
        self.items: dict[str, int] = {}
        for name, param in zip(names, core.params):
            self.items[name] = np.dtype(param.type.dtype).itemsize
            if param.type.dims:
                self.dims[name] = tuple(sizes.of_dim(d) for d in param.type.dims)
            elif param.type.is_int:
                self.numbers[name] = sizes.of(param)
        self.lives: list[_Life] = []
        self.by_name: dict[str, list[_Life]] = {}
        self.entries: dict[str, Dims] = {}  # of stacks
        self.is_known = True
        self.at = 0
        self.ends: dict[int, int] = {}  # number of a loop -> that of its last statement
        self.uses: list[tuple[str, int, tuple[int, ...]]] = []
        outs = names[len(core.params) :]  # what the caller allocates for the results
        for name, out in zip(outs, (y for y in core.body.yields if y.type.dims)):
            dims = tuple(sizes.of_dim(d) for d in out.type.dims)
            self.begin(name, dims, np.dtype(out.type.dtype).itemsize, kernel.lineno, ())
        self.outs = set(outs)

    def run(self) -> None:
        self.block(self.kernel.body, ())
        for life in self.lives:
            life.end = self.at if life.name in self.outs else life.start
        for name, at, loops in self.uses:
            for life in self.by_name.get(name, ()):
                around = [k for k in loops if k not in life.loops]
                life.end = max(life.end, self.ends[around[0]] if around else at)
                if at < life.start and life.loops:  # of the trip before
                    life.start, life.end = min(life.start, life.loops[-1]), max(life.end, self.ends[life.loops[-1]])

    def begin(self, name: str, dims: Dims, item: int, line: int, loops: tuple[int, ...]) -> None:
        life = _Life(name, dims, item, line, self.at, self.at, loops)
        self.lives.append(life)
        self.by_name.setdefault(name, []).append(life)
        self.dims[name], self.items[name] = dims, item
        self.is_known = self.is_known and life.formula is not None

    # ---- statements

    def block(self, stmts: list[ast.stmt], loops: tuple[int, ...]) -> None:
        for stmt in stmts:
            self.at += 1
            match stmt:
                case ast.For() | ast.While():
                    number = self.at
                    self.use(stmt.iter if isinstance(stmt, ast.For) else stmt.test, (*loops, number))
                    if isinstance(stmt, ast.For):
                        self.index(stmt)
                    self.ends[number] = 0
                    self.block(stmt.body, (*loops, number))
                    self.ends[number] = self.at
                case ast.If():
                    self.use(stmt.test, loops)
                    self.block(stmt.body, loops)
                    self.block(stmt.orelse, loops)
                case ast.Assign(targets=[ast.Name() as target]):
                    self.use(stmt.value, loops)
                    self.assign(target.id, stmt.value, stmt.lineno, loops)
                case ast.Assign(targets=[ast.Tuple() as target]):
                    self.use(stmt.value, loops)
                    self.several(target, stmt.value, stmt.lineno, loops)
                case _:
                    self.use(stmt, loops)

    def index(self, stmt: ast.For) -> None:
        """A loop index counts as its largest value."""
        if isinstance(stmt.target, ast.Name) and isinstance(stmt.iter, ast.Call) and stmt.iter.args:
            args = stmt.iter.args
            falls = len(args) == 3 and isinstance(args[2], ast.UnaryOp)
            last = self.number(args[0 if falls else min(1, len(args) - 1)])
            self.numbers[stmt.target.id] = None if last is None else last if falls else last - 1

    def use(self, node: ast.AST, loops: tuple[int, ...]) -> None:
        for name in _names(node):
            self.uses.append((name, self.at, loops))

    def assign(self, name: str, value: ast.expr, line: int, loops: tuple[int, ...]) -> None:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr="empty" | "zeros"), args=[shape, dtype]):
                dims = tuple(map(self.number, shape.elts)) if isinstance(shape, ast.Tuple) else (self.number(shape),)
                self.begin(name, dims, _item_size(dtype), line, loops)
            case ast.ListComp():
                stack, self.entries[name] = self.stacks[len(self.entries)]
                self.begin(name, (stack.formula,), 1, line, loops)
                self.lives[-1].stack = stack
            case ast.Call(func=ast.Attribute(value=ast.Name(id=stack), attr="pop")) if stack in self.entries:
                self.dims[name] = self.entries[stack]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=called), args=args) if (
                module in MODULES and module != "scalars"
            ):
                self.called(name, module, called, args, line, loops)
            case _ if (found := self.viewed(value)) is not None:
                base, dims = found
                self.alias(name, base)
                self.dims[name] = dims
            case _:
                number = self.number(value)
                self.numbers[name] = number if self.numbers.get(name, number) == number else None

    def viewed(self, value: ast.expr) -> tuple[str, Dims] | None:
        """The array that the expression is or views, and the dims."""
        match value:
            case ast.Name(id=name) if name in self.dims:
                return name, self.dims[name]
            case ast.Attribute(value=ast.Name(id=name), attr="T") if name in self.dims:
                return name, self.dims[name][::-1]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="reshape"), args=[shape]) if (
                name in self.dims
            ):
                return name, tuple(map(self.number, shape.elts if isinstance(shape, ast.Tuple) else [shape]))
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.dims:
                if any(isinstance(part, ast.Slice) for part in ast.walk(index)):
                    return name, (None,) * len(self.dims[name])
        return None

    def alias(self, name: str, other: str) -> None:
        """Two names for one array: a use of one is a use of the other."""
        old, new = self.by_name.get(name, []), self.by_name.get(other, [])
        self.by_name[name] = self.by_name[other] = [*new, *(life for life in old if life not in new)]
        self.dims[name], self.items[name] = self.dims[other], self.items.get(other, 8)

    def called(
        self, name: str, module: str, called: str, args: list[ast.expr], line: int, loops: tuple[int, ...]
    ) -> None:
        known = [found[1] if (found := self.viewed(a)) is not None else None for a in args]
        first = args[0].id if args and isinstance(args[0], ast.Name) else ""
        dims: Dims | None = None
        if called == "det" or module == "arrays" and called not in (*AS_FIRST, *OF_ITS_OWN):
            return
        if called == "matmul" and len(args) == 3:  # into the third
            if (target := self.viewed(args[2])) is not None:
                self.alias(name, target[0])
            return
        if called in AS_FIRST and known:
            dims = known[0]
        elif called == "matmul" and all(d is not None and len(d) == 2 for d in known):
            dims = (known[0][0], known[1][1])  # type: ignore[index]
        elif called == "solve" and len(args) == 2:
            dims = known[1]
        if dims is None:
            self.is_known = False
            return
        self.begin(name, dims, 8 if called == "argsort" else self.items.get(first, 8), line, loops)

    def several(self, target: ast.Tuple, value: ast.expr, line: int, loops: tuple[int, ...]) -> None:
        if isinstance(value, ast.Tuple):
            for one, part in zip(target.elts, value.elts):
                if isinstance(one, ast.Name):
                    self.assign(one.id, part, line, loops)
        elif isinstance(value, ast.Call):
            self.is_known = False

    # ---- integers

    def number(self, node: ast.expr) -> Formula | None:
        """The value of an integer expression as a formula, where it can be read."""
        match node:
            case ast.Constant(value=int() as value):
                return Formula.of(value)
            case ast.Name(id=name):
                return self.numbers.get(name)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=int() as k)
            ):
                return self.dims[name][k] if k < len(self.dims.get(name, ())) else None
            case ast.Call(func=ast.Attribute(value=ast.Name(id="np")) | ast.Name(id="int"), args=[inner]):
                return self.number(inner)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                found = self.number(inner)
                return None if found is None else -found
            case ast.BinOp(left=left, op=op, right=right):
                return self.operation(type(op), self.number(left), self.number(right))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="scalars"), attr=called), args=[a, b]):
                return self.operation(_WRAPPING.get(called), self.number(a), self.number(b))
            case ast.Call(func=ast.Name(id="max" | "min" as called), args=[a, b]):
                return self.operation(called, self.number(a), self.number(b))
            case ast.Call(func=ast.Attribute(attr=called), args=[a, b]) if called.startswith(("maximum", "minimum")):
                return self.operation(called[:3], self.number(a), self.number(b))
        return None

    def operation(self, op: object, a: Formula | None, b: Formula | None) -> Formula | None:
        if a is None or b is None:
            return None
        if op in ("max", "min"):
            return self.sizes.one_of(str(op), a, b)
        if op is ast.Add:
            return a + b
        if op is ast.Sub:
            return a - b
        if op is ast.Mult:
            return a * b
        return Formula.operation("//", a, b) if op is ast.FloorDiv else None


_WRAPPING = {"plus": ast.Add, "minus": ast.Sub, "times": ast.Mult}  # of 64 bits, which a size has


def _names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            yield inner.id


def _item_size(node: ast.expr) -> int:
    name = node.attr if isinstance(node, ast.Attribute) else "float64"
    return np.dtype(name.rstrip("_")).itemsize


__all__ = ["Plan", "compiled_plan"]
