"""The public transforms. Most take a function and return a `Transformed`; without a function they return a decorator."""

from __future__ import annotations

import copyreg
import functools
import inspect
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy as np

from transpile.aggregates import Static, flatten
from transpile.base import options, untaken
from transpile.base.captured import holding
from transpile.base.carried import is_by_value, take
from transpile.base.described import KEPT, Docstring, Signature
from transpile.base.foreign_arrays import as_arrays
from transpile.base.held import Held
from transpile.base.intrinsics import stop_gradient as stop_gradient
from transpile.base.levels import Grad, Level, Pullback, Pushforward, Transpose
from transpile.custom import CustomJvp, CustomVjp
from transpile.driver.derivative_values import fitted, own
from transpile.driver.shared_arguments import copied
from transpile.driver.specialize import Specializer
from transpile.driver.tracebacks import CAUGHT, edge, framed
from transpile.errors import error

if TYPE_CHECKING:
    from transpile.reports.report import Report


__tracebackhide__ = True  # pytest leaves out the frames of this module

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A")
T = TypeVar("T")
Numbers: TypeAlias = "int | Sequence[int] | None"
Names: TypeAlias = "str | Sequence[str] | None"


class Decorator(Protocol):
    """The type of a transform called without a function: a decorator whose function returns something else."""

    def __call__(self, f: Callable[P, Any], /) -> Callable[P, Any]: ...


class PairDecorator(Protocol):
    """As `Decorator`, for functions that return a pair of the value and something else."""

    def __call__(self, f: Callable[P, R], /) -> Callable[P, tuple[R, Any]]: ...


class SameDecorator(Protocol):
    """As `Decorator`, for functions that return what the original does."""

    def __call__(self, f: Callable[P, R], /) -> Callable[P, R]: ...


class Transformed:
    """A function under one transform. The first call with each structure and type of arguments generates code for them.

    ``__wrapped__`` is the function that is transformed, ``__transpile_level__`` the transform. ``__call__`` is a slot, so that
    each object can have a function of its own: at first it looks up the program for a call; after a repeated call it is the
    function generated for calls of that kind (`transpile.driver.fast_path`).
    """

    __doc__ = Docstring(__doc__)
    __signature__ = Signature()

    # not in __dict__, which functools.wraps copies into what is written around it
    __slots__ = ("__call__", "__dict__", "__transpile_level__", "__weakref__", "_specializer")
    __call__: Callable[..., Any]
    __transpile_level__: Level

    def __init__(self, fn: Any, level: Level) -> None:
        if not callable(fn) and not hasattr(fn, "__transpile_function__"):
            message = f"expected a function, got {type(fn).__name__} {_short(fn)}"
            raise error("T411", message, hint="pass the function itself: write grad(f)(x), not grad(f(x))")
        functools.update_wrapper(self, fn, KEPT)
        self.__dict__.pop("__doc__", None)  # an object's own: a function with rules has one there
        self.__wrapped__ = fn
        self.__transpile_level__ = level
        self._specializer = specializer = Specializer(self)

        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return specializer(args, kwargs)
            except CAUGHT as failed:
                raise framed(failed)  # noqa: B904

        self.__call__ = call

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> Any:
        # a decorated function is pickled by name: its name refers to this object
        fn = self.__wrapped__
        found: Any = sys.modules.get(fn.__module__) if hasattr(fn, "__qualname__") else None
        for name in fn.__qualname__.split(".") if found is not None else ():
            found = getattr(found, name, None)
        if found is self and not (fn.__module__ == "__main__" and is_by_value(sys._getframe(1))):
            return fn.__qualname__
        from transpile.frontend.sources.texts_to_carry import texts_of

        return copyreg.__newobj__, (Transformed,), (fn, self.__transpile_level__, texts_of(fn))  # type: ignore

    def __setstate__(self, state: tuple[Any, Level, Any]) -> None:
        fn, level, texts = state
        take(texts)
        self.__init__(fn, level)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"<{type(self.__transpile_level__).__name__.lower()} of {getattr(self.__wrapped__, '__name__', self.__wrapped__)}>"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 40 else text[:37] + "..."


