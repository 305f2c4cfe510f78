"""Leaves single assignment: decides which values share a Python variable, and names the variables.

Two values interfere if one is set while the other is still needed. Values that a loop or a branch passes on share a variable if
they do not interfere (then no assignment is printed), and so do values with the same user's name. Other clashes get a number:
``x_2``.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

from transpile.analysis.liveness import Liveness, Numbers
from transpile.codegen.numpy.argument_trees import whole
from transpile.codegen.numpy.expression_trees import FLAGS, Nested, is_synthetic, renamings
from transpile.core import nodes as ir
from transpile.core.walk import defines, statements
from transpile.ops.tables import record_of


def name_variables(nested: Nested, preferred: dict[ir.Var, str], reserved: Iterable[str]) -> dict[ir.Var, str]:
    """The Python name of each variable that has one: nested ones and unread results of calls have none.

    ``preferred`` are the names to use where possible; none is one of ``reserved`` or a keyword.
    """
    numbers = Numbers(nested.fn)
    live = Liveness(nested.fn, numbers, nested.reads, nested.ends)
    conflicts = _Interference(nested, numbers, live)
    classes = _Classes(nested, numbers, conflicts.of, preferred)
    classes.coalesce()
    return classes.colour({*reserved, *keyword.kwlist})


class _Interference:
    """``of[k]``: the bits of the variables that must not share a Python variable with variable ``k``."""

    def __init__(self, nested: Nested, numbers: Numbers, live: Liveness) -> None:
        self.nested, self.numbers, self.live = nested, numbers, live
        self.of: dict[int, int] = {}
        params = numbers.mask(nested.fn.params)
        for param in nested.fn.params:
            self.define(param, live.start | params)
        self.block(nested.fn.body)

    def define(self, var: ir.Var, live: int) -> None:
        """Notes that ``var`` must not share a variable with those in the mask ``live``."""
        number = self.numbers.number(var)
        others = live & ~(1 << number)
        self.of[number] = self.of.get(number, 0) | others
        for other in self.numbers.members(others):
            k = self.numbers.of[other]
            self.of[k] = self.of.get(k, 0) | 1 << number

    def block(self, block: ir.Block) -> None:
        """Notes what the statements of a block must not overwrite."""
        for at, stmt in enumerate(block.stmts):
            after = self.live.after[id(block.stmts[at + renamings(block.stmts, at, self.nested) - 1])]
            for var in defines(stmt):
                self.define(var, after)
            self.stmt(stmt, after)

    def stmt(self, stmt: ir.Stmt, after: int) -> None:
        """Notes what a statement must not overwrite apart from its results; ``after``: a mask of the variables live after
        it."""
        match stmt:
            case ir.Store() | ir.Add():
                if not stmt.buf.type.dims:
                    self.define(stmt.buf, after)
            case ir.If():
                self.block(stmt.then)
                self.block(stmt.orelse)
            case ir.For() | ir.While():
                self.loop(stmt)

    def loop(self, stmt: ir.For | ir.While) -> None:
        """Notes what the index and the carried values of a loop must not overwrite, and continues with its blocks."""
        around = self.live.around[id(stmt)] | self.live.entry[id(stmt.body)]
        if isinstance(stmt, ir.For):
            self.define(stmt.index, around)
        head = 0
        if isinstance(stmt, ir.For):  # initial values of carried variables are assigned before the head is evaluated
            head = self.numbers.mask(self.nested.leaves([stmt.start, stmt.bound, stmt.step]))
        late = set(self.nested.leaves([stmt.body.stop])) if stmt.body.stop is not None else set()
        for param, value in zip(stmt.body.params, stmt.body.yields):
            if around >> self.numbers.number(param) & 1:
                self.define(param, around | head | self.numbers.mask(v for v in late if v is not value))
        if isinstance(stmt, ir.While):
            self.block(stmt.test)
        self.block(stmt.body)


class _Classes:
    """Variables that share a name: a union-find whose classes have masks of members and of conflicts, and a name.

    ``fixed``: parameters, whose names do not change.
    """

    def __init__(
        self, nested: Nested, numbers: Numbers, conflicts: dict[int, int], preferred: dict[ir.Var, str]
    ) -> None:
        self.nested, self.numbers, self.preferred = nested, numbers, preferred
        self.parent: dict[ir.Var, ir.Var] = {}
        self.members: dict[ir.Var, int] = {}
        self.conflicts: dict[ir.Var, int] = {}
        self.defs = {s.var: s for s in statements(nested.fn.body) if isinstance(s, ir.Let)}
        params = set(nested.fn.params)
        self.names: dict[ir.Var, str] = {}
        self.fixed = params
        self.whole = whole(nested.fn)  # names of arguments that are no parameters
        self.tapes, self.sources = _recordings(nested)
        left_out = nested.trees.keys() | nested.passed_over()
        for var in list(numbers.vars):
            if var not in left_out:
                self.parent[var] = var
                self.members[var] = numbers.bit(var)
                self.conflicts[var] = conflicts.get(numbers.of[var], 0)
                name = preferred.get(var, var.name)
                self.names[var] = ir.SYNTHETIC if is_synthetic(name) or var in self.tapes else _identifier(name)

    def find(self, var: ir.Var) -> ir.Var:
        """The variable that stands for the class of ``var``."""
        while self.parent[var] is not var:
            var = self.parent[var]
        return var

    # ---- sharing

    def coalesce(self) -> None:
        """Joins the classes of values that branches and loops pass on, where they do not interfere.

        There are three rounds: values that branches and iterations yield, then results of loops, then initial values.
        """
        pairs: list[list[tuple[object, object]]] = [[], [], []]
        for stmt in statements(self.nested.fn.body):
            match stmt:
                case ir.If():
                    pairs[0] += zip(stmt.results, stmt.then.yields)
                    pairs[0] += zip(stmt.results, stmt.orelse.yields)
                case ir.For() | ir.While():
                    pairs[0] += zip(stmt.body.params, stmt.body.yields)
                    pairs[1] += zip(stmt.body.params, stmt.results)
                    pairs[2] += zip(stmt.body.params, stmt.inits)
        for level in pairs:
            for a, b in level:
                if isinstance(a, ir.Var) and isinstance(b, ir.Var) and a in self.parent and b in self.parent:
                    self.merge(a, b)

    def merge(self, a: ir.Var, b: ir.Var) -> None:
        """Joins the classes of two variables, unless they interfere, are both parameters, or the user gave them different
        names."""
        a, b = self.find(a), self.find(b)
        if a is b or self.conflicts[a] & self.members[b]:
            return
        if self.names[a] != self.names[b] and ir.SYNTHETIC not in (self.names[a], self.names[b]):
            return
        if b in self.fixed:
            a, b = b, a
        if b in self.fixed:
            return
        self.parent[b] = a
        self.members[a] |= self.members[b]
        self.conflicts[a] |= self.conflicts[b]
        if a not in self.fixed and self.names[a] == ir.SYNTHETIC:
            self.names[a] = self.names[b]

    # ---- names

    def colour(self, reserved: set[str]) -> dict[ir.Var, str]:
        """The name of each variable; classes may have the same name if they do not interfere, others get a number."""
        taken: dict[str, int] = {}  # name -> members of the classes with that name
        chosen: dict[ir.Var, str] = {}
        heads = [v for v in self.parent if self.find(v) is v]
        heads.sort(key=lambda v: (v not in self.fixed, self.names[v] == ir.SYNTHETIC, self.numbers.of[v]))
        for head in self.ordered(heads):
            synthetic = self.names[head] == ir.SYNTHETIC
            alone = synthetic and (
                head in self.tapes or head not in self.sources
            )  # else it may share the name of the recorded value
            base = self.derived(head, chosen) if synthetic else self.names[head]
            name, count = base, 1
            while (
                name in reserved
                or (head in self.fixed and name in self.whole)
                or (name in taken and (alone or taken[name] & self.conflicts[head]))
            ):
                count += 1
                name = f"{base}_{count}"
            taken[name] = taken.get(name, 0) | self.members[head]
            chosen[head] = name
        return {v: chosen[self.find(v)] for v in self.parent}

    def ordered(self, heads: list[ir.Var]) -> Iterator[ir.Var]:
        """Yields each of ``heads``, the variables that stand for classes, before the ones named after it.

        A tape comes after the value it records, a value read from a tape after the tape.
        """
        done: set[ir.Var] = set()
        for head in heads:
            chain = []
            while head not in done:
                done.add(head)
                chain.append(head)
                source = self.sources.get(head)
                if self.names[head] != ir.SYNTHETIC or source not in self.parent:
                    break
                head = self.find(source)
            yield from reversed(chain)

    def derived(self, head: ir.Var, chosen: dict[ir.Var, str]) -> str:
        """A name for a value to which the user gave none, from its definition, "t" if that says nothing; ``chosen``: the names
        so far."""
        source = self.sources.get(head)
        if source is not None and head in self.tapes:
            tree = self.nested.trees.get(source) if isinstance(source, ir.Var) else None
            word = self.described(tree, chosen) if isinstance(tree, ir.Let) else self.word(source, chosen)
            return f"{re.sub('_[0-9]+$', '', word) or 't'}_tape"
        if source is not None and (word := self.word(source, chosen)):
            return re.sub("_tape(_[0-9]+)?$", "", word)
        let = self.defs.get(head)
        return "t" if let is None else self.described(let, chosen)

    def described(self, let: ir.Let, chosen: dict[ir.Var, str]) -> str:
        """A name from what a *let* computes and the names of its operands, such as ``exp_x``; "t" if there is nothing to
        say."""
        words = ["" if re.fullmatch("t(_[0-9]+)?", w := self.word(a, chosen)) else w for a in let.args]
        if let.prim == "index" and all(words) and _is_element(let):
            return _identifier("_".join(words))
        said = record_of(let).said
        if said and len(let.args) == 1 and words[0]:
            return _identifier(f"{said}_{words[0]}")
        if said and self.nested.trees.get(let.var) is let:
            return said
        if let.prim == "index" and words[0] and self.nested.trees.get(let.var) is let:
            return words[0]
        return record_of(let).called or "t"

    def word(self, operand: object, chosen: dict[ir.Var, str]) -> str:
        """The name chosen for a variable, or the digits of a constant that is a Python int of at least 0; empty for any other
        constant, for an expression, and for a variable without a name so far."""
        if isinstance(operand, ir.Const):
            return str(operand.value) if type(operand.value) is int and operand.value >= 0 else ""
        if not isinstance(operand, ir.Var) or operand in self.nested.trees or operand not in self.parent:
            return ""
        return chosen.get(self.find(operand), "")


def _recordings(nested: Nested) -> tuple[set[ir.Var], dict[ir.Var, ir.Operand]]:
    """A pair: the tapes of unnamed values, and the variables after which others are named.

    The latter maps a tape to the value first recorded on it, and a value read from a tape to the tape.
    """
    tapes: set[ir.Var] = set()
    sources: dict[ir.Var, ir.Operand] = {}
    for stmt in statements(nested.fn.body):
        match stmt:
            case ir.Push(stack=tape, value=value) | ir.Store(buf=tape, value=value):
                unnamed = not isinstance(value, ir.Var) or is_synthetic(value.name)
                if tape.name == _TAPE and unnamed:
                    tapes.add(tape)
                    sources.setdefault(tape, value)
            case ir.Pop():
                sources[stmt.var] = stmt.stack
            case ir.Let(prim="index", args=(ir.Var() as tape, *_)) if tape in tapes:
                sources[stmt.var] = tape
    return tapes, sources


def _is_element(let: ir.Let) -> bool:
    """Whether a read by ``index`` has only single indices."""
    return all(isinstance(s, ir.Index) and all(isinstance(i, ir.Point) for i in s.items) for s in let.params["path"])


def _identifier(name: str) -> str:
    """The Python identifier nearest to the name; the underscore at the start of the frontend's flags of exits is dropped.

    A keyword is not changed here.
    """
    name = re.sub(rf"^_({'|'.join(flag[1:] for flag in FLAGS)})", r"\1", name)
    name = re.sub(r"\W+", "_", name)
    if not name or name[0].isdigit():
        name = f"v_{name}"
    return name


_TAPE = "t_tape"  # name of the tape of an unnamed value
