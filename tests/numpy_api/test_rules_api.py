"""The elementwise entries of the API tables against the callables that they stand for: value, dtype, scalar or array.

Every ufunc of NumPy, every function of ``math`` and of the ``scipy.special`` list is in a table or named here as left
out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.special
from rule_check import Program

from transpile.errors import RuleError
from transpile.numpy_api.entries import entries
from transpile.numpy_api.entry_record import METHODS
from transpile.numpy_api.scipy_special import ONE, THREE, TWO
from transpile.ops.numpy_names import BINARY, UNARY

ENTRIES = entries()
NOT_UFUNCS_OF_NUMBERS = frozenset("isnat matmul matvec vecdot vecmat".split())
NOT_IN_MATH: frozenset[str] = frozenset()

VALUES: dict[str, list[Any]] = {
    "bool": [True, False, True],
    "int8": [1, 2, 3],
    "uint8": [1, 2, 3],
    "int16": [1, 2, 3],
    "int64": [1, -2, 3],
    "float16": [0.5, 0.25, 0.75],
    "float32": [0.5, 0.25, 0.75],
    "float64": [0.5, 0.25, 0.75],
}
PYTHON: list[Any] = [True, 3, 0.5]
ARRAYS = {name: np.array(values, dtype=name) for name, values in VALUES.items()}
ONE_ARGUMENT: list[tuple[Any, ...]] = [(a,) for a in (*ARRAYS.values(), *PYTHON, np.float32(0.5))]
_MIXED = [ARRAYS[n] for n in ("bool", "int8", "int64", "float32", "float64")]
TWO_ARGUMENTS: list[tuple[Any, ...]] = [
    *((a, b) for a in _MIXED for b in (*_MIXED, ARRAYS["uint8"])),
    *((a, p) for a in (ARRAYS["bool"], ARRAYS["int8"], ARRAYS["float32"]) for p in PYTHON),
    *((p, q) for p in PYTHON for q in PYTHON),
    (2, np.float32(3)),
]


def _agrees(got: Any, wanted: Any) -> bool:
    g, w = np.asarray(got), np.asarray(wanted)
    tol = 3e-3 if w.dtype == np.float16 else 1e-6
    same = g.dtype == w.dtype and g.shape == w.shape
    same = same and np.allclose(g.astype(float), w.astype(float), rtol=tol, equal_nan=True)
    return bool(same) and (g.ndim > 0 or isinstance(got, np.generic) == isinstance(wanted, np.generic))


def _outcome(f: Callable[[], Any], refusal: type[Exception] | tuple[type[Exception], ...]) -> tuple[Any, ...] | None:
    """The results, or None where the call is refused."""
    try:
        with np.errstate(all="ignore"):
            found = f()
    except refusal:
        return None
    return found if isinstance(found, tuple) else (found,)


def check_like(name: str, f: Callable[..., Any], cases: Sequence[tuple[Any, ...]], form: bool = True) -> None:
    """The entry gives what ``f`` gives, and refuses what it refuses."""
    for args in cases:
        wanted = _outcome(lambda: f(*args), (TypeError, ValueError))
        if wanted is None and name.rpartition(".")[2] in ("power", "pow"):
            continue  # integers to negative powers: an error of the values, not of the types
        program = lambda: Program(lambda b, *xs: ENTRIES[name].build(b, *xs), args).value()
        got = _outcome(program, (RuleError, TypeError))
        what = f"{name}({', '.join(str(getattr(a, 'dtype', a)) for a in args)})"
        assert (got is None) == (wanted is None), f"{what}: {got}, NumPy {wanted}"
        for g, w in zip(got or (), wanted or ()):
            assert _agrees(g, w), f"{what}: {g!r}, NumPy {w!r}"


@pytest.mark.parametrize("name", [n for n in UNARY if hasattr(np, n)])
def test_unary(name: str) -> None:
    check_like(f"numpy.{name}", getattr(np, name), ONE_ARGUMENT)


@pytest.mark.parametrize("name", [n for n in BINARY if hasattr(np, n)])
def test_binary(name: str) -> None:
    check_like(f"numpy.{name}", getattr(np, name), TWO_ARGUMENTS)


@pytest.mark.parametrize("name", "frexp modf nan_to_num round around isposinf isneginf".split())
def test_other_unary(name: str) -> None:
    check_like(f"numpy.{name}", getattr(np, name), ONE_ARGUMENT)


@pytest.mark.parametrize("name", "float_power ldexp divmod isclose".split())
def test_other_binary(name: str) -> None:
    check_like(f"numpy.{name}", getattr(np, name), TWO_ARGUMENTS)


def _special(cases: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The cases whose type all versions agree on: SciPy 1.16 and 1.17 take small integers to float64."""
    if scipy.__version__.startswith(("1.16.", "1.17.")):
        return list(cases)
    plain = ("int64", "float32", "float64")
    return [c for c in cases if all(isinstance(a, np.ndarray) and a.dtype.name in plain for a in c)]


@pytest.mark.parametrize("name", ONE)
def test_special_unary(name: str) -> None:
    check_like(f"scipy.special.{name}", getattr(scipy.special, name), _special(ONE_ARGUMENT))


