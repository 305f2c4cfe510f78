"""The public transforms. Each takes a function, or is a decorator with or without arguments, and gives a `Transformed`."""

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
    """What a transform gives without a function."""

    def __call__(self, f: Callable[P, Any], /) -> Callable[P, Any]: ...


class PairDecorator(Protocol):
    def __call__(self, f: Callable[P, R], /) -> Callable[P, tuple[R, Any]]: ...


class SameDecorator(Protocol):
    def __call__(self, f: Callable[P, R], /) -> Callable[P, R]: ...


class Transformed:
    """A function under one more transform. Calling it builds, on first use of each argument type, the generated code.

    ``__wrapped__`` is what is transformed, ``__transpile_level__`` how. ``__call__`` is a slot: each object is called by a
    function of its own, which at first finds out what the call is, and then is the one that was written for such calls
    (`transpile.driver.fast_path`).
    """

    __doc__ = Docstring(__doc__)
    __signature__ = Signature()

    # not in __dict__, which functools.wraps copies into what is written around it
    __slots__ = ("__call__", "__dict__", "__transpile_level__", "__weakref__", "_specializer")
    __call__: Callable[..., Any]
    __transpile_level__: Level

    def __init__(self, fn: Any, level: Level) -> None:
        if not callable(fn) and not hasattr(fn, "__transpile_function__"):
            raise error("T411", f"expected a function, got {type(fn).__name__} {_short(fn)}")
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
        # by name where the name is the transformed function's, as that of a decorated one is
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
    """The transformed function; without a function, the decorator."""
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

    The gradient has the structure, shapes and dtypes of the arguments named by ``argnums`` (an int, may be negative, or a
    tuple) and ``argnames``. With ``has_aux``, ``f`` returns a pair and the result is ``(gradient, auxiliary)``.
    Raises `TranspileError` T301 where the output is not a scalar, T302 where an argument is not of floating point.

    >>> import numpy as np
    >>> def f(x):
    ...     return np.sum(x ** 2)
    >>> grad(f)(np.array([1.0, 2.0]))
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
    """A function that returns the value of ``f`` and its gradient; see `grad`.

    With ``has_aux`` the result is ``((value, auxiliary), gradient)``.
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
    """A function that returns the Jacobian of ``f``, by forward mode: cheap where the arguments are few.

    Each array of the result has the dims of an output and then those of an argument.
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
    """A function that returns the Jacobian of ``f``, by reverse mode: cheap where the outputs are few."""
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
    """A function that returns the second derivatives of ``f``: the forward Jacobian of its reverse Jacobian."""
    return _transform(f, options.hessian(argnums, argnames, has_aux))


