"""Derivatives of ordinary Python and NumPy code, as Python source that can be read, run and compiled.

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

from transpile.beside import find_runtime as _find_runtime

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
    linearize,
    report,
    source,
    stop_gradient,
    value_and_grad,
    vjp,
)
from transpile.errors import Diagnostic, TranspileError  # noqa: E402

__all__ = [
    "Diagnostic", "TranspileError", "check_grads", "custom_jvp", "custom_vjp", "eval_shape", "from_source", "grad", "hessian",
    "hvp", "jacfwd", "jacrev", "jit", "jvp", "linearize", "report", "source", "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip
__version__ = "0.1.0"

if _typing.TYPE_CHECKING:
    from transpile.check import check_grads
else:

    def __getattr__(name: str) -> _typing.Any:
        """`check_grads`: its module is imported when it is wanted, for nobody who only computes needs it."""
        if name != "check_grads":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from transpile.check import check_grads

        globals()[name] = check_grads
        return check_grads

    def __dir__() -> list[str]:
        return [*globals(), "check_grads"]