def _transform(fn: Any, levels: options.Levels) -> Any:
    """The function under these levels, the first one outermost; without a function, a decorator."""
    if fn is None:
        return lambda f: _transform(f, levels)
    for level in reversed(levels):
        fn = _made(fn, level)
    return fn


@overload
def grad(
    f: Callable[P, Any], argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...
) -> Callable[P, Any]: ...
@overload
def grad(f: None = ..., argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...) -> Decorator: ...
@edge
def grad(
    f: Callable[..., Any] | None = None, argnums: Any = options.FIRST, argnames: Any = None, has_aux: bool = False
) -> Any:
    """A function that returns the gradient of ``f``, which must return one number.

    It takes the arguments of ``f``. ``argnums`` (an int or a tuple, negative from the end; 0 by default) and ``argnames``
    select those that are differentiated, arrays or containers of arrays. The gradient has their structure, shapes and dtypes; a
    tuple of ``argnums`` gives a tuple of gradients, a tuple of ``argnames`` alone a dict. With ``has_aux``, ``f`` returns a
    pair ``(number, auxiliary)`` and the result is ``(gradient, auxiliary)``.

    A call raises `TranspileError`: T301 if ``f`` does not return a scalar, T305 if the scalar is not floating point, T302 if a
    selected argument is not, T306 or T407 if it does not exist, T308 if ``has_aux`` is given and ``f`` returns no pair.

    >>> import numpy as np
    >>> import transpile as tp
    >>> def f(x):
    ...     return np.sum(x ** 2)
    >>> tp.grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _transform(f, options.grad(argnums, argnames, has_aux))


@overload
def value_and_grad(
    f: Callable[P, R], argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...
) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    f: None = ..., argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...
) -> PairDecorator: ...
@edge
def value_and_grad(
    f: Callable[..., Any] | None = None, argnums: Any = options.FIRST, argnames: Any = None, has_aux: bool = False
) -> Any:
    """A function that returns ``(value, gradient)`` of ``f``, which must return one number.

    Arguments and errors are those of `grad`. With ``has_aux`` the result is ``((value, auxiliary), gradient)``.

    >>> import numpy as np
    >>> import transpile as tp
    >>> value, gradient = tp.value_and_grad(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    >>> float(value), gradient
    (9.0, array([ 3., 12.]))
    """
    return _transform(f, options.value_and_grad(argnums, argnames, has_aux))


@overload
def jacfwd(
    f: Callable[P, Any], argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...
) -> Callable[P, Any]: ...
@overload
def jacfwd(f: None = ..., argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...) -> Decorator: ...
@edge
def jacfwd(
    f: Callable[..., Any] | None = None, argnums: Any = options.FIRST, argnames: Any = None, has_aux: bool = False
) -> Any:
    """A function that returns the Jacobian of ``f``, by forward mode: cheap if the inputs have few elements.

    The result has the structure of the output of ``f``; in the place of each array stands the structure of the selected
    arguments, with one array for each of theirs, whose shape is that of the output followed by that of the argument.
    ``argnums``, ``argnames``, ``has_aux`` and errors are those of `grad`, except that any output of floating point may be
    differentiated.

    >>> import numpy as np
    >>> import transpile as tp
    >>> def polar(p):
    ...     return np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])])
    >>> tp.jacfwd(polar)(np.array([2.0, 0.0]))
    array([[1., 0.],
           [0., 2.]])
    """
    return _transform(f, options.jacfwd(argnums, argnames, has_aux))


@overload
def jacrev(
    f: Callable[P, Any], argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...
) -> Callable[P, Any]: ...
@overload
def jacrev(f: None = ..., argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...) -> Decorator: ...
@edge
def jacrev(
    f: Callable[..., Any] | None = None, argnums: Any = options.FIRST, argnames: Any = None, has_aux: bool = False
) -> Any:
    """A function that returns the Jacobian of ``f``, by reverse mode: cheap if the output has few elements.

    Arguments, result and errors are those of `jacfwd`.

    >>> import numpy as np
    >>> import transpile as tp
    >>> tp.jacrev(np.cumsum)(np.zeros(3))
    array([[1., 0., 0.],
           [1., 1., 0.],
           [1., 1., 1.]])
    """
    return _transform(f, options.jacrev(argnums, argnames, has_aux))


@overload
def hessian(
    f: Callable[P, Any], argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...
) -> Callable[P, Any]: ...
@overload
def hessian(f: None = ..., argnums: Numbers = ..., argnames: Names = ..., has_aux: bool = ...) -> Decorator: ...
@edge
def hessian(
    f: Callable[..., Any] | None = None, argnums: Any = options.FIRST, argnames: Any = None, has_aux: bool = False
) -> Any:
    """A function that returns the Hessian of ``f``: ``jacfwd(jacrev(f))``.

    Each array of the result has the shape of an output, then those of two arguments. Arguments and errors are those of
    `jacfwd`.

    >>> import numpy as np
    >>> import transpile as tp
    >>> tp.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 3.0]))
    array([[6., 2.],
           [2., 0.]])
    """
    return _transform(f, options.hessian(argnums, argnames, has_aux))


@edge
def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The product of the Hessian of the scalar function ``f`` at ``primals`` with ``tangents``, by forward over reverse mode.

    ``primals`` and ``tangents`` are tuples with one entry for each argument of ``f``; tangents have the structure and shapes of
    the primals (T309). The result is one product for one primal, a tuple for several, with None for an integer, whose tangent
    is ignored. Raises `TranspileError` T301 if ``f`` does not return a scalar.

    >>> import numpy as np
    >>> import transpile as tp
    >>> tp.hvp(lambda x: np.sum(x**4), (np.array([1.0, 2.0]),), (np.array([1.0, 1.0]),))
    array([12., 48.])
    """
    primals, tangents = _tuples(primals, tangents)
    argnums = _all_of_float(primals)
    found = _of_gradient(f, argnums)(primals, tangents)
    if isinstance(argnums, int):
        return found if len(primals) == 1 else tuple(found if k == argnums else None for k in range(len(primals)))
    rest = iter(found)
    return tuple(next(rest) if k in argnums else None for k in range(len(primals)))


