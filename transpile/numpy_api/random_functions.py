"""The callables of `transpile_runtime.random`, in terms of which `transpile.random` is written, and those of
`transpile.random`."""

from __future__ import annotations

from typing import Any

from transpile.core import nodes as ir
from transpile.core.builder import Builder, Expr
from transpile.core.dims import Dim
from transpile.errors import RuleError
from transpile.numpy_api.api_arguments import array, dtype_of, shape_of
from transpile.numpy_api.entry_record import Entry
from transpile.ops.slicing import raise_if

_KEY = "make one with tp.random.key(seed), or take one of tp.random.split(key)"


def _keys(b: Builder, key: Any) -> Expr:
    """The argument as an array of keys, uint32[..., 2]; T201 for anything else."""
    x = array(b, key)
    if x.dtype != "uint32" or not x.rank or not (x.dims[-1] == Dim(2) or b.same(x.dims[-1], Dim(2))):
        raise RuleError(f"a key must be an array uint32[2], not {x.type}", "T201", _KEY)
    return x


def _single(b: Builder, key: Any) -> Expr:
    """The argument as a single key, uint32[2]; T201 for anything else."""
    x = _keys(b, key)
    if x.rank > 1:
        hint = "take one of them, keys[0], or draw with each: tp.vmap(...)(keys)"
        raise RuleError(f"expected one key, got an array of keys: {x.type}", "T201", hint)
    return x


def _split(b: Builder, key: Any, shape: Any = (2,)) -> Expr:
    return b.let("random_split", _keys(b, key), dims=shape_of(b, shape))


def _fold_in(b: Builder, key: Any, data: Any) -> Expr:
    """``fold_in``: ``data`` must be one integer for each key (T201)."""
    x, number = _keys(b, key), array(b, data)
    if not number.type.is_int and not number.type.is_bool:
        raise RuleError(f"fold_in takes an integer, not {number.type}", "T201", "convert it with int(...)")
    if number.rank != x.rank - 1:
        raise RuleError(
            f"fold_in takes one integer for each key, not {number.type}", "T201", "fold in one after another"
        )
    return b.let("random_fold_in", x, number)


def _draw(prim: str, default: str, *dtypes: str) -> Any:
    """The builder of the draw ``prim`` in one of ``dtypes``, ``default`` if none is given; T209 for another."""

    def build(b: Builder, key: Any, shape: Any = (), dtype: Any = None) -> Expr:
        wanted = dtype_of(dtype, default)
        if wanted not in dtypes:
            hint = "convert the result with .astype(...)"
            raise RuleError(f"the dtype must be {' or '.join(dtypes)}, not {wanted}", "T209", hint)
        return b.let(prim, _keys(b, key), dims=shape_of(b, shape), dtype=wanted)

    return build


def _log_gamma(b: Builder, key: Any, a: Any) -> Expr:
    x, shape = _keys(b, key), array(b, a)
    if shape.dtype not in ("float64", "float32"):
        message = f"the shape parameter of a gamma variable must be float64 or float32, not {shape.type}"
        raise RuleError(message, "T201", "convert it with float(...) or .astype(float)")
    return b.let("random_log_gamma", x, b.cast(shape, shape.type.strong))


def _counts(name: str) -> Any:
    """The builder of a draw of event counts with the distribution ``name``; its parameters must be float64 (T201)."""

    def build(b: Builder, key: Any, *operands: Any) -> Expr:
        parts = [array(b, x) for x in operands]
        if any(p.dtype != "float64" for p in parts):
            message = f"the parameters of {name} must be float64, not {', '.join(str(p.type) for p in parts)}"
            raise RuleError(message, "T201", "convert them with .astype(float)")
        return b.let(f"random_{name}", _keys(b, key), *(b.cast(p, p.type.strong) for p in parts))

    return build


def _poisson(b: Builder, key: Any, lam: Any) -> Any:
    return _counts("poisson")(b, key, lam)


def _binomial(b: Builder, key: Any, n: Any, p: Any) -> Any:
    return _counts("binomial")(b, key, n, p)


def _between(b: Builder, u: Any, low: Any, high: Any) -> Expr:
    """``u`` scaled to the interval from ``low`` to ``high``; unchanged if these are 0 and 1."""
    x = array(b, u)
    if _is(low, 0.0) and _is(high, 1.0):
        return x
    return b.elementwise("random_between", x, *(b.cast(array(b, v), x.dtype) for v in (low, high)), strong=True)


def _offset(b: Builder, higher: Any, lower: Any, span: Any) -> Expr:
    parts = [array(b, v) for v in (higher, lower, span)]
    if parts[0].dtype not in ("uint32", "uint64") or any(p.dtype != parts[0].dtype for p in parts):
        raise RuleError(f"bits and span must be uint32 or uint64, not {', '.join(str(p.type) for p in parts)}", "T201")
    return b.elementwise("random_offset", *parts, strong=True)


def _is(x: Any, value: float) -> bool:
    op = getattr(x, "op", x)
    return isinstance(op, ir.Const) and bool(op.value == value)


def _demand(exception: str, code: str) -> Any:
    """The builder of a check: a test known to fail is refused with ``code``, any other is checked at run time and raises
    ``exception``."""

    def build(b: Builder, test: Any, message: str, *values: Any) -> None:
        x, shown = b.expr(test), [b.expr(v) for v in values]
        if isinstance(x.op, ir.Const) and not x.op.value:
            raise RuleError(message.format(*shown) if shown else message, code)
        raise_if(b.elementwise("logical_not", x), exception, message, *shown)

    return build


def _axis_number(b: Builder, axis: Any) -> Expr:
    """An axis, which must be an int when the function is lifted (T201), as a constant."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise RuleError(f"an axis must be an integer, not {axis!r}", "T201", "convert it with int(...)")
    return b.expr(axis)


_DRAWN = (
    "key PRNGKey split fold_in bits uniform normal randint bernoulli categorical choice permutation gumbel exponential laplace "
    "logistic truncated_normal gamma loggamma beta dirichlet multivariate_normal rademacher "
    "ball binomial cauchy chisquare geometric maxwell "
    "orthogonal pareto poisson rayleigh t weibull_min"
).split()

TABLE: dict[str, Entry] = {
    "transpile_runtime.random.demand": Entry(_demand("ValueError", "T131"), static=("message",)),
    "transpile_runtime.random.demand_type": Entry(_demand("TypeError", "T201"), static=("message",)),
    "transpile_runtime.random.axis_number": Entry(_axis_number, static=("axis",)),
    "transpile_runtime.random.single": Entry(_single, memory="place"),
    "transpile_runtime.random.split": Entry(_split),
    "transpile_runtime.random.fold_in": Entry(_fold_in),
    "transpile_runtime.random.bits": Entry(_draw("random_bits", "uint32", "uint32", "uint64"), static=("dtype",)),
    "transpile_runtime.random.unit": Entry(_draw("random_unit", "float64", "float64", "float32"), static=("dtype",)),
    "transpile_runtime.random.normal": Entry(
        _draw("random_normal", "float64", "float64", "float32"), static=("dtype",)
    ),
    "transpile_runtime.random.log_gamma": Entry(_log_gamma),
    "transpile_runtime.random.poisson": Entry(_poisson),
    "transpile_runtime.random.binomial": Entry(_binomial),
    "transpile_runtime.random.between": Entry(_between),
    "transpile_runtime.random.offset": Entry(_offset),
    **{f"transpile.random.{name}": Entry(source=f"transpile.random:{name}") for name in _DRAWN},
}
