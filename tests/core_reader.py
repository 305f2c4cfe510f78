"""Reads the text of loop core that `transpile.core.dump` writes: ``read(dump(fn))`` is a function with the text of ``fn``.

Tests of passes are written in this text (`tests/loops/passes`), and mutants are made of it. Lines of a program and reasons are
not part of the text; the dtypes of what is printed are not either.

>>> from transpile.core.dump import dump
>>> text = '''f(x: float64[?]):
...   t: float64 = x[0]
...   yield t'''
>>> dump(read(text)) == text
True
>>> read(text.replace("yield t", "yield u"))
Traceback (most recent call last):
    ...
core_reader.NotCore: line 3, column 9: 'u' is no operand
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NoReturn, TypeVar

from transpile.core import nodes as ir
from transpile.core.dims import ANY, Dim
from transpile.core.types import BOOL, DTYPES, FLOAT, INT, Type
from transpile.core.walk import defined
from transpile.ops.library_entries import entries
from transpile.ops.tables import of_dialect


class NotCore(ValueError):
    """The text is not that of loop core; the message names line and column."""


def read(text: str) -> ir.Function:
    """The function of this text; `NotCore` if it is none."""
    return _Reader(text).function()


def read_all(text: str) -> tuple[ir.Function, ...]:
    """The functions of a text with empty lines between them."""
    return tuple(read(part) for part in re.split(r"\n\s*\n", text.strip()))


def plain(fn: ir.Function) -> ir.Function:
    """The function, in which names are changed to what their text tells apart, without dots, and sizes that are formulas, which
    mean nothing in loop core, to `ANY`."""
    for var in {*fn.params, *defined(fn.body)}:
        var.name = var.name.replace(".", "_")
        var.type = var.type.with_dims(tuple(d if d.is_const or d.is_size_symbol else ANY for d in var.type.dims))
    return fn


T = TypeVar("T")
_NAME = re.compile(r"[^\W\d]\w*(?:\.\d+)*")  # ``size.1`` is a label of its own, ``size.2`` is the second ``size``
_WORD = re.compile(r"[\w.]+")
_NUMBER = re.compile(r"-?(?:inf\b|nan\b|\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
_WEAK = {"float": FLOAT, "int": INT, "bool": BOOL}
_PLACE = re.compile(r"[^\W\d]\w*(\.\d+)*(\[|\.permute\(|\.view\(|\.diagonal\b)")
_KINDS = ("parallel", "vector")


class _Line:
    """A cursor in one line."""

    def __init__(self, text: str, number: int) -> None:
        self.text, self.number, self.at = text, number, len(text) - len(text.lstrip())
        self.depth = self.at // 2

    def fail(self, message: str) -> NoReturn:
        raise NotCore(f"line {self.number}, column {self.at + 1}: {message}")

    @property
    def rest(self) -> str:
        return self.text[self.at :]

    def comes(self, text: str) -> bool:
        """Whether ``text`` comes next; if so, it is passed."""
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def expect(self, text: str) -> None:
        if not self.comes(text):
            self.fail(f"{text!r} is expected, there is {self.rest[:20]!r}")

    def match(self, pattern: re.Pattern[str], what: str) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            self.fail(f"{self.rest[:20]!r} is no {what}")
        self.at = found.end()
        return found.group()

    def many(self, one: Callable[[], T], close: str) -> tuple[T, ...]:
        """What ``one`` reads, again and again, with commas between, up to ``close``."""
        found: list[T] = []
        while not self.comes(close):
            if found:
                self.expect(", ")
            found.append(one())
        return tuple(found)

    def end(self) -> None:
        if self.rest:
            self.fail(f"{self.rest[:20]!r} is left over")


def _max(a: Any, b: int) -> Dim:
    assert b == 0
    return Dim.of(a).clip()


def _min(a: Any, b: Any) -> Dim:
    return Dim.of(a) - (Dim.of(a) - b).clip()


class _Reader:
    def __init__(self, text: str) -> None:
        lines = [line.rstrip() for line in text.strip("\n").split("\n")]
        self.lines = [_Line(line, k + 1) for k, line in enumerate(lines) if line.strip()]
        self.next = 0
        self.vars: dict[str, ir.Var] = {}

    # ---- lines

    def peek(self, depth: int) -> _Line | None:
        """The next line, if it stands at this depth."""
        line = self.lines[self.next] if self.next < len(self.lines) else None
        return line if line is not None and line.depth == depth else None

    def take(self) -> _Line:
        line = self.lines[self.next]
        self.next += 1
        return line

    def function(self) -> ir.Function:
        line = self.take()
        name = line.match(_WORD, "name")
        line.expect("(")
        params = line.many(lambda: self.declare(line), ")")
        line.expect(":")
        line.end()
        body = self.block(1)
        symbols: dict[str, ir.Operand] = {}
        if (last := self.peek(1)) is not None and last.comes("where "):
            self.take()
            while last.rest:
                symbol = last.match(_NAME, "symbol")
                last.expect(" = ")
                symbols[symbol] = self.operand(last)
                last.comes(", ")
        if self.next < len(self.lines):
            self.lines[self.next].fail("a statement is indented otherwise than its block")
        return ir.Function(name, params, body, symbols)

    def block(self, depth: int, params: Sequence[ir.Var] = (), types: Sequence[Type] | None = None) -> ir.Block:
        """The statements at a depth, with yields, whose types are known if they may be undefined."""
        block = ir.Block(tuple(params))
        while (line := self.peek(depth)) is not None:
            if line.rest.startswith("where ") and depth == 1 and self.next == len(self.lines) - 1:
                break
            if line.rest in ("else:", "do:", "test:") or line.rest.startswith("test with "):
                break
            self.take()
            if line.comes("yield "):
                block.yields = self.operands(line, ", ", types)
            elif line.comes("stop if "):
                block.stop = self.operand(line)
            else:
                block.stmts.append(self.stmt(line, depth))
            line.end()
        return block

    # ---- names, types, operands

    def declare(self, line: _Line) -> ir.Var:
        buffer = line.comes("buffer ")
        name = line.match(_NAME, "name")
        line.expect(": ")
        if name in self.vars:
            line.fail(f"{name!r} is declared twice")
        label = name if name.endswith(".1") else name.rpartition(".")[0] or name
        self.vars[name] = var = ir.Var(ir.SYNTHETIC if label == "t" else label, self.type(line), buffer)
        return var

    def type(self, line: _Line) -> Type:
        if line.comes("stack of "):
            inner = self.type(line)
            return Type(inner.dtype, inner.dims, inner.weak, "stack")
        if line.comes("("):
            items = line.many(lambda: self.type(line), ")")
            return Type(items[0].dtype if items else "float64", (), False, "tuple", items)
        word = line.match(_NAME, "type")
        if word not in _WEAK and word not in DTYPES:
            line.fail(f"{word!r} is no dtype")
        if line.comes("["):
            return Type(word, line.many(lambda: self.dim(line), "]"))
        if line.comes(" x "):
            return Type(word, (), False, "packet", (), int(line.match(_NUMBER, "number of lanes")))
        return _WEAK[word] if word in _WEAK else Type(word)

    def dim(self, line: _Line) -> Dim:
        """A size: a number, a symbol, or a formula of these."""
        depth, end = 0, line.at
        while end < len(line.text) and (depth or line.text[end] not in ",]"):
            depth += {"(": 1, ")": -1}.get(line.text[end], 0)
            end += 1
        text = line.text[line.at : end]
        symbols: dict[str, Dim] = {}

        def named(match: re.Match[str]) -> str:
            if match.group() in ("max", "min"):
                return match.group()
            symbols[name := f"_{len(symbols)}"] = Dim.symbol(match.group())
            return name

        formula = re.sub(r"\?|[^\W\d][\w.]*", named, text.replace("\u00b7", "*"))
        try:
            found = eval(formula, {"max": _max, "min": _min, **symbols})
        except Exception:
            line.fail(f"{text!r} is no size")
        line.at = end
        return Dim.of(found)

    def operand(self, line: _Line, type_: Type | None = None) -> ir.Operand:
        """A variable or a constant; ``type_`` is that of an undefined one."""
        start = line.at
        name = _NAME.match(line.text, line.at)
        if name is not None and name.group() in self.vars:
            line.at = name.end()
            return self.vars[name.group()]
        if line.comes("undef"):
            if type_ is None:
                line.fail("undef has no type here")
            return ir.Undef(type_)
        for word in ("True", "False"):
            if line.comes(word):
                return self.const(line, word == "True", BOOL)
        number = _NUMBER.match(line.text, line.at)
        if number is None:
            line.at = start
            line.fail(f"{line.rest.split()[0] if line.rest.strip() else ''!r} is no operand")
        line.at = number.end()
        text = number.group()
        whole = re.fullmatch(r"-?\d+", text) is not None
        return self.const(line, int(text) if whole else float(text), INT if whole else FLOAT)

    def const(self, line: _Line, value: Any, weak: Type) -> ir.Const:
        dtype = re.compile(rf":({'|'.join(DTYPES)})\b").match(line.text, line.at)
        if dtype is None:
            return ir.Const(value, weak)
        line.at = dtype.end()
        return ir.Const(value, Type(dtype.group(1)))

    def operands(self, line: _Line, between: str, types: Sequence[Type] | None = None) -> tuple[ir.Operand, ...]:
        """The operands up to something else than one behind ``between``."""
        found: list[ir.Operand] = []
        while line.rest and (not found or line.comes(between)):
            k = len(found)
            found.append(self.operand(line, types[k] if types is not None and k < len(types) else None))
        return tuple(found)

    def params(self, line: _Line) -> dict[str, Any]:
        """``name=value`` pairs."""
        found: dict[str, Any] = {}
        while pair := re.compile(r" ?([^\W\d]\w*)=").match(line.text, line.at):
            line.at = pair.end()
            found[pair.group(1)] = self.literal(line)
        return found

    def literal(self, line: _Line) -> Any:
        """A Python literal, as long as it is one."""
        for stop in [m.start() for m in re.finditer(r" |$", line.rest)]:
            try:
                value = ast.literal_eval(line.rest[:stop])
            except (SyntaxError, ValueError):
                continue
            line.at += stop
            return value
        line.fail(f"{line.rest[:20]!r} is no literal")

    # ---- places

    def place(self, line: _Line) -> tuple[ir.Var, ir.Path, tuple[ir.Operand, ...]]:
        root = self.operand(line)
        if not isinstance(root, ir.Var):
            line.fail("a constant is no place")
        if line.comes("[...]"):
            return root, (), ()
        path: list[ir.Step] = []
        args: list[ir.Operand] = []
        while (step := self.step(line, args)) is not None:
            path.append(step)
        return root, tuple(path), tuple(args)

    def step(self, line: _Line, args: list[ir.Operand]) -> ir.Step | None:
        """The step that follows; its operands are added to ``args``."""

        def slot() -> int:
            args.append(self.operand(line))
            return len(args) - 1

        if line.comes(".diagonal"):
            return ir.Diagonal()
        if line.comes(".permute"):
            return ir.Permute(self.axes(line))
        if line.comes(".view("):
            return ir.Reshape(line.many(slot, ")"))
        if not line.comes("["):
            return None
        return ir.Index(line.many(lambda: self.item(line, slot), "]"))

    def axes(self, line: _Line) -> tuple[int, ...]:
        text = line.match(re.compile(r"\([\d, ]*\)"), "list of axes")
        return ast.literal_eval(text)

    def item(self, line: _Line, slot: Callable[[], int]) -> ir.Item:
        if line.comes("gather "):
            return ir.Gather(slot())
        if line.comes("mask "):
            return ir.Mask(slot())
        if line.comes("None"):
            return ir.NewAxis()
        ends: list[int | None] = []
        while True:
            ends.append(None if line.rest[:1] in (":", ",", "]") else slot())
            if not line.comes(":"):
                break
        if len(ends) == 1:
            assert ends[0] is not None
            return ir.Point(ends[0])
        return ir.Slice(*ends)

    # ---- statements

    def stmt(self, line: _Line, depth: int) -> ir.Stmt:
        if self.begins_results(line):
            names = self.results(line)
            return self.value(line, names, depth)
        for word, make in _WORDS.items():
            if line.comes(f"{word} "):
                return make(self, line, depth)
        if line.rest.startswith(("while:", "while with ")) and line.comes("while"):
            return self.repeat(line, depth)
        if line.comes("lanes "):
            buf, _, args = self.place(line)
            mask = self.masked(line)
            line.expect(" <- ")
            return ir.PacketStore(buf, args, self.operand(line), mask)
        buf, path, args = self.place(line)
        kind: Any = ir.Add if line.comes(" += ") else ir.Store
        if kind is ir.Store:
            line.expect(" <- ")
        return kind(buf, path, args, self.operand(line))

    def begins_results(self, line: _Line) -> bool:
        return re.match(r"(buffer )?[^\W\d]\w*(\.\d+)*: ", line.rest) is not None

    def results(self, line: _Line) -> list[str]:
        """The texts of what the statement defines: they are declared behind its blocks, in which names may be declared."""
        found: list[str] = []
        while True:
            start = line.at
            line.comes("buffer ")
            line.match(_NAME, "name")
            line.expect(": ")
            self.type(line)
            found.append(line.text[start : line.at])
            if not line.comes(", "):
                break
        line.expect(" = ")
        return found

    def declared(self, texts: Sequence[str], line: _Line) -> tuple[ir.Var, ...]:
        return tuple(self.declare(_Line(text, line.number)) for text in texts)

    def types(self, texts: Sequence[str], line: _Line) -> list[Type]:
        """The types that the results have, before they are declared."""
        return [self.type(_Line(text.partition(": ")[2], line.number)) for text in texts]

    def one(self, texts: Sequence[str], line: _Line) -> ir.Var:
        if len(texts) != 1:
            line.fail(f"{len(texts)} results of one value")
        return self.declared(texts, line)[0]

    def value(self, line: _Line, texts: list[str], depth: int) -> ir.Stmt:
        """The statement that defines results; the cursor is behind the equals sign."""
        for word, make in _DEFINING.items():
            if line.comes(f"{word} "):
                return make(self, line, depth, texts)
        if line.comes("while"):
            return self.repeat(line, depth, texts)
        if line.comes("view "):
            base, path, args = self.place(line)
            if len(path) != 1:
                line.fail("a view has one step")
            return ir.view(self.one(texts, line), base, path[0], args)
        if line.comes("new stack"):
            return ir.NewStack(self.one(texts, line), reason=self.reason(line))
        if line.comes("new "):
            frame = line.comes("in the frame ")
            prim, args, params = self.operation(line)
            var = self.one(texts, line)
            return ir.Alloc(var, prim, args, params, reason=self.reason(line), space="frame" if frame else "heap")
        if line.comes("pop "):
            return ir.Pop(self.one(texts, line), self.operand(line))  # type: ignore[arg-type]
        if line.comes("lanes "):
            buf, _, args = self.place(line)
            return ir.PacketRead(self.one(texts, line), buf, args, self.masked(line))
        if _PLACE.match(line.rest):
            root, path, args = self.place(line)
            return ir.Let(self.one(texts, line), "index", (root, *args), {"path": path})
        prim, args, params = self.operation(line)
        var = self.one(texts, line)
        if var.type.kind == "tuple" and not var.type.items and prim in of_dialect("loops"):
            var.type = of_dialect("loops")[prim].type_rule([a.type for a in args], params)
        return ir.Let(var, prim, args, params)

    def operation(self, line: _Line) -> tuple[str, tuple[ir.Operand, ...], dict[str, Any]]:
        prim = line.match(_WORD, "operation")
        args: list[ir.Operand] = []
        while line.rest.startswith(" ") and not re.match(r" [^\W\d]\w*=|  --", line.rest):
            line.expect(" ")
            args.append(self.operand(line))
        return prim, tuple(args), self.params(line)

    def masked(self, line: _Line) -> ir.Operand | None:
        return self.operand(line) if line.comes(" where ") else None

    def reason(self, line: _Line) -> str:
        if not line.comes("  -- "):
            return ""
        found, line.at = line.rest, len(line.text)
        return found

    def carries(self, line: _Line) -> tuple[tuple[ir.Var, ...], tuple[ir.Operand, ...]]:
        params: list[ir.Var] = []
        inits: list[ir.Operand] = []
        if line.comes(" with "):
            while not params or line.comes(", "):
                params.append(self.declare(line))
                line.expect(" := ")
                inits.append(self.operand(line, params[-1].type))
        return tuple(params), tuple(inits)

    def trips(self, line: _Line) -> str:
        """The declaration of the number of trips, if there is one."""
        if not line.comes(" -> "):
            return ""
        found, line.at = line.rest, len(line.text)
        return found

    def branch(self, line: _Line, depth: int, texts: Sequence[str] = ()) -> ir.If:
        test = self.operand(line)
        line.expect(":")
        line.end()
        types = self.types(texts, line)
        then = self.block(depth + 1, (), types)
        orelse = ir.Block()
        if (other := self.peek(depth)) is not None and other.rest == "else:":
            self.take()
            orelse = self.block(depth + 1, (), types)
        return ir.If(test, then, orelse, self.declared(texts, line))

    def loop(self, line: _Line, depth: int, texts: Sequence[str] = ()) -> ir.For:
        index = self.declare(line)
        line.expect(" in ")
        backwards = line.comes("backwards ")
        kind = next((k for k in _KINDS if line.comes(f"{k} ")), "serial")
        line.expect("range(")
        span = self.operands(line, ", ")
        line.expect(")")
        if len(span) != 3:
            line.fail(f"{len(span)} ends of a range")
        params, inits = self.carries(line)
        combiners: list[str] = []
        if line.comes(" combined by "):
            while not combiners or line.comes(", "):
                combiners.append(line.match(_NAME, "combiner"))
        width = int(line.match(_NUMBER, "width")) if line.comes(" in vectors of ") else None
        line.expect(":")
        trips = self.trips(line)
        body = self.block(depth + 1, params, [p.type for p in params])
        count = self.declare(_Line(trips, line.number)) if trips else None
        results = self.declared(texts, line)
        return ir.For(
            index, *span, inits, body, results, count, backwards, kind=kind, combiners=tuple(combiners), width=width
        )  # type: ignore[arg-type, call-overload]

    def repeat(self, line: _Line, depth: int, texts: Sequence[str] = ()) -> ir.While:
        params, inits = self.carries(line)
        line.expect(":")
        trips = self.trips(line)
        head = self.peek(depth)
        if head is None or not head.comes("test"):
            line.fail("a while without a test")
        self.take()
        test_params, _ = self.carries(head)
        head.expect(":")
        test = self.block(depth + 1, test_params)
        do = self.peek(depth)
        if do is None or not do.comes("do:"):
            line.fail("a while without a body")
        self.take()
        body = self.block(depth + 1, params, [p.type for p in params])
        count = self.declare(_Line(trips, line.number)) if trips else None
        return ir.While(inits, test, body, self.declared(texts, line), count)

    def call(self, line: _Line, depth: int, texts: Sequence[str] = ()) -> ir.Call:
        name = line.match(_WORD, "function")
        line.comes(" ")
        args: tuple[ir.Operand, ...] = () if line.rest.startswith(" fills ") else self.operands(line, ", ")
        written: list[int] = []
        if line.comes(" fills "):
            written = [args.index(a) for a in self.operands(line, ", ")]
        function: Any = ir.Library(name) if name in _library() or "." in name else ir.Kept(name)
        return ir.Call(function, args, self.declared(texts, line), tuple(written))

    def push(self, line: _Line, depth: int) -> ir.Push:
        stack = self.operand(line)
        line.expect(" ")
        return ir.Push(stack, self.operand(line))  # type: ignore[arg-type]

    def message(self, line: _Line) -> tuple[tuple[ir.Operand, ...], Any]:
        args: tuple[ir.Operand, ...] = () if line.rest.startswith(("(", " (")) else self.operands(line, ", ")
        line.expect(" ")
        return args, self.literal(line)

    def print(self, line: _Line, depth: int) -> ir.Print:
        args, parts = self.message(line)
        more = self.params(line)
        return ir.Print(args, parts, more.get("sep", " "), more.get("end", "\n"))

    def raised(self, line: _Line, depth: int) -> ir.Raise:
        exception = line.match(_WORD, "exception")
        line.expect(" ")
        args, parts = self.message(line)
        return ir.Raise(args, exception, parts)

    def check(self, line: _Line, depth: int) -> ir.Check | ir.BoundsCheck:
        if line.comes("not "):
            test = self.operand(line)
            line.expect(" else ")
            exception = line.match(_WORD, "exception")
            line.expect(" ")
            return ir.Check(test, exception, self.literal(line))
        low = line.comes("0 <= ")
        at = self.operand(line)
        line.expect(" < ")
        size = self.operand(line)
        guard = self.operand(line) if line.comes(" if ") else None
        line.expect(" else ")
        exception = line.match(_WORD, "exception")
        line.expect(" of ")
        given = self.operand(line)
        line.expect(" ")
        return ir.BoundsCheck(at, size, given, low, exception, self.literal(line), guard)


_WORDS: dict[str, Callable[..., ir.Stmt]] = {
    "if": _Reader.branch,
    "for": _Reader.loop,
    "call": _Reader.call,
    "push": _Reader.push,
    "print": _Reader.print,
    "raise": _Reader.raised,
    "check": _Reader.check,
}
_DEFINING: dict[str, Callable[..., ir.Stmt]] = {
    "if": _Reader.branch,
    "for": _Reader.loop,
    "call": _Reader.call,
}


@cache
def _library() -> frozenset[str]:
    return frozenset(entries())