def _of_gradient(f: Any, argnums: Any) -> Any:
    """The function that returns the tangent of the gradient of ``f``."""
    return _made(_made(f, Grad(argnums)), Pushforward(value=False))


def _all_of_float(primals: Sequence[Any]) -> Any:
    """The position of the only primal with a floating-point or complex leaf, or a tuple of the positions; those of all primals
    if none has one."""
    floats = [k for k, x in enumerate(primals) if any(np.result_type(v).kind in "fc" for v in flatten(as_arrays(x))[0])]
    chosen = tuple(floats or range(len(primals)))
    return chosen[0] if len(chosen) == 1 else chosen


@edge
def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, Any]:
    """``(value, tangent)``: the value of ``f`` at ``primals`` and its derivative along ``tangents``, by forward mode.

    ``primals`` and ``tangents`` are tuples with one entry for each argument of ``f``; tangents have the structure and shapes of
    the primals (T309) and are cast to their dtypes. The tangent of an integer argument is ignored; that of an integer result is
    None.

    >>> import numpy as np
    >>> import transpile as tp
    >>> value, tangent = tp.jvp(np.sin, (0.0,), (2.0,))
    >>> float(value), float(tangent)
    (0.0, 2.0)
    """
    primals, tangents = _tuples(primals, tangents)
    return _made(f, Pushforward())(primals, tangents)


@edge
def linearize(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., Any]]:
    """``(value, f_jvp)``: the value of ``f`` at ``primals``, and its derivative there as a function, ``f_jvp(*tangents)``.

    ``f_jvp`` may be called repeatedly. It does not see later changes of the primals, nor of arrays and numbers that ``f`` reads
    from outside. If anything else that ``f`` reads there has changed (a flag, a function), it raises `TranspileError` T418.

    >>> import numpy as np
    >>> import transpile as tp
    >>> value, f_jvp = tp.linearize(lambda x: x**2, np.array([1.0, 3.0]))
    >>> f_jvp(np.array([1.0, 1.0]))
    array([2., 6.])
    """

    given, primals = primals, own(primals)
    push = _made(f, Pushforward(value=False))
    held: dict[Any, Any] = {}
    with holding(held), copied(given):
        value, unchanged = _now(f, primals)

    @edge
    def f_jvp(*tangents: Any) -> Any:
        _check_since(f, unchanged, "linearize")
        with holding(held):
            return push(*_tuples(primals, tangents))

    check = functools.partial(_check_since, f, unchanged, "linearize")
    f_jvp.__dict__["__transpile_form__"] = Held(push, primals, primals, held, check, several=True)
    return value, f_jvp


