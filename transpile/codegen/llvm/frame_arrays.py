"""Places small arrays of known sizes in the stack frame, where LLVM keeps their elements in registers.

    x = np.empty((2,), np.float64)         no memory is allocated; a loop that carries ``x`` carries its two
    while ...: x = ...                     elements, and a stack of such arrays is a stack of numbers

This applies to arrays that are not visible outside the function. Sizes come from allocations, and are propagated through views,
loops, branches and stacks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transpile.analysis.accesses import accesses, handed
from transpile.core import nodes as ir
from transpile.core.rebuild import with_blocks, with_body, with_stmts
from transpile.core.walk import blocks, statements

FEW, FEWER = (
    32,
    8,
)  # maximum number of elements of an array passed by value; the second for a function that may call itself
MANY = 512  # maximum number of elements of an array in the stack frame
FRAME, NARROW = (
    2**16,
    2**11,
)  # bytes of all these arrays together: recursion may put a thousand frames on the stack
Sizes = tuple[int, ...]
_LARGEST = 8  # bytes of the largest element


@dataclass
class Small:
    """The ``sizes`` of arrays, and of the arrays in stacks, where they are known; arrays of at most ``few`` elements go by
    value."""

    sizes: dict[ir.Var, Sizes] = field(default_factory=dict)
    few: int = FEW

    def of(self, var: ir.Var) -> Sizes | None:
        """The sizes of an array variable passed by value, or of the elements of a stack that holds them by value; else None."""
        found = self.sizes.get(var)
        return found if found is not None and math.prod(found) <= self.few else None


def placed(fn: ir.Function, is_kept: bool = False) -> tuple[ir.Function, Small]:
    """A pair: the function, in which small local arrays are allocated in the stack frame, and the known sizes.

    ``is_kept``: it may call itself, so less is placed there. ``fn`` itself if no array is.
    """
    found = _Finder(fn)
    found.run(fn)
    small = Small(found.sizes, few=FEWER if is_kept else FEW)
    room, local = NARROW if is_kept else FRAME, set[ir.Var]()
    together = _together(fn)
    for var in _written_later(fn, small):
        for other in together[var]:
            small.sizes.pop(other, None)
    leaving = _leaving(fn, small)
    # an array passed by value has no memory of its own that could outlive the block: the next iteration overwrites it
    while by_value := [v for v in leaving if v in together and small.of(v) is not None]:
        for var in by_value:
            for other in together[var]:
                small.sizes.pop(other, None)
        leaving = _leaving(fn, small)
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.Alloc) and stmt.var in small.sizes and stmt.var not in leaving:
            count = math.prod(small.sizes[stmt.var])
            if count <= MANY and count * _LARGEST <= room:
                room -= count * _LARGEST
                local.add(stmt.var)
    return (with_body(fn, _in_frame(fn.body, local)) if local else fn), small


def _in_frame(block: ir.Block, local: set[ir.Var]) -> ir.Block:
    """The block in which the allocations of the variables ``local``, also in nested blocks, have the space "frame"."""

    def one(stmt: ir.Stmt) -> ir.Stmt:
        if isinstance(stmt, ir.Alloc) and stmt.var in local:
            return replace(stmt, space="frame")
        return with_blocks(stmt, lambda b: _in_frame(b, local))

    return with_stmts(block, [one(s) for s in block.stmts])


def _together(fn: ir.Function) -> dict[ir.Var, list[ir.Var]]:
    """Maps each variable that gets its value from a loop, a branch or a stack to all variables that share its cells.

    These are, itself included, a carried value with its result and test parameter, and a stack with all that is popped from it.
    """
    groups: list[list[ir.Var]] = []
    popped: dict[ir.Var, list[ir.Var]] = {}
    for stmt in statements(fn.body):
        if isinstance(stmt, ir.If):
            groups += [[r] for r in stmt.results]
        elif isinstance(stmt, (ir.For, ir.While)):
            tests = stmt.test.params if isinstance(stmt, ir.While) else ()
            for k, param in enumerate(stmt.body.params):
                groups.append([param, *stmt.results[k : k + 1], *tests[k : k + 1]])
        elif isinstance(stmt, ir.Pop):
            popped.setdefault(stmt.stack, [stmt.stack]).append(stmt.var)
    return {var: group for group in (*groups, *popped.values()) for var in group}


class _Finder:
    """Finds the sizes of arrays that are known numbers: ``sizes``, also of the arrays in a stack under the stack's variable."""

    def __init__(self, fn: ir.Function) -> None:
        self.sizes: dict[ir.Var, Sizes] = {}
        self.pushes: dict[ir.Var, list[ir.Operand]] = {}
        for stmt in statements(fn.body):
            if isinstance(stmt, ir.Push) and stmt.value.type.dims:
                self.pushes.setdefault(stmt.stack, []).append(stmt.value)

    def run(self, fn: ir.Function) -> None:
        """Fills ``sizes``. A stack has sizes if all arrays pushed have the same, which may come from another stack: hence the
        rounds."""
        self.block(fn.body)
        for _ in range(len(self.pushes) + 1):
            before = dict(self.sizes)
            for stack, values in self.pushes.items():
                self.join(stack, values)
            self.block(fn.body)
            if before == self.sizes:
                return
        for stack in self.pushes:
            self.sizes.pop(stack, None)
        self.pushes = {}
        self.block(fn.body)

    def of(self, op: ir.Operand) -> Sizes | None:
        """The sizes found for an operand; None if not known."""
        return self.sizes.get(op) if isinstance(op, ir.Var) else None

    def block(self, block: ir.Block) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)

    def stmt(self, stmt: ir.Stmt) -> None:
        """Notes the sizes of the arrays that a statement defines, and those in its blocks."""
        match stmt:
            case ir.Alloc():
                self.note(stmt.var, [a.value if isinstance(a, ir.Const) else None for a in stmt.args])
            case ir.View(step=ir.Permute()):
                self.note(stmt.var, (self.of(stmt.base) or ())[::-1])
            case ir.View(step=ir.Reshape()):
                self.note(stmt.var, [a.value if isinstance(a, ir.Const) else None for a in stmt.args[1:]])
            case ir.Pop():
                self.note(stmt.var, self.of(stmt.stack) or ())
            case ir.If():
                self.block(stmt.then)
                self.block(stmt.orelse)
                for result, *sides in zip(stmt.results, stmt.then.yields, stmt.orelse.yields):
                    self.join(result, sides)
            case ir.For() | ir.While():
                self.loop(stmt)

    def note(self, var: ir.Var, sizes: Sequence[int | None]) -> None:
        """Sets the sizes of the variable if they are all known, none is negative, and they are as many as its axes; else
        forgets them."""
        known = [n for n in sizes if n is not None and n >= 0]
        self.sizes.pop(var, None)
        if var.type.dims and len(known) == len(sizes) == len(var.type.dims):
            self.sizes[var] = tuple(known)

    def join(self, var: ir.Var, sides: Sequence[ir.Operand]) -> None:
        """Gives the variable the sizes of ``sides`` if those of all are known and the same, undefined values aside; else it has
        none."""
        found = {self.of(s) for s in sides if not isinstance(s, ir.Undef)}
        sizes = found.pop() if len(found) == 1 else None
        self.note(var, sizes or ())

    def loop(self, stmt: ir.For | ir.While) -> None:
        """Finds the sizes in a loop; carried arrays start with those of their initial values, and lose them if an iteration
        changes them."""
        body = stmt.body
        arrays = [k for k, p in enumerate(body.params) if p.type.dims]
        for k in arrays:
            self.join(body.params[k], [stmt.inits[k]])
        for _ in range(len(arrays) + 2):  # the sizes assumed for a carried array may be wrong
            before = [self.of(body.params[k]) for k in arrays]
            self.block(body)
            for k in arrays:
                self.join(body.params[k], [stmt.inits[k], body.yields[k]])
            if before == [self.of(body.params[k]) for k in arrays]:
                break
        else:
            for k in arrays:
                self.sizes.pop(body.params[k], None)
            self.block(body)
        for k in arrays:
            sizes = self.of(body.params[k]) or ()
            if k < len(stmt.results):
                self.note(stmt.results[k], sizes)
            if isinstance(stmt, ir.While):
                self.note(stmt.test.params[k], sizes)
        if isinstance(stmt, ir.While):
            self.block(stmt.test)


