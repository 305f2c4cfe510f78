"""The module around printed functions: imports, header, docstring, packing of arguments and results."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from transpile.base.raised import Raised
from transpile.codegen.import_statements import import_lines
from transpile.codegen.layout import Line, lay_out
from transpile.codegen.numpy.argument_trees import pack, unpack, whole
from transpile.codegen.numpy.canonical_form import ZERO, normalise
from transpile.codegen.numpy.copy_elision import settle_copies
from transpile.codegen.numpy.exact_integers import keep_integers
from transpile.codegen.numpy.expression_trees import Nested, nest
from transpile.codegen.numpy.implicit_casts import relax
from transpile.codegen.numpy.loop_invariants import memory_before_loops, numbers_before_loops
from transpile.codegen.numpy.printable_form import Printable
from transpile.codegen.numpy.printed_blocks import bare
from transpile.codegen.numpy.printed_exits import resolve
from transpile.codegen.numpy.printed_imports import Imports
from transpile.codegen.numpy.printed_shapes import say_shapes
from transpile.codegen.numpy.printed_statements import Writer
from transpile.codegen.numpy.undefined_moves import given_back, is_handed_on, moves_undefined
from transpile.codegen.numpy.variable_names import name_variables
from transpile.codegen.rendered import Rendered
from transpile.codegen.size_guards import say_guards
from transpile.core import nodes as ir
from transpile.core.functions import helpers
from transpile.simplify.dead_code import remove_dead
from transpile.simplify.expansion import expanded
from transpile.simplify.placeholders import with_placeholders


def render_function(fn: ir.Function, runtime: bool) -> Rendered:
    """The module text of ``fn``, with its kept functions; with ``runtime`` it may import from ``transpile_runtime``."""
    return render_functions([fn], runtime)


def render_functions(fns: Sequence[ir.Function], runtime: bool) -> Rendered:
    """The module text of several functions, each after its kept functions; all names differ.

    With ``runtime`` it may import from ``transpile_runtime``. The record has the name of the last function.
    """
    kept = [[routine.body for routine in helpers(fn)] for fn in fns]
    several = {
        one.name: one for fn, own in zip(fns, kept) for one in (*own, fn)
    }  # functions of the same name are the same
    prepared = [_prepared(one) for one in several.values()]
    reserved = {one.name for own in kept for one in own}
    reserved |= {fn.name for fn in fns if fn.routine is not None or len(fns) > 1}
    while True:
        imports = Imports(runtime)
        clash: set[str] = set()
        texts: list[list[Line]] = []
        for nested, preferred in prepared:
            names = name_variables(nested, preferred, reserved)
            texts.append(
                [
                    replace(line, parts=tuple(imports.parts(line.parts)))
                    for line in _Function(nested, names, imports, reserved).lines()
                ]
            )
            clash |= {names[v] for v in names} | (whole(nested.fn) - reserved)
        clash &= imports.names
        if not clash:
            return _module(fns[-1], texts, imports)
        reserved |= clash


def _prepared(fn: ir.Function) -> tuple[Nested, dict[ir.Var, str]]:
    """A pair: the function with its values nested, and the preferred names of merged variables.

    If its text would assign a variable to another one before it has a value, the function is printed with placeholders as
    initial values.
    """
    nested, preferred = _printable(fn)
    form = Printable(nested, name_variables(nested, preferred, set()))
    return _printable(with_placeholders(fn, None)) if moves_undefined(form) else (nested, preferred)


def _printable(fn: ir.Function) -> tuple[Nested, dict[ir.Var, str]]:
    """A pair: the function after all steps before naming, with its values nested, and the preferred names of merged
    variables."""
    fn = say_shapes(remove_dead(relax(normalise(say_guards(keep_integers(expanded(fn)))))))
    fn = remove_dead(replace(fn, symbols=defaultdict(lambda: ZERO)), sizes=False)  # sizes are operands by now
    settled = settle_copies(memory_before_loops(fn))
    final = remove_dead(settled.fn, sizes=False)
    nested = nest(final, settled.names)
    return replace(nested, fn=numbers_before_loops(nested.fn, nested.trees)), settled.names


def printable(fn: ir.Function) -> Printable:
    """The function in printable form, with names as in a module of its own that imports nothing."""
    nested, preferred = _prepared(fn)
    return Printable(nested, name_variables(nested, preferred, set()))


def _module(fn: ir.Function, texts: Sequence[Sequence[Line]], imports: Imports) -> Rendered:
    """The record of the text: imports, then the functions, given by their lines, each after two empty lines.

    ``fn`` gives its name.
    """
    head = import_lines(imports.groups())
    text = list(head)
    line_map: dict[int, ir.Loc] = {}
    raises: dict[int, Raised] = {}
    for lines in texts:
        text += ["", ""] if text else []
        for line, of in lay_out(lines):
            text.append(line)
            if of.loc.line:
                line_map[len(text)] = of.loc
            if of.raised is not None:
                raises[len(text)] = of.raised
    whole, body = ("\n".join(part) + "\n" for part in (text, text[len(head) + 2 if head else 0 :]))
    groups = imports.groups()
    return Rendered(whole, fn.name, line_map, raises, groups, imports.members, imports.classes, body)


class _Function:
    """Writes the lines of one function."""

    def __init__(self, nested: Nested, names: dict[ir.Var, str], imports: Imports, reserved: Collection[str]) -> None:
        self.nested, self.names, self.imports, self.reserved = nested, names, imports, reserved
        self.writer = Writer(Printable(nested, names))
        self.fn = nested.fn

    def lines(self) -> list[Line]:
        """All lines of the function: header, docstring, unpacking of arguments, body."""
        unpacking, header = unpack(self.fn, self.names, self.nested.everything_read(), self.reserved, self.imports)
        text = self.fn.doc.replace("\\", "\\\\").replace('"""', "'''")
        doc = [Line(1, (f'"""{text}"""',))] if text else []
        self.writer.lines = []
        self.returning(self.fn.body.stmts, self.fn.body.yields, 1)
        body = [*unpacking, *self.writer.lines]
        top = Line(0, (f"def {self.fn.name}", header, ":"))
        return [top, *doc, *(body or ([] if doc else [Line(1, ("pass",))]))]

    def returning(self, stmts: Sequence[ir.Stmt], yields: tuple[ir.Operand, ...], depth: int) -> None:
        """Writes statements and the return of ``yields``; if a branch that sets these comes last, each side returns."""
        last = stmts[-1] if stmts else None
        if not isinstance(last, ir.If) or not is_handed_on(self.nested, last, yields):
            self.writer.block(stmts, depth)
            self.result(yields, depth)
            return
        if self.returning_inside(stmts, last, yields, depth):
            return
        self.writer.block(stmts[:-1], depth)
        sides = []
        for side in (last.then, last.orelse):
            saved, self.writer.lines = self.writer.lines, []
            self.returning(side.stmts, given_back(last, side, yields), depth + 1)
            sides.append(self.writer.lines)
            self.writer.lines = saved
        then, orelse = sides
        if len(then) > 1 and len(orelse) == 1 and (then[-1].depth, then[-1].text) == (depth + 1, orelse[0].text):
            then.pop()  # the common return follows the branch
        self.writer.line(depth, "if ", self.writer.node(last.test), ":", loc=last.loc)
        self.writer.lines += then or [Line(depth + 1, ("pass",))]
        self.writer.lines += [replace(line, depth=line.depth - 1) for line in orelse]

    def returning_inside(
        self, stmts: Sequence[ir.Stmt], last: ir.If, yields: tuple[ir.Operand, ...], depth: int
    ) -> bool:
        """Writes statements, a loop that was left by ``return``, and the rest; the ``return`` stands inside the loop.

        Returns False, and writes nothing, if ``last`` follows no such loop.
        """
        flagged = self.writer.flags.find(stmts[-2] if len(stmts) > 1 else None, last)
        if flagged is None:
            return False
        loop = flagged.loop
        stopped: dict[ir.Operand, ir.Operand] = dict(zip(last.results, flagged.stopped.yields))
        values = tuple(stopped.get(y, y) for y in yields)
        only = self.writer.flags.handed_out(loop, values)
        if only is None:
            return False
        out: dict[ir.Operand, ir.Operand] = dict(zip(loop.results, loop.body.yields))
        self.writer.unsaid |= {loop.results[flagged.slot], loop.body.params[flagged.slot], *only}
        self.writer.leaves[id(loop)] = lambda depth, env: self.result(
            tuple(resolve(out.get(v, v), env, self.nested) for v in values), depth
        )
        self.writer.block(stmts[:-1], depth)
        self.returning(flagged.ended.stmts, given_back(last, flagged.ended, yields), depth)
        return True

    def result(self, yields: tuple[ir.Operand, ...], depth: int) -> None:
        """Writes the return of ``yields``, packed in the user's structure; nothing for None, or if all are undefined."""
        if not yields and (self.fn.out_tree is None or _is_none(self.fn.out_tree)):
            return
        if yields and all(isinstance(y, ir.Undef) for y in yields):
            return  # this path has raised
        nodes = [self.writer.expressions.operand(y, True) for y in yields]
        packed = pack(self.fn.out_tree, nodes, self.imports)
        parts: Iterable[str | ast.expr] = [packed]
        if isinstance(packed, ast.Tuple) and len(packed.elts) > 1:
            parts = bare(packed)
        loc = ir.NOWHERE
        nested = [self.nested.trees[y].loc for y in yields if isinstance(y, ir.Var) and y in self.nested.trees]
        if nested:
            loc = nested[0]
        self.writer.line(depth, "return ", *parts, loc=loc)


def _is_none(tree: Any) -> bool:
    return getattr(tree, "value", 0) is None