@overload
def vjp(
    f: Callable[..., R], *primals: Any, has_aux: Literal[False] = ...
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, A]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Callable[[Any], tuple[Any, ...]], A]: ...
@edge
def vjp(f: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """``(value, pullback)``: the value of ``f`` at ``primals``, and the function from cotangents to adjoints (reverse mode).

    The cotangent has the structure and shapes of the value (T309). ``pullback(cotangent)`` is a tuple with one adjoint for each
    primal, None for an integer. It may be called repeatedly. It does not see later changes of the primals, nor of arrays and
    numbers that ``f`` reads from outside; if anything else that ``f`` reads there has changed (a flag, a function), it raises
    `TranspileError` T418. With ``has_aux``, ``f`` returns a pair (T308) and the result is ``(value, pullback, auxiliary)``.

    >>> import numpy as np
    >>> import transpile as tp
    >>> value, pullback = tp.vjp(lambda x, y: x * y, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    >>> pullback(np.array([1.0, 10.0]))
    (array([ 3., 40.]), array([ 1., 20.]))
    """

    return _pulled(f, primals, Pullback(has_aux), "vjp")


@edge
def linear_transpose(f: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """``f_transpose``: the transpose of a function ``f`` that is linear in its arguments.

    Of ``primals`` only structure, shapes and dtypes matter, except that integers are read as constants.
    ``f_transpose(cotangent)`` is a tuple with one entry for each primal, None for an integer. Later changes of what
    ``f`` reads from outside are treated as by the pullback of `vjp`.

    Raises `TranspileError` T312 if ``f`` is not linear, with the line that shows it. A constant that ``f`` adds is ignored.

    >>> import numpy as np
    >>> import transpile as tp
    >>> def differences(x):
    ...     return x[1:] - x[:-1]
    >>> tp.linear_transpose(differences, np.zeros(4))(np.array([1.0, 2.0, 4.0]))
    (array([-1., -1., -2.,  4.]),)
    """
    pullback: Callable[[Any], tuple[Any, ...]] = _pulled(f, primals, Transpose(), "linear_transpose")[1]
    return pullback


def _pulled(f: Callable[..., Any], given: tuple[Any, ...], level: Pullback, which: str) -> tuple[Any, ...]:
    """``(value, pullback)`` of ``f`` at the primals ``given``, then the auxiliary output if the level has one; ``which`` is the
    public function, for messages."""
    primals = own(given)
    pull = _made(f, level)
    held: dict[Any, Any] = {}
    with holding(held), copied(given):
        value, unchanged = _now(f, primals)
    if level.has_aux and not (isinstance(value, tuple) and len(value) == 2):
        message = f"has_aux=True: {getattr(f, '__name__', f)!r} must return a pair (output, auxiliary)"
        raise error("T308", message, hint="return a pair, or leave has_aux out")
    value, *aux = value if level.has_aux else (value,)

    @edge
    def pullback(cotangent: Any) -> Any:
        _check_since(f, unchanged, which)
        with holding(held):
            return pull(primals, fitted(value, cotangent, "the cotangent"))

    check = functools.partial(_check_since, f, unchanged, which)
    pullback.__dict__["__transpile_form__"] = Held(pull, primals, value, held, check)
    return (value, pullback, *aux)


def _now(f: Any, primals: tuple[Any, ...]) -> tuple[Any, Callable[[], bool]]:
    """The value of ``f``, and a function that tells whether what ``f`` reads from outside, except arrays and numbers, is still
    the same."""
    run = _made(f, Level())
    return run(*primals), run._specializer.since(primals)


def _check_since(f: Any, unchanged: Callable[[], bool], which: str) -> None:
    if not unchanged():
        name = getattr(f, "__name__", f)
        text = f"a value that {name!r} reads from outside (a flag, string, function or length) has changed since {which} was called"
        raise error("T418", text, hint=f"call {which} again")


def _tuples(primals: Any, tangents: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Primals and tangents as tuples, the tangents fitted to the primals; T309 if they are no tuples or lists, or do not
    match."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            hint = "write (x,) for one argument"
            raise error(
                "T309", f"{name} must be a tuple with one entry for each argument, not {_short(given)}", hint=hint
            )
    if len(primals) != len(tangents):
        raise error(
            "T309", f"{len(primals)} primals but {len(tangents)} tangents", hint="pass one tangent for each primal"
        )
    return tuple(primals), tuple(
        fitted(x, x_dot, f"tangents[{k}]") for k, (x, x_dot) in enumerate(zip(primals, tangents))
    )


def called(f: Any, args: Sequence[Any], kwargs: Any, asks: str) -> tuple[Any, Sequence[Any], Any]:
    """``(function, args, kwargs)``: if ``f`` is `jvp`, `vjp`, `linear_transpose`, `linearize` or `hvp`, the transformed
    function that such a call runs, and its arguments; otherwise the three as they are. ``asks`` is the name of the calling
    function, for messages."""
    if f not in (jvp, vjp, linear_transpose, linearize, hvp):
        return f, args, kwargs
    name = f.__name__
    if not args or not callable(args[0]):
        message = f"the first argument of {name} must be a function"
        raise error("T411", message, hint=f"write {asks}(tp.{name}, f, ...)")
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
    except TypeError as failed:
        raise error("T408", f"{name}: {failed}", hint=f"write {asks}(tp.{name}, f, ...)") from None
    fn, *rest = bound.args
    if f is vjp:
        has_aux = bound.kwargs.get("has_aux", False)
        value = _made(fn, Level())(*rest)
        return _made(fn, Pullback(has_aux)), (tuple(rest), value[0] if has_aux else value), {}
    if f is linear_transpose:
        return _made(fn, Transpose()), (tuple(rest), _made(fn, Level())(*rest)), {}
    if f is linearize:
        return _made(fn, Pushforward(value=False)), (tuple(rest), tuple(rest)), {}
    primals, tangents = _tuples(*rest)
    if f is jvp:
        return _made(fn, Pushforward()), (primals, tangents), {}
    return _of_gradient(fn, _all_of_float(primals)), (primals, tangents), {}


@overload
def vmap(
    f: Callable[P, Any],
    in_axes: Any = ...,
    out_axes: Any = ...,
    axis_name: Hashable = ...,
    axis_size: int | None = ...,
) -> Callable[P, Any]: ...
@overload
def vmap(
    f: None = ...,
    in_axes: Any = ...,
    out_axes: Any = ...,
    axis_name: Hashable = ...,
    axis_size: int | None = ...,
) -> Decorator: ...
@edge
def vmap(
    f: Callable[..., Any] | None = None,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
) -> Any:
    """The batched version of ``f``: it applies ``f`` to every lane, one entry along the batch axis of the arguments.

    ``in_axes`` is the batch axis: an int for all arguments, or a tuple with an entry for each positional argument. An entry is
    an int, None (all lanes share the argument), or a container of these that matches the argument or the upper part of its
    structure (``({"w": 0, "b": None}, 0)``). Axes may be negative. Keyword arguments have their lanes along axis 0.
    ``out_axes`` is, in the same way, the batch axis of the results; None for a result that is the same in all lanes.
    ``axis_size`` is the number of lanes, needed only if no argument has a batch axis; ``axis_name`` names the axis for the
    collectives of `transpile.lax`.

    A call raises `TranspileError`: T601 if axes do not fit, T602 if arguments have different numbers of lanes, T603 if a result
    would have different sizes in different lanes or if ``f`` writes into an argument that all lanes share.

    >>> import numpy as np
    >>> import transpile as tp
    >>> def distance(a, b):
    ...     return np.sqrt(np.sum((a - b) ** 2))
    >>> tp.vmap(distance, in_axes=(0, None))(np.array([[0.0, 1.0], [3.0, 5.0]]), np.array([0.0, 1.0]))
    array([0., 5.])
    """
    return _transform(f, options.vmap(in_axes, out_axes, axis_name, axis_size))


@overload
def jit(
    f: Callable[P, R],
    target: str = ...,
    static_argnums: Numbers = ...,
    static_argnames: Names = ...,
    parallel: bool = ...,
    fastmath: bool | Iterable[str] = ...,
    cache: bool = ...,
) -> Callable[P, R]: ...
@overload
def jit(
    f: None = ...,
    target: str = ...,
    static_argnums: Numbers = ...,
    static_argnames: Names = ...,
    parallel: bool = ...,
    fastmath: bool | Iterable[str] = ...,
    cache: bool = ...,
) -> SameDecorator: ...
@edge
def jit(
    f: Callable[..., Any] | None = None,
    target: str = "cpu",
    static_argnums: Any = (),
    static_argnames: Any = (),
    parallel: bool = False,
    fastmath: Any = ("contract", "reassoc"),
    cache: bool = True,
) -> Any:
    """``f`` compiled to machine code with Numba and LLVM, once for each structure and type of its arguments.

    ``f`` may be a transformed function (``jit(grad(f))``). Arrays that ``f`` writes are written, unless a derivative is taken.
    ``static_argnums`` and ``static_argnames`` select arguments whose values are compiled in; another value compiles again.
    ``parallel`` runs independent outer loops on several cores. ``fastmath`` are LLVM's flags (False: none, True: all); by
    default sums may be reassociated and products fused with sums. ``cache`` keeps compiled code on disk. ``target`` can only be
    "cpu".

    Raises `TranspileError`: T503 if Numba is not installed, T501, T502 or T504 if a part cannot be compiled, T505 for an
    unknown option, T409 if a static argument is an array.

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
    """
    return _transform(f, options.jit(target, static_argnums, static_argnames, parallel, fastmath, cache))


@edge
def source(f: Any, *args: Any, stage: str | None = None, **kwargs: Any) -> str:
    """The generated code of ``f`` for arguments of these types: the text of a Python module.

    ``f`` is a function, transformed or not, or one of `jvp`, `vjp`, `linear_transpose`, `linearize` and `hvp` followed by the
    arguments it takes: ``source(tp.jvp, f, (x,), (x_dot,))``. ``stage`` is None or "derivative" (NumPy code, which runs without
    `jit`), "core" (the compiler's own language) or "loops" (loops for Numba); anything else raises `TranspileError` T505.

    >>> import transpile as tp
    >>> square = tp.from_source("def square(x): return x * x")
    >>> print(tp.source(tp.grad(square), 1.0))  # doctest: +ELLIPSIS
    def square_grad(x):
        ...
    """
    from transpile.driver.inspection import text

    f, given, kwargs = called(f, args, kwargs, "source")
    return text(f, given, kwargs, stage or "derivative")


@edge
def from_source(text: str, globals: dict[str, Any] | None = None) -> Any:
    """The last function that ``text`` defines at its top level, ready to be transformed: for source that is in no file.

    The text is executed with ``globals`` as the namespace of its module, a new dict by default; the names it defines are added
    there. It may be indented as a block. Raises `TranspileError` T403 if it does not parse, T404 if it defines no function.

    >>> import transpile as tp
    >>> cube = tp.from_source("def cube(x):\\n    return x ** 3\\n")
    >>> tp.grad(cube)(2.0)
    12.0
    """
    from transpile.frontend.sources.origin import defined

    return defined(text, globals)


@edge
def report(f: Any, *args: Any, **kwargs: Any) -> Report:
    """The memory that the derivative ``f`` records for these arguments: bytes, a formula in the dimensions, and the reasons.

    ``f`` is a transformed function (``grad(f)``, ``jit(grad(f))``, ``hessian(f)``, any nesting), or one of `jvp`, `vjp`,
    `linear_transpose`, `linearize` and `hvp` followed by the arguments it takes: ``report(tp.vjp, f, x)``. The result is a
    `transpile.reports.report.Report`, which prints as a table: what is recorded and kept, what is recomputed instead, and the
    peak memory. Counts known only at run time (the trip count of a ``while`` loop) are found by running the statements that
    they depend on, interpreted. Raises what a call of ``f`` raises.

    >>> import numpy as np
    >>> import transpile as tp
    >>> def decay(x, steps):
    ...     for _ in range(steps):
    ...         x = x * np.exp(-x)
    ...     return np.sum(x)
    >>> found = tp.report(tp.grad(decay), np.ones(1000), 50)
    >>> found.bytes, str(found.formula)
    (800000, '16·steps·n')
    """
    from transpile.driver.inspection import reported

    return reported(*called(f, args, kwargs, "report"))


def _made(fn: Any, level: Level) -> Any:
    return _kept(Static(fn), level)


@functools.lru_cache(maxsize=512)
def _kept(fn: Static, level: Level) -> Transformed:
    """The transformed function, one object for each function and level (of the last 512), so that ``grad(f)(x)`` in a loop
    generates code only once."""
    return Transformed(fn.value, level)


@edge
def custom_jvp(f: Callable[..., Any] | None = None, nondiff_argnums: Any = (), nondiff_argnames: Any = ()) -> Any:
    """``f`` with a forward derivative that the user writes: ``f.defjvp(rule)``.

    ``rule(primals, tangents)`` returns ``(value, tangent)``. Reverse mode transposes the rule, which must be linear in
    ``tangents``. ``f.defjvps(*jvps)`` sets a rule for each argument instead, ``jvp(tangent, value, *primals)``, or None for no
    contribution. Arguments selected by ``nondiff_argnums`` and ``nondiff_argnames`` are not differentiated; they come first in
    the call of ``rule``, before the two tuples. Raises `TranspileError` T307 if there is no rule, or if it does not fit ``f``.

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
    """
    given = nondiff_argnums, nondiff_argnames
    return CustomJvp(f, *given) if f is not None else lambda f: CustomJvp(f, *given)


@edge
def custom_vjp(f: Callable[..., Any] | None = None, nondiff_argnums: Any = (), nondiff_argnames: Any = ()) -> Any:
    """``f`` with a reverse derivative that the user writes: ``f.defvjp(forward, backward)``.

    ``forward(*args)`` returns ``(value, kept)``; ``backward(kept, cotangent)`` returns a tuple with one adjoint for each
    argument, None for zero. Arguments selected by ``nondiff_argnums`` and ``nondiff_argnames`` are not differentiated: they
    come first in the call of ``backward``, and have no adjoint. Raises `TranspileError` T307 if there is no rule, or if it does
    not fit ``f``.

    >>> import numpy as np
    >>> import transpile as tp
    >>> @tp.custom_vjp
    ... def clipped(x):  # the gradient is clipped, the value is not
    ...     return x
    >>> def forward(x):
    ...     return x, None
    >>> def backward(kept, x_bar):
    ...     return (np.clip(x_bar, -1.0, 1.0),)
    >>> clipped.defvjp(forward, backward)
    >>> float(tp.grad(lambda x: 5.0 * clipped(x))(2.0))
    1.0
    """
    given = nondiff_argnums, nondiff_argnames
    return CustomVjp(f, *given) if f is not None else lambda f: CustomVjp(f, *given)


class ShapeDtype:
    """Shape and dtype of an array, as `eval_shape` returns them; a size that is known only at run time is None."""

    def __init__(self, shape: tuple[int | None, ...], dtype: str) -> None:
        self.shape, self.dtype = shape, dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ShapeDtype) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtype(shape={self.shape}, dtype={self.dtype!r})"


@edge
def eval_shape(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The structure of the result of ``f`` with a `ShapeDtype`, ``shape`` and ``dtype``, for each array and number.

    ``f`` is not run. A size that is known only at run time is None.

    >>> import numpy as np
    >>> import transpile as tp
    >>> tp.eval_shape(np.outer, np.zeros(2), np.zeros(3))
    ShapeDtype(shape=(2, 3), dtype='float64')
    """
    from transpile.driver.inspection import shapes

    return shapes(f, args, kwargs, ShapeDtype)


def _inspect(f: Any, args: Sequence[Any], make: Any) -> Any:
    from transpile.driver.inspection import results

    return results(f, args, {}, make)


untaken.inspect = _inspect