@edge
def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The product of the Hessian of a scalar function of ``primals`` with ``tangents``: forward over reverse.

    One primal gives one result; several give a tuple, with None for an integer, whose tangent is not read.
    """
    primals, tangents = _tuples(primals, tangents)
    argnums = _all_of_float(primals)
    found = _of_gradient(f, argnums)(primals, tangents)
    if isinstance(argnums, int):
        return found if len(primals) == 1 else tuple(found if k == argnums else None for k in range(len(primals)))
    rest = iter(found)
    return tuple(next(rest) if k in argnums else None for k in range(len(primals)))


def _of_gradient(f: Any, argnums: Any) -> Any:
    """The tangent of the gradient."""
    return _made(_made(f, Grad(argnums)), Pushforward(value=False))


def _all_of_float(primals: Sequence[Any]) -> Any:
    """The positions of the primals that a gradient is taken in: those with anything of floating point, all if none has."""
    floats = [k for k, x in enumerate(primals) if any(np.result_type(v).kind in "fc" for v in flatten(as_arrays(x))[0])]
    chosen = tuple(floats or range(len(primals)))
    return chosen[0] if len(chosen) == 1 else chosen


@edge
def jvp(f: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[R, Any]:
    """``(value, tangent)`` of ``f`` at ``primals`` in the direction ``tangents``, both tuples with one entry an argument.

    Tangents of integer arguments are not read; the tangent of an integer result is None.
    """
    primals, tangents = _tuples(primals, tangents)
    return _made(f, Pushforward())(primals, tangents)


@edge
def linearize(f: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., Any]]:
    """``(value, f_jvp)``: ``f_jvp(*tangents)`` is the tangent of ``f`` at ``primals``, as they and what ``f`` reads were then."""

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
    """``(value, pullback)``, with ``has_aux`` ``(value, pullback, auxiliary)``.

    ``pullback(cotangent)`` is a tuple with one adjoint for each primal (None for an integer). It may be called again, and
    does not see later changes of the primals, nor of arrays and numbers that ``f`` reads outside itself.
    """

    return _pulled(f, primals, Pullback(has_aux), "vjp")


@edge
def linear_transpose(f: Callable[..., Any], *primals: Any) -> Callable[[Any], tuple[Any, ...]]:
    """``f_transpose(cotangent)``: the transpose of a function that is linear in ``primals``, of which only shapes and dtypes count.

    The result is a tuple with one entry for each primal (None for an integer, which is read as it is). What ``f`` reads outside
    itself is as it was when this was called.

    Raises `TranspileError` T312 where ``f`` is not linear, with the line that shows it; what it adds that does not depend on its
    arguments counts for nothing.

    >>> import numpy as np
    >>> def differences(x):
    ...     return x[1:] - x[:-1]
    >>> linear_transpose(differences, np.zeros(4))(np.array([1.0, 2.0, 4.0]))
    (array([-1., -1., -2.,  4.]),)
    """
    pullback: Callable[[Any], tuple[Any, ...]] = _pulled(f, primals, Transpose(), "linear_transpose")[1]
    return pullback


def _pulled(f: Callable[..., Any], given: tuple[Any, ...], level: Pullback, which: str) -> tuple[Any, ...]:
    """The value, the function of a cotangent, and what is auxiliary, if it is asked for."""
    primals = own(given)
    pull = _made(f, level)
    held: dict[Any, Any] = {}
    with holding(held), copied(given):
        value, unchanged = _now(f, primals)
    if level.has_aux and not (isinstance(value, tuple) and len(value) == 2):
        raise error("T308", f"has_aux=True: {getattr(f, '__name__', f)!r} must return a pair (output, auxiliary)")
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
    """What ``f`` gives, and whether what it reads outside itself, arrays and numbers apart, is later what it is now."""
    run = _made(f, Level())
    return run(*primals), run._specializer.since(primals)


def _check_since(f: Any, unchanged: Callable[[], bool], which: str) -> None:
    if not unchanged():
        name = getattr(f, "__name__", f)
        text = f"what {name!r} reads outside itself (a flag, a string, a function, a length) has changed since {which} was called"
        raise error("T418", text, hint=f"call {which} again")


def _tuples(primals: Any, tangents: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            hint = "write (x,) for one argument"
            raise error(
                "T309", f"{name} must be a tuple with one entry for each argument, not {_short(given)}", hint=hint
            )
    if len(primals) != len(tangents):
        raise error("T309", f"{len(primals)} primals but {len(tangents)} tangents")
    return tuple(primals), tuple(
        fitted(x, x_dot, f"tangents[{k}]") for k, (x, x_dot) in enumerate(zip(primals, tangents))
    )


def called(f: Any, args: Sequence[Any], kwargs: Any, asks: str) -> tuple[Any, Sequence[Any], Any]:
    """The transformed function that a call of `jvp`, `vjp`, `linear_transpose`, `linearize` or `hvp` runs, and its arguments; all
    else as it is. ``asks`` is the function that wants to know."""
    if f not in (jvp, vjp, linear_transpose, linearize, hvp):
        return f, args, kwargs
    name = f.__name__
    if not args or not callable(args[0]):
        raise error("T411", f"{name} takes a function first: {asks}(tp.{name}, f, ...)")
    try:
        bound = inspect.signature(f).bind(*args, **kwargs)
    except TypeError as failed:
        raise error("T408", f"{name}: {failed}") from None
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
    """The function that does for all lanes what ``f`` does for one; a lane is an entry along an axis of the arguments.

    ``in_axes``: an int, the axis of each argument; None for what all lanes share; a tuple with one entry for each positional
    argument, each an int, None or a tree of these of which that of the argument may have more (``({"w": 0, "b": None}, 0)``).
    Axes may be negative. Arguments given by name have their lanes along axis 0. ``out_axes``, in the same way, is where the
    results have the lanes; None where the result is the same in all. ``axis_size`` is the number of lanes where no argument
    says it, ``axis_name`` what the collectives of `transpile.lax` call the axis.

    Raises `TranspileError` T601 where axes do not fit, T602 where arguments have different numbers of lanes, T603 where
    a result would have another size in other lanes, or where ``f`` writes into what all lanes share.

    >>> import numpy as np
    >>> def distance(a, b):
    ...     return np.sqrt(np.sum((a - b) ** 2))
    >>> vmap(distance, in_axes=(0, None))(np.array([[0.0, 1.0], [3.0, 5.0]]), np.array([0.0, 1.0]))
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
    """``f`` compiled with Numba, once for each structure and type of its arguments.

    ``f`` may be a transformed function (``jit(grad(f))``). It changes the arrays that ``f`` changes, unless a derivative is taken.
    ``static_argnums`` and ``static_argnames`` are compiled in by value. ``fastmath`` are LLVM's flags (False: none); ``cache``
    keeps what was compiled on disk. Raises `TranspileError` T5xx where a part cannot be compiled.
    """
    return _transform(f, options.jit(target, static_argnums, static_argnames, parallel, fastmath, cache))


