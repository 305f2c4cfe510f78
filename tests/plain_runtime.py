"""The functions of `transpile_runtime.compiled` without Numba: their own sources, run by Python with compiled arithmetic.

Division by zero gives infinity, ``math.log(-1.0)`` is NaN, ``int`` of a number beyond the integers is some integer. BLAS and
LAPACK are the same routines, called through ctypes; functions that only LLVM has are written in NumPy. `namespace` is the
namespace of a generated module.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import loop_memory
import numpy as np
import scipy.special

import transpile_runtime.compiled
from transpile_runtime.compiled import again

FOLDER = Path(transpile_runtime.compiled.__file__).parent
LEAST = np.int64(-(2**63))  # a processor's result for a float beyond the integers


# ------------------------------------------------------------------------------------------------- arithmetic


def divide(a: Any, b: Any) -> Any:
    return np.divide(a, b)


def power(a: Any, b: Any) -> Any:
    return np.power(np.float64(a), b) if isinstance(a, float) and not isinstance(a, np.floating) else np.power(a, b)


def whole(a: Any, b: Any) -> Any:
    return np.floor_divide(a, b)


def rest(a: Any, b: Any) -> Any:
    return np.remainder(a, b)


def subtract(a: Any, b: Any) -> Any:
    """``a - b``; an integer for two booleans."""
    return int(a) - int(b) if isinstance(a, np.bool_) and isinstance(b, np.bool_) else a - b


def integer(x: Any) -> Any:
    """``int(x)``."""
    if isinstance(x, (float, np.floating)):
        return np.int64(math.trunc(x)) if abs(x) < 2.0**63 else LEAST
    return np.int64(x)


class Cast:
    """A dtype that casts as compiled code does."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)

    def __call__(self, x: Any) -> Any:
        return np.asarray(x).astype(self.dtype)[()]


_OPERATIONS = {ast.Sub: "_subtract", ast.Div: "_divide", ast.Pow: "_power", ast.FloorDiv: "_whole", ast.Mod: "_rest"}


class _Arithmetic(ast.NodeTransformer):
    """Replaces operators in which Python's numbers differ from compiled ones by calls; a call as a statement writes into its
    arguments."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self.call(node.op, node.left, node.right) or node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        target = ast.parse(ast.unparse(node.target), mode="eval").body
        found = self.call(node.op, target, node.value)
        return ast.Assign([node.target], found) if found else node

    def call(self, op: ast.operator, *args: ast.expr) -> ast.Call | None:
        name = _OPERATIONS.get(type(op))
        return ast.Call(ast.Name(name, ast.Load()), list(args), []) if name else None

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Removes the cast of an index to unsigned, so that `loop_memory` can check whether it is negative."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        bare = [p.args[0] if isinstance(p, ast.Call) and ast.unparse(p.func) == "np.uint64" else p for p in parts]
        node.slice = ast.Tuple(bare, ast.Load()) if isinstance(node.slice, ast.Tuple) else bare[0]
        self.generic_visit(node)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            node.value = ast.Call(ast.Name("_into", ast.Load()), [node.value.func, *node.value.args], [])
        return node


def code_of(text: str, file: str, module: bool = False) -> Any:
    """The compiled text. In a ``module`` of the runtime, calls stay unchanged."""
    transformer = _Arithmetic()
    if module:
        transformer.visit_Expr = transformer.generic_visit  # type: ignore[method-assign]
    return compile(ast.fix_missing_locations(transformer.visit(ast.parse(text))), file, "exec")


# ----------------------------------------------------------------------------------------------------- modules


class _Math(SimpleNamespace):
    """``math`` as in compiled code: nothing raises."""

    def __init__(self) -> None:
        longer = {n: f"arc{n[1:]}" for n in "asin acos atan atan2 asinh acosh atanh".split()}
        for name in vars(math):
            value = getattr(math, name)
            found = getattr(np, longer.get(name, name), None)
            setattr(self, name, found if callable(value) and found else value)
        self.floor, self.ceil = (lambda x: integer(np.floor(x))), (lambda x: integer(np.ceil(x)))
        self.erf, self.erfc, self.gamma = scipy.special.erf, scipy.special.erfc, scipy.special.gamma
        self.lgamma = scipy.special.gammaln
        self.ldexp, self.frexp = np.ldexp, np.frexp


MATH = _Math()


def _identity(*args: Any, **options: Any) -> Any:
    return args[0] if len(args) == 1 and callable(args[0]) and not options else _identity


def _routine(name: str, parameters: str) -> Callable[..., Any]:
    """A routine of BLAS or LAPACK, called as `transpile_runtime.compiled.symbols` calls it."""
    given = parameters.split()

    def call(*args: Any) -> Any:
        from llvmlite import binding

        import transpile_runtime.compiled.symbols  # noqa: F401

        kind = next(a.dtype for a in args if isinstance(a, np.ndarray) and a.dtype.kind == "f")
        real, letter = (ctypes.c_double, "d") if kind == np.float64 else (ctypes.c_float, "s")
        info, values, pointers, kept = ctypes.c_int64(0), iter(args), [], []
        for p in given:
            value = info if p == "info" else next(values)
            if isinstance(value, np.ndarray):
                pointers.append(ctypes.c_void_p(value.ctypes.data))
                continue
            if p != "info":
                value = ctypes.c_int64(int(value)) if isinstance(value, (int, np.integer)) else real(value)
            kept.append(value)
            pointers.append(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p))
        pointers += [ctypes.c_int64(1) for p in given if p.isupper()]
        address = binding.address_of_symbol(f"transpile.{letter}{name}")
        ctypes.CFUNCTYPE(None, *map(type, pointers))(address)(*pointers)
        return ctypes.c_int32(info.value & 0xFFFFFFFF).value if "info" in given else None

    return call


def _in_rows(a: np.ndarray) -> np.ndarray:
    return a


def _close(axis: int) -> Callable[[np.ndarray], bool]:
    return lambda a: a.strides[axis] == a.itemsize or a.shape[axis] == 1


def _whole(operation: Callable[[int, int], int]) -> Callable[[Any, Any], Any]:
    """An operation on integers that wraps at 64 bits."""
    return lambda a, b: np.int64((operation(int(a), int(b)) + 2**63) % 2**64 - 2**63)


def _external(names: dict[str, Any]) -> None:
    """Replaces functions that `special` calls by address with SciPy's of the same name."""
    for name in [*names["_ONE"], *names["_TWO"], *names["_THREE"]]:
        names[name] = getattr(scipy.special, name)
    names["digamma"] = scipy.special.psi