def _leaving(fn: ir.Function, small: Small) -> set[ir.Var]:
    """The arrays whose memory is used outside their block, or with a reference count; with a view also what it is a view of."""
    leaving: set[ir.Var] = set()
    base: dict[ir.Var, ir.Var] = {}
    for op in fn.body.yields:
        _add(leaving, op)
    for stmt in statements(fn.body):
        match stmt:
            case ir.View() if isinstance(stmt.base, ir.Var):
                base[stmt.var] = stmt.base
            case ir.Call() if len(stmt.results) > 1 or any(r.type.dims for r in stmt.results):
                for op in stmt.args:
                    _add(leaving, op)
            case ir.Print() | ir.Raise() | ir.Push():
                values = (stmt.value,) if isinstance(stmt, ir.Push) else stmt.args
                stack = stmt.stack if isinstance(stmt, ir.Push) else None
                for op in values:
                    if stack is None or small.of(stack) is None:
                        _add(leaving, op)
            case ir.If() | ir.For() | ir.While():
                for var, op in handed(stmt):
                    if small.of(var) is None:
                        _add(leaving, op)
            case ir.Let() | ir.Alloc() | ir.NewStack() | ir.Pop():
                pass
    changed = True
    while changed:
        more = {base[v] for v in leaving if v in base} - leaving
        leaving |= more
        changed = bool(more)
    return leaving


def _written_later(fn: ir.Function, small: Small) -> set[ir.Var]:
    """Variables passed by value whose source array is written, while they live, under its own name.

    Their copy of the elements would miss the write. No pass produces this (`transpile.analysis.accesses.Touch`); if one did,
    results would be wrong.
    """
    base = {s.var: s.base for s in statements(fn.body) if isinstance(s, ir.View)}
    found: set[ir.Var] = set()

    def root(op: ir.Operand) -> ir.Operand:
        while op in base:
            op = base[op]
        return op

    def visit(block: ir.Block) -> None:
        for k, stmt in enumerate(block.stmts):
            for inner in blocks(stmt):
                visit(inner)
            if not isinstance(stmt, (ir.If, ir.For, ir.While)):
                continue
            pairs = list(handed(stmt)) if isinstance(stmt, ir.If) else list(zip(stmt.body.params, stmt.inits))
            pairs = [(var, op) for var, op in pairs if small.of(var) is not None]
            if not pairs:
                continue
            later = [*([] if isinstance(stmt, ir.If) else stmt.body.stmts), *block.stmts[k + 1 :]]
            changed = {root(a.var) for s in statements(ir.Block((), later)) for a in accesses(s) if a.kind != "read"}
            found.update(var for var, op in pairs if root(op) in changed)

    visit(fn.body)
    return found


def _add(found: set[ir.Var], op: ir.Operand) -> None:
    """Adds an operand to ``found`` if it is an array variable."""
    if isinstance(op, ir.Var) and op.type.dims:
        found.add(op)
