"""Derivatives and batched versions of ordinary Python and NumPy functions, as readable Python source and as machine code.

Each transform takes a function and returns one: `grad`, `jvp`, `vjp`, `jacfwd`, `jacrev`, `hessian`, `vmap`, `jit`. Transforms
nest: ``jit(vmap(grad(f)))``. `source` returns the generated code as text.

>>> import numpy as np
>>> import transpile as tp
>>> @tp.value_and_grad
... def energy(x):
...     return 0.5 * np.sum(x ** 2)
>>> value, gradient = energy(np.array([1.0, 2.0]))
>>> float(value), gradient
(2.5, array([1., 2.]))
"""

import typing as _typing
from pathlib import Path as _Path

from transpile.base.beside import find_runtime as _find_runtime

_find_runtime(_Path(__file__).parent.parent / "runtime")

from transpile.api import (  # noqa: E402
    custom_jvp,
    custom_vjp,
    eval_shape,
    from_source,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    jit,
    jvp,
    linear_transpose,
    linearize,
    report,
    source,
    stop_gradient,
    value_and_grad,
    vjp,
    vmap,
)
from transpile.at import at  # noqa: E402
from transpile.base.jax_names import missing as _missing  # noqa: E402
from transpile.errors import Diagnostic, TranspileError  # noqa: E402

__all__ = [
    "Diagnostic", "TranspileError", "at", "check_grads", "custom_jvp", "custom_vjp", "eval_shape", "from_source", "grad", "hessian",
    "hvp", "jacfwd", "jacrev", "jit", "jvp", "lax", "linear_transpose", "linearize", "random", "report", "source", "stop_gradient",
    "tree", "value_and_grad", "vjp", "vmap",
]  # fmt: skip
__version__ = "0.1.0"

_LATER = {"check_grads": "transpile.check", "lax": "", "random": "", "tree": ""}

if _typing.TYPE_CHECKING:
    from transpile import lax as lax
    from transpile import random as random
    from transpile import tree as tree
    from transpile.check import check_grads
else:

    def __getattr__(name: str) -> _typing.Any:
        """Imports a module, or a name of one, at its first use: not every program needs it."""
        if name not in _LATER:
            raise _missing(__name__, name)
        from importlib import import_module

        module = import_module(_LATER[name] or f"{__name__}.{name}")
        globals()[name] = found = getattr(module, name) if _LATER[name] else module
        return found

    def __dir__() -> list[str]:
        return [*globals(), *_LATER]