class _Anything:
    """A stand-in for a module of which only names are used."""

    def __getattr__(self, name: str) -> Any:
        return _Anything()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Anything()


_PARTS: dict[str, Any] = {
    "transpile_runtime.compiled.options": SimpleNamespace(
        njit=_identity, exact=_identity, inner=_identity, fast=_identity, NAN_SAFE=None, FAST=None, BARE={}
    ),
    "transpile_runtime.compiled.apart": SimpleNamespace(apart=lambda *signature: lambda function: function),
    "transpile_runtime.compiled.symbols": SimpleNamespace(routine=_routine),
    "transpile_runtime.compiled.shares": SimpleNamespace(  # one share: code for several shares has its own tests
        of_matrix=lambda *_: 1, of_vector=lambda *_: 1, of_part=lambda *_: 1
    ),
    "transpile_runtime.compiled.cache": SimpleNamespace(keep=_identity),
    "transpile_runtime.compiled.errors": None,  # set below
    "numba": SimpleNamespace(njit=_identity, types=_Anything(), objmode=contextlib.nullcontext, prange=loop_memory.LANES.chunks),
    "numba.extending": _Anything(),
    "llvmlite": _Anything(),
    "math": MATH,
}  # fmt: skip


class _Errors:
    """`transpile_runtime.compiled.errors`, called with Python's numbers and NumPy's arrays, as compiled code calls it."""

    def __getattr__(self, name: str) -> Any:
        from transpile_runtime.compiled import errors

        found = getattr(errors, "show" if name == "say" else name)
        if name == "SITES":
            return found
        if name == "say":
            return lambda site, values: found(site, tuple(_shown(v) for v in values))
        return lambda site, *values: found(site, *(_shown(v) for v in values))


def _shown(value: Any) -> Any:
    value = value.data if isinstance(value, loop_memory.Array) else value
    return value.item() if isinstance(value, np.generic) else value


_PARTS["transpile_runtime.compiled.errors"] = _Errors()


def _import(name: str, names: Any = None, local: Any = None, wanted: Any = (), level: int = 0) -> Any:
    if name == "transpile_runtime.compiled":
        return SimpleNamespace(**{n: _facade(n) for n in wanted or ()})
    if name in _PARTS:
        return _PARTS[name]
    return (
        module(name.rpartition(".")[2])
        if name.startswith("transpile_runtime.compiled.")
        else __import__(name, names, local, wanted)
    )


def _import_generated(name: str, *args: Any) -> Any:
    return NUMPY if name == "numpy" else _import(name, *args)