@edge
def source(f: Any, *args: Any, stage: str | None = None, **kwargs: Any) -> str:
    """The generated Python of ``f`` for arguments of these types, as the text of a module.

    ``f`` may be one of `jvp`, `vjp`, `linearize` and `hvp` with the arguments that it takes: ``source(tp.jvp, f, (x,), (x_dot,))``.
    ``stage``: None or "derivative" (what runs interpreted), "core" (the core language), "loops" (what Numba compiles).
    """
    from transpile.driver.inspection import text

    f, given, kwargs = called(f, args, kwargs, "source")
    return text(f, given, kwargs, stage or "derivative")


@edge
def from_source(text: str, globals: dict[str, Any] | None = None) -> Any:
    """The function that ``text`` defines, the last one at its top level: for what is made where no file has its source.

    The text is run as a module is, with the names of ``globals``, into which its own go (a new dict, if none is given); its
    indentation may be that of a block. Raises `TranspileError` T403 where it does not parse, T404 where it defines no function.

    >>> cube = from_source("def cube(x):\\n    return x ** 3\\n")
    >>> grad(cube)(2.0)
    12.0
    """
    from transpile.frontend.sources.origin import defined

    return defined(text, globals)


@edge
def report(f: Any, *args: Any, **kwargs: Any) -> Report:
    """What the derivative ``f`` records at these arguments: the bytes, as a formula in the dimensions and as a number, and why.

    ``f`` is a transformed function (``grad(f)``, ``jit(grad(f))``, ``hessian(f)``, any stack), or one of `jvp`, `vjp`, `linearize`
    and `hvp` with the arguments that it takes: ``report(tp.vjp, f, x)``. The result prints as a table and has the fields of
    `transpile.reports.report.Report`: what is recorded and kept, what is computed again instead, the most that is alive at once.
    Counts that only a run can tell (the trips of a ``while`` loop) are found by one: interpreted, with nothing but what they
    depend on. Raises what a call of ``f`` raises.

    >>> import numpy as np
    >>> def decay(x, steps):
    ...     for _ in range(steps):
    ...         x = x * np.exp(-x)
    ...     return np.sum(x)
    >>> found = report(grad(decay), np.ones(1000), 50)
    >>> found.bytes, str(found.formula)
    (800000, '16·steps·n')
    """
    from transpile.driver.inspection import reported

    return reported(*called(f, args, kwargs, "report"))


def _made(fn: Any, level: Level) -> Any:
    return _kept(Static(fn), level)


@functools.lru_cache(maxsize=512)
def _kept(fn: Static, level: Level) -> Transformed:
    """One object for each function and level, so that ``grad(f)(x)`` in a loop builds its code once."""
    return Transformed(fn.value, level)


@edge
def custom_jvp(f: Callable[..., Any] | None = None, nondiff_argnums: Any = (), nondiff_argnames: Any = ()) -> Any:
    """``f`` with a forward derivative of the user's own: ``f.defjvp(rule)``, ``rule(primals, tangents) -> (value, tangent)``.

    ``nondiff_argnums`` and ``nondiff_argnames`` are arguments without a derivative: they come first in ``rule``, by themselves.
    ``f.defjvps(*jvps)`` gives a rule for each argument: ``jvp(tangent, value, *primals)``.
    """
    given = nondiff_argnums, nondiff_argnames
    return CustomJvp(f, *given) if f is not None else lambda f: CustomJvp(f, *given)


@edge
def custom_vjp(f: Callable[..., Any] | None = None, nondiff_argnums: Any = (), nondiff_argnames: Any = ()) -> Any:
    """``f`` with a reverse derivative of the user's own: ``f.defvjp(forward, backward)``.

    ``forward(*args) -> (value, kept)``; ``backward(kept, cotangent)`` gives a tuple with one adjoint for each argument, None
    for zero. ``nondiff_argnums`` and ``nondiff_argnames`` are arguments without a derivative: they come first in ``backward``.
    """
    given = nondiff_argnums, nondiff_argnames
    return CustomVjp(f, *given) if f is not None else lambda f: CustomVjp(f, *given)


class ShapeDtype:
    """What `eval_shape` gives for an array: ``shape`` (None where only the run knows) and ``dtype``."""

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
    """The structure of what ``f`` returns, with a `ShapeDtype` for each array and number. ``f`` does not run."""
    from transpile.driver.inspection import shapes

    return shapes(f, args, kwargs, ShapeDtype)


def _inspect(f: Any, args: Sequence[Any], make: Any) -> Any:
    from transpile.driver.inspection import results

    return results(f, args, {}, make)


untaken.inspect = _inspect
