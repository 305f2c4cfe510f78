"""Hints for names of JAX's modules that ours do not have.

>>> way_out("transpile.lax", "exp"), way_out("transpile.tree", "tree_map"), way_out("transpile", "tree_map")
('write np.exp', 'write tp.tree.map', 'write tp.tree.map')
>>> way_out("numpy", "eig"), way_out("numpy", "testin", ["testing", "tensordot"])
('write np.linalg.eig', 'correct the name')
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Iterable

import numpy as np

_INSTEAD = {
    "transpile": {
        "numpy": "use NumPy itself: import numpy as np",
        "scipy": "use SciPy itself: import scipy.special",
        "nn": "write it with NumPy: np.maximum(x, 0.0), 1 / (1 + np.exp(-x)); scipy.special has softmax, logsumexp, expit",
        "tree_util": "write tp.tree: tp.tree.map, tp.tree.flatten, tp.tree.register_node",
        "flatten_util": "write tp.tree.ravel_pytree",
        "make_jaxpr": "write tp.source(f, *args), which returns the generated text",
        "block_until_ready": "leave it out: a call returns when its result is computed",
    },
    "transpile.lax": {
        "rsqrt": "write 1 / np.sqrt(x)",
        "logistic": "write scipy.special.expit",
        "expit": "write scipy.special.expit",
        "erf": "write scipy.special.erf",
        "lgamma": "write scipy.special.gammaln",
        "digamma": "write scipy.special.digamma",
        "integer_pow": "write x**n",
        "dot_general": "write np.einsum or np.matmul",
        "batch_matmul": "write np.matmul",
        "mul": "write np.multiply",
        "sub": "write np.subtract",
        "div": "write np.divide",
        "max": "write np.maximum",
        "min": "write np.minimum",
        "full_like": "write np.full_like",
        "iota": "write np.arange",
        "conv": "write np.convolve, or a sum over windows",
        "conv_general_dilated": "write np.convolve, or a sum over windows",
        "gather": "write x[index], or x.at[index].get(...)",
        "scatter": "write x.at[index].set(...)",
        "scatter_add": "write x.at[index].add(...)",
        "dynamic_index_in_axis": "write dynamic_index_in_dim",
    },
    "transpile.tree": {
        "register_pytree_node": "write tp.tree.register_node",
        "register_pytree_node_class": "write tp.tree.register_node(cls, flatten, unflatten), or @tp.tree.register_dataclass",
    },
}  # fmt: skip


def way_out(module: str, name: str, has: Iterable[str] = ()) -> str:
    """The hint for a name that a module, one of ours, NumPy or SciPy, lacks: the replacement, or the closest of the names that
    it ``has``; "correct the name" if there is neither."""
    known = _INSTEAD.get(module, {}).get(name)
    if known is not None:
        return known
    if module in ("transpile", "transpile.tree") and name.startswith("tree_"):
        short = name.removeprefix("tree_")
        if short in _public("transpile.tree"):
            return f"write tp.tree.{short}"
    if module == "transpile.lax" and not name.startswith("_") and callable(getattr(np, name, None)):
        return f"write np.{name}"
    for part in _PARTS.get(module, ()):
        inner = sys.modules.get(f"{module}.{part}")
        if name in getattr(inner, "__all__", ()):
            return f"write {module.replace('numpy', 'np')}.{part}.{name}"
    names = [n for n in has if not n.startswith("_")]
    if len(name) < 4 and module not in _INSTEAD:  # any word is near to so short a one
        names = [n for n in names if len(n) == len(name)]
    close = difflib.get_close_matches(name, names, 4, 0.66)
    found = next((n for n in close if importlib.util.find_spec(f"{module}.{n}") is None), None)
    return f"did you mean {found!r}?" if found else "correct the name"


_PARTS = {"numpy": ("linalg", "fft", "random"), "scipy": ("special", "linalg", "stats", "optimize")}
"""The modules of a library that are searched for a name that the library itself does not have."""


def _public(module: str) -> frozenset[str]:
    from importlib import import_module

    return frozenset(import_module(module).__all__)


def missing(module: str, name: str) -> AttributeError:
    """The AttributeError (not raised here) for a name that one of our modules lacks, with the hint."""
    hint = way_out(module, name, getattr(sys.modules[module], "__all__", ()))
    return AttributeError(f"module {module!r} has no attribute {name!r}" + f": {hint}" * bool(hint))
