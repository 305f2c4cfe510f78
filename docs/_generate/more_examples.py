"""Examples for public functions whose docstrings have none; `docs/conf.py` shows them, and a test runs them."""

EXAMPLES = {
    "transpile.value_and_grad": """
>>> import numpy as np
>>> import transpile as tp
>>> value, gradient = tp.value_and_grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
>>> float(value), gradient
(9.0, array([ 3., 12.]))
""",
    "transpile.jvp": """
>>> import numpy as np
>>> import transpile as tp
>>> value, tangent = tp.jvp(np.sin, (0.0,), (2.0,))
>>> float(value), float(tangent)
(0.0, 2.0)
""",
    "transpile.vjp": """
>>> import numpy as np
>>> import transpile as tp
>>> value, pullback = tp.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
>>> pullback(np.array([1.0, 10.0]))
(array([ 3., 40.]), array([ 1., 20.]))
""",
    "transpile.linearize": """
>>> import numpy as np
>>> import transpile as tp
>>> value, f_jvp = tp.linearize(lambda x: x**2, np.array([1.0, 3.0]))
>>> f_jvp(np.array([1.0, 1.0]))
array([2., 6.])
""",
    "transpile.jacfwd": """
>>> import numpy as np
>>> import transpile as tp
>>> def polar(p):
...     return np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])])
>>> tp.jacfwd(polar)(np.array([2.0, 0.0]))
array([[1., 0.],
       [0., 2.]])
""",
    "transpile.jacrev": """
>>> import numpy as np
>>> import transpile as tp
>>> tp.jacrev(np.cumsum)(np.zeros(3))
array([[1., 0., 0.],
       [1., 1., 0.],
       [1., 1., 1.]])
""",
    "transpile.hessian": """
>>> import numpy as np
>>> import transpile as tp
>>> tp.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
array([[6., 2.],
       [2., 0.]])
""",
    "transpile.hvp": """
>>> import numpy as np
>>> import transpile as tp
>>> tp.hvp(lambda x: np.sum(x**4), (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
array([12., 48.])
""",
    "transpile.jit": """
>>> import numpy as np
>>> import transpile as tp
>>> @tp.jit
... def norm(x):
...     total = 0.0
...     for value in x:
...         total += value * value
...     return np.sqrt(total)
>>> float(norm(np.array([3.0, 4.0])))
5.0
""",
    "transpile.source": """
>>> import transpile as tp
>>> square = tp.from_source("def square(x): return x * x")
>>> print(tp.source(tp.grad(square), 1.0))  # doctest: +ELLIPSIS
def square_grad(x):
    ...
""",
    "transpile.stop_gradient": """
>>> import transpile as tp
>>> tp.grad(lambda x: x * tp.stop_gradient(x))(3.0)
3.0
""",
    "transpile.custom_jvp": """
>>> import numpy as np
>>> import transpile as tp
>>> @tp.custom_jvp
... def log1pexp(x):
...     return np.log(1.0 + np.exp(x))
>>> @log1pexp.defjvp
... def rule(primals, tangents):
...     (x,), (x_dot,) = primals, tangents
...     return log1pexp(x), x_dot / (1.0 + np.exp(-x))
>>> float(tp.grad(log1pexp)(0.0))
0.5
""",
    "transpile.custom_vjp": """
>>> import numpy as np
>>> import transpile as tp
>>> @tp.custom_vjp
... def clipped(x):  # the gradient is cut, the value is not
...     return x
>>> def forward(x):
...     return x, None
>>> def backward(kept, x_bar):
...     return (np.clip(x_bar, -1.0, 1.0),)
>>> clipped.defvjp(forward, backward)
>>> float(tp.grad(lambda x: 5.0 * clipped(x))(2.0))
1.0
""",
    "transpile.eval_shape": """
>>> import numpy as np
>>> import transpile as tp
>>> tp.eval_shape(np.outer, np.zeros(2), np.zeros(3))
ShapeDtype(shape=(2, 3), dtype='float64')
""",
}