_BUILTINS = {**vars(builtins), "__import__": _import, "int": integer, "float": Cast(float)}
_NAMES = {"_subtract": subtract, "_divide": divide, "_power": power, "_whole": whole, "_rest": rest}


@lru_cache(maxsize=None)
def module(name: str) -> SimpleNamespace:
    """A module of `transpile_runtime.compiled`, run by Python."""
    names: dict[str, Any] = {"__builtins__": _BUILTINS, "__name__": f"plain.{name}", **_NAMES}
    if name == "layout":
        turned = lambda a: np.array(a.T, order="C")  # noqa: E731

        def put_turned(columns: np.ndarray, out: np.ndarray) -> None:
            out[...] = columns.T[: out.shape[0], : out.shape[1]]

        return SimpleNamespace(
            has_columns=_close(0), has_rows=_close(1), in_rows=_in_rows, turned=turned, put_turned=put_turned
        )
    file = FOLDER / f"{name}.py"
    exec(code_of(file.read_text(encoding="utf-8"), str(file), module=True), names)
    if name == "special":
        _external(names)
    if name in ("scalars", "intmath"):
        names.update(plus=_whole(int.__add__), minus=_whole(int.__sub__), times=_whole(int.__mul__))
    return SimpleNamespace(**names)


@lru_cache(maxsize=None)
def _facade(name: str) -> Any:
    """The module as generated code sees it: its functions get plain arrays instead of checked ones."""
    if f"transpile_runtime.compiled.{name}" in _PARTS:
        return _PARTS[f"transpile_runtime.compiled.{name}"]
    if name == "vector":
        return Vector()
    if name == "again":
        return again
    found = module(name)

    def wrapped(function: Any) -> Any:
        def call(*args: Any) -> Any:
            if any(isinstance(a, loop_memory.Array) for a in args):
                return loop_memory.library(function, args, writes=False)
            return function(*args)

        call.into = function  # type: ignore[attr-defined]
        return call

    return SimpleNamespace(
        **{k: wrapped(v) if callable(v) else v for k, v in vars(found).items() if k != "__builtins__"}
    )


class Vector:
    """`transpile_runtime.compiled.vector`, whose functions LLVM builds: the same functions by NumPy and SciPy. Functions that
    are valid on a range of arguments only return NaN outside it."""

    ONLY = {
        "bounded": lambda x: not abs(x) > (2.0**16 if isinstance(x, np.float32) else 2.0**36),
        "positive": lambda x: not x <= 0,
        "near": lambda a, b: not abs(a) >= abs(b) * (2.0**22 if isinstance(a, np.float32) else 2.0**51),
        "normal": lambda x: np.finfo(type(x)).tiny <= x < np.inf,
        "moderate": lambda x: abs(x) <= (125 if isinstance(x, np.float32) else 1021),
        "moderate_pow": lambda x, y: np.finfo(type(x)).tiny <= x < np.inf and abs(y) < np.inf,
    }
    NAMES = {"pow": "power", "mod": "remainder", "floordiv": "floor_divide"}  # functions with another name in NumPy
    OTHERS = {"pow_moderate": "moderate_pow"}

    def __getattr__(self, name: str) -> Any:
        if name == "all_inside":
            return lambda bits: bits == 0
        if name == "joined":
            return lambda a, b: type(b)(a or b)
        base, _, condition = name.partition("_")
        if base == "outside":
            inside = self.ONLY[condition]
            return lambda *args: type(args[0])(0 if inside(*args) else 1)
        test = self.OTHERS.get(name, condition)
        if test not in self.ONLY:
            return self.function(name)
        function, holds = self.function(base), self.ONLY[test]
        return lambda *args: function(*args) if holds(*args) else type(args[0])(np.nan)

    def function(self, name: str) -> Any:
        name = self.NAMES.get(name, name)
        return getattr(np, name, None) or getattr(scipy.special, name)


def into(function: Any, *args: Any) -> None:
    """A call for the values that it writes."""
    if hasattr(function, "into"):
        loop_memory.library(function.into, args, writes=True)
    else:
        function(*args)


def namespace() -> dict[str, Any]:
    """The namespace of a generated module before it runs."""
    builtin = {**_BUILTINS, "__import__": _import_generated}
    own = {**_NAMES, "_into": into, "prange": loop_memory.LANES.chunks}
    return {"__builtins__": builtin, "__name__": "generated", **own}


class Numpy:
    """``np`` of generated code."""

    empty = staticmethod(loop_memory.empty)

    def __getattr__(self, name: str) -> Any:
        found = getattr(np, name)
        if isinstance(found, type) and issubclass(found, np.generic):
            found = Cast(found)
        setattr(self, name, found)
        return found


NUMPY = Numpy()
