"""Hints for names of JAX's modules that ours do not have.

>>> way_out("transpile.lax", "exp"), way_out("transpile.tree", "tree_map"), way_out("transpile", "tree_map")
('write np.exp', 'write tree.map', 'write tree.map')
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

import numpy as np

_INSTEAD = {
    "transpile": {
        "numpy": "write NumPy itself: import numpy as np",
        "scipy": "write SciPy itself: import scipy.special",
        "nn": "write it with NumPy: np.maximum(x, 0.0), 1 / (1 + np.exp(-x)); scipy.special has softmax, logsumexp, expit",
        "tree_util": "write tree: tree.map, tree.flatten, tree.register_node",
        "flatten_util": "write tree.ravel_pytree",
        "make_jaxpr": "source(f, *args) is the text that a function is transformed to",
        "block_until_ready": "arrays are there when a call returns",
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
        "register_pytree_node": "write tree.register_node",
        "register_pytree_node_class": "write tree.register_node(cls, flatten, unflatten), or @tree.register_dataclass",
    },
}  # fmt: skip


def way_out(module: str, name: str, has: Iterable[str] = ()) -> str:
    """The hint for a name that one of our modules lacks: the replacement, or the closest of the names that the module ``has``;
    "" if none."""
    known = _INSTEAD.get(module, {}).get(name)
    if known is not None:
        return known
    if module in ("transpile", "transpile.tree") and name.startswith("tree_"):
        short = name.removeprefix("tree_")
        if short in _public("transpile.tree"):
            return f"write tree.{short}"
    if module == "transpile.lax" and not name.startswith("_") and callable(getattr(np, name, None)):
        return f"write np.{name}"
    close = difflib.get_close_matches(name, list(has), 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _public(module: str) -> frozenset[str]:
    from importlib import import_module

    return frozenset(import_module(module).__all__)


def missing(module: str, name: str) -> AttributeError:
    """The AttributeError for a name that one of our modules lacks."""
    hint = way_out(module, name, getattr(sys.modules[module], "__all__", ()))
    return AttributeError(f"module {module!r} has no attribute {name!r}" + f": {hint}" * bool(hint))