@pytest.mark.parametrize("name", [*TWO, "polygamma"])
def test_special_binary(name: str) -> None:
    cases = [c for c in TWO_ARGUMENTS if name != "polygamma" or np.asarray(c[0]).dtype.kind in "iu"]
    check_like(f"scipy.special.{name}", getattr(scipy.special, name), _special(cases))


@pytest.mark.parametrize("name", THREE)
def test_special_ternary(name: str) -> None:
    check_like(f"scipy.special.{name}", getattr(scipy.special, name), [(a, a, 0.25) for (a,) in ONE_ARGUMENT])


MATH_CASES: dict[str, list[tuple[Any, ...]]] = {
    **{n: [(3,), (0.5,), (np.float32(0.5),), (True,)] for n in (
        "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh atan asinh radians degrees fabs "
        "isnan isinf isfinite gamma lgamma erf erfc ulp floor ceil frexp modf hypot"
    ).split()},
    **{n: [(1,), (0.5,), (np.float32(0.5),)] for n in ("asin", "acos")},
    "acosh": [(3,), (1.5,)],
    "trunc": [(3,), (-2.5,)],
    "atanh": [(0.5,)],
    "pow": [(2, 3), (2.5, 0.5)],
    "atan2": [(2, 3), (2.5, -0.5)],
    "fmod": [(7, 3), (7.5, -2)],
    "remainder": [(7, 3), (7.5, -2)],
    "copysign": [(7, -3.0)],
    "nextafter": [(1.0, 2)],
    "ldexp": [(0.5, 3)],
    "log": [(8.0, 2), (3,)],
    "hypot": [(3, 4), (1.0, 2.0, 2.0), (), (-3,)],
    "gcd": [(12, 18), (-4,), ()],
    "lcm": [(4, 6), (2, 3, 5)],
    "comb": [(5, 2)],
    "perm": [(5, 2)],
    "factorial": [(5,)],
    "isqrt": [(17,)],
    "isclose": [(1.0, 1.0 + 1e-12)],
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in MATH_CASES if hasattr(math, n)])
def test_math(name: str) -> None:
    """The results are Python numbers."""
    for args in MATH_CASES[name]:
        wanted = _outcome(lambda: getattr(math, name)(*args), ())
        got = _outcome(lambda: Program(lambda b, *xs: ENTRIES[f"math.{name}"].build(b, *xs), args).value(), ())
        assert got is not None and wanted is not None and len(got) == len(wanted)
        for g, w in zip(got, wanted):
            same = type(g) is type(w) and (g == w or math.isclose(g, w, rel_tol=1e-15))
            assert same, f"math.{name}{args}: {g!r}, not {w!r}"


SEQUENCES = [("fsum", (0.1, 0.2, 0.3)), ("prod", (2, 3.0, 4)), ("dist", ((1, 2.0), (4, 6)))]


@pytest.mark.parametrize(("name", "values"), SEQUENCES)
def test_math_of_sequences(name: str, values: Any) -> None:
    points = values if name == "dist" else (values,)
    got = Program(lambda b: ENTRIES[f"math.{name}"].build(b, *(tuple(map(b.expr, p)) for p in points)), ()).value()[0]
    assert got == getattr(math, name)(*points)


def test_math_refuses_arrays() -> None:
    with pytest.raises(RuleError, match=r"takes a number.*float64\[3\]") as found:
        Program(lambda b, x: ENTRIES["math.sin"].build(b, x), (ARRAYS["float64"],))
    assert found.value.hint == "use np.sin"


def test_numpy_is_complete() -> None:
    ufuncs = {n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)} - NOT_UFUNCS_OF_NUMBERS
    assert not sorted(n for n in ufuncs if f"numpy.{n}" not in ENTRIES)


def test_math_is_complete() -> None:
    functions = {n for n in dir(math) if callable(getattr(math, n)) and not n.startswith("_")} - NOT_IN_MATH
    assert not sorted(n for n in functions if f"math.{n}" not in ENTRIES)


def test_special_is_complete() -> None:
    """The list of features.md."""
    wanted = """gammaln digamma polygamma erf erfc erfinv expit logit logsumexp softmax log_softmax xlogy xlog1py entr
    kl_div ndtr ndtri log_ndtr betaln gammainc gammaincc betainc i0e i1e i0 i1""".split()
    assert not [n for n in wanted if f"scipy.special.{n}" not in ENTRIES]


def test_sources_are_there() -> None:
    def is_there(source: str) -> bool:
        module, _, name = source.rpartition(":")
        home = module if "." in module else f"transpile.numpy_api.{module or 'library'}"
        return callable(getattr(import_module(home), name, None))

    assert not [n for n, e in ENTRIES.items() if e.source and not is_there(e.source)]


def test_methods_are_there() -> None:
    by_frontend = {"ndarray.astype", "ndarray.copy", "ndarray.dtype", "ndarray.fill", "ndarray.item", "ndarray.tolist"}
    assert not sorted(n for n, full in METHODS.items() if full not in ENTRIES and full not in by_frontend)


def test_entries_build_or_name_a_source() -> None:
    assert not [n for n, e in ENTRIES.items() if (e.build is None) == (not e.source)]
