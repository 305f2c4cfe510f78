"""Every argument that a function of the API tables can take by name is heeded or refused: its value is NumPy's.

The calls are those of the matrix; each gets the arguments that it does not give, one at a time, with values by their names.
"""

from __future__ import annotations

import ast
import inspect
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.check import load
from matrix import cases
from matrix.operations import is_here, modules, names_of

import transpile as tp
from transpile.api import Transformed
from transpile.base.levels import Level

OPTIONS: dict[str, str] = {
    "axis": "0 1 -1 None (0,1)", "keepdims": "True", "dtype": "bool int float 'float32'", "initial": "0.5", "ddof": "1",
    "correction": "1", "n": "0 2", "k": "1 -1", "M": "2", "N": "4", "m": "2", "offset": "1 -1", "order": "'F'",
    "mode": "'wrap' 'clip' 'reflect' 'full' 'same' 'valid' 'edge' 'r' 'reduced' 'complete' 'economic'",
    "method": "'lower' 'nearest' 'hazen' 'weibull' 'midpoint'", "side": "'right'", "right": "True 0.5", "left": "0.5",
    "period": "1.7", "decimals": "1 -1", "prepend": "0.3", "append": "0.3", "return_index": "True", "return_inverse": "True",
    "return_counts": "True", "equal_nan": "True False", "rtol": "0.5", "atol": "0.5", "nan": "1.5", "posinf": "1.5",
    "neginf": "1.5", "endpoint": "False", "retstep": "True", "base": "3.0", "num": "4", "rowvar": "False", "bias": "True",
    "minlength": "9", "density": "True", "range": "(0.0,1.0)", "bins": "3", "indexing": "'ij'", "sparse": "True",
    "copy": "False True", "hermitian": "True", "UPLO": "'U'", "upper": "True", "lower": "True", "trans": "1 'T'",
    "unit_diagonal": "True", "full_matrices": "False", "compute_uv": "False", "ord": "1 2 np.inf -1 'fro' 3", "rcond": "0.5",
    "tol": "0.5", "cond": "0.1", "edge_order": "2", "dx": "0.3", "discont": "4.0", "deg": "True 2", "kind": "'stable'",
    "stable": "True", "axis1": "1", "axis2": "0", "axisa": "0", "axisb": "0", "axisc": "0", "shift": "2",
    "constant_values": "0.5", "end_values": "0.5", "reflect_type": "'odd'", "assume_unique": "True", "invert": "True",
    "to_begin": "1.0", "to_end": "1.0", "casting": "'unsafe'", "increasing": "True", "returned": "True", "cov": "True",
    "full": "True", "weights": "np.ones(3)", "fill_value": "0.5", "subok": "True", "default": "0.5", "wrap": "True",
    "count": "2", "sorted": "False", "b": "0.5 np.ones(3)", "return_sign": "True", "assume_a": "'pos' 'sym'",
    "transposed": "True", "eigvals_only": "True", "return_rank": "True", "permute_l": "True", "p_indices": "True",
    "lapack_driver": "'gesvd' 'gelsy'", "where": "np.array(True)", "mean": "0.3", "max": "0.5", "min": "0.1",
    "a_min": "0.1", "a_max": "0.5", "optimize": "True", "w": "np.ones(5)", "shape": "(2,2)", "ind": "1",
}  # fmt: skip
"""Values of arguments, by the name of the parameter."""
UP_TO_SIGNS = ("scipy.linalg.eigh", "scipy.linalg.svd", "np.linalg.eigh", "np.linalg.svd")
BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
PARTS = 12
CHECKED = 2  # parts of which `make test` runs all


@cache
def calls() -> dict[str, list[tuple[str, dict[str, Any]]]]:
    """The first call of each function, and one with other arguments."""
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for text, own in cases.texts():
        plain = text.partition("  # ")[0]
        tree = ast.parse(plain, mode="eval").body
        if isinstance(tree, ast.Call) and is_here(plain):
            found.setdefault(ast.unparse(tree.func), []).append((plain, {**cases.POOL, **own}))
    return {name: texts[:: max(1, len(texts) // 2)][:2] for name, texts in sorted(found.items())}


def with_options(function: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Its calls, each with one more argument."""
    try:
        parameters = inspect.signature(eval(function, modules())).parameters
    except (AttributeError, NameError, TypeError, ValueError):  # a method, or Python does not say what it takes
        return
    for text, pool in calls()[function]:
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        given = {*list(parameters)[: len(call.args)], *(k.arg for k in call.keywords)}
        for parameter in parameters.values():
            if parameter.name not in given and parameter.kind in BY_NAME:
                for value in OPTIONS.get(parameter.name, "").split():
                    yield f"{text[:-1]}, {parameter.name}={value})", {n: pool[n] for n in names_of(text) if n in pool}


def leaves(tree: Any) -> list[Any]:
    return [leaf for t in tree for leaf in leaves(t)] if isinstance(tree, (tuple, list)) else [tree]


def is_like(got: Any, wanted: Any, up_to_sign: bool) -> bool:
    """Two results agree, in their types as well."""
    pairs = list(zip(leaves(got), leaves(wanted)))
    if len(leaves(got)) != len(leaves(wanted)):
        return False
    for a, b in pairs:
        has_type = not isinstance(b, (int, float)) or isinstance(b, np.generic)
        if np.shape(a) != np.shape(b) or (has_type and np.asarray(a).dtype != np.asarray(b).dtype):
            return False
        x, y = (np.abs(a), np.abs(b)) if up_to_sign else (a, b)
        if not np.allclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=True):
            return False
    return True


@pytest.mark.parametrize(
    "part", [k if k < CHECKED else pytest.param(k, marks=pytest.mark.slow) for k in range(PARTS)]
)  # fmt: skip
def test_an_option_is_heeded_or_refused(part: int, tmp_path: Path) -> None:
    wrong = []
    for function in list(calls())[part::PARTS]:
        for text, pool in with_options(function):
            lines = [
                "import math",
                "import operator",
                "import numpy as np",
                "import scipy.linalg",
                "import scipy.special",
            ]
            lines += ["import transpile as tp", "", f"def program({', '.join(pool)}):", f"    return {text}", ""]
            program = load("\n".join(lines), "options", tmp_path).program
            args = [v.copy() if isinstance(v, np.ndarray) else v for v in pool.values()]
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                warnings.simplefilter("error", DeprecationWarning)
                try:
                    wanted = program(*args)
                except Exception:  # NumPy does not take it here
                    continue
                try:
                    got = Transformed(program, Level())(*args)
                except tp.TranspileError:
                    continue
            if not is_like(got, wanted, function in UP_TO_SIGNS):
                wrong.append(f"{text}: {got!r}, expected {wanted!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("index", [False, True])
def test_places_of_the_one_number_of_an_array_of_rank_0(index):
    def found(x):
        return np.unique(np.asarray(x), return_index=index, return_inverse=True)

    wanted, made = found(0.7), Transformed(found, Level())(0.7)
    assert [v.shape for v in made] == [v.shape for v in wanted]
