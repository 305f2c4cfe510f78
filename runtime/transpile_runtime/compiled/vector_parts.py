"""Building blocks of vector functions: numbers whose arithmetic becomes LLVM code, without branches.

A vector function is a Python function of `Number`. It is run once for each type, float64 or float32, and its operations on the
arguments become LLVM code. Nothing of it passes through Numba, which keeps compiling fast, and the caller's flags do not apply,
since every operation has flags of its own. Python floats take the type of the number beside them; if the types need different
numbers, a `Constant` has both. A choice is `where`: both sides are computed.
"""

from llvmlite import binding, ir

LLVM = binding.llvm_version_info[0]
INF = float("inf")
NAN = float("nan")
_FLAGS = ("contract",)  # a product and a sum may be rounded once; NaN, signed zeros and the order of sums are respected


class _Flags(ir.instructions.FastMathFlags):
    """Flags of a call that stay as they are: Numba would add the caller's."""

    def __init__(self, flags=()):
        set.__init__(self, flags)

    def add(self, name):
        pass


class Constant:
    """A float64, and the float32 used in its place."""

    def __init__(self, double, single=None):
        self.values = {"float64": double, "float32": double if single is None else single}

    def __neg__(self):
        return Constant(-self.values["float64"], -self.values["float32"])


class Number:
    """A float64 or a float32 of the function that is being built."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    @property
    def kind(self):
        return "float64" if isinstance(self.value.type, ir.DoubleType) else "float32"

    def of(self, other):
        """The LLVM value of an operand, a `Number`, a `Constant` or a Python number, in the type of this number."""
        if isinstance(other, Number):
            return other.value
        number = other.values[self.kind] if isinstance(other, Constant) else float(other)
        return ir.Constant(self.value.type, number)

    def same(self, value):
        return Number(self.builder, value)

    def _result(self, operation, a, b):
        return self.same(getattr(self.builder, operation)(a, b, flags=_FLAGS))

    def __add__(self, other):
        return self._result("fadd", self.value, self.of(other))

    def __radd__(self, other):
        return self._result("fadd", self.of(other), self.value)

    def __sub__(self, other):
        return self._result("fsub", self.value, self.of(other))

    def __rsub__(self, other):
        return self._result("fsub", self.of(other), self.value)

    def __mul__(self, other):
        return self._result("fmul", self.value, self.of(other))

    def __rmul__(self, other):
        return self._result("fmul", self.of(other), self.value)

    def __truediv__(self, other):
        return self._result("fdiv", self.value, self.of(other))

    def __rtruediv__(self, other):
        return self._result("fdiv", self.of(other), self.value)

    def __neg__(self):
        return self.same(self.builder.fneg(self.value))

    def _test(self, sign, other, compare="fcmp_ordered"):
        found = getattr(self.builder, compare)(sign, self.value, self.of(other), flags=_FLAGS)
        return Truth(self, found)

    def __lt__(self, other):
        return self._test("<", other)

    def __le__(self, other):
        return self._test("<=", other)

    def __gt__(self, other):
        return self._test(">", other)

    def __ge__(self, other):
        return self._test(">=", other)

    def __eq__(self, other):
        return self._test("==", other)

    def __ne__(self, other):
        return self._test("!=", other, "fcmp_unordered")

    __hash__ = None


class Truth:
    """The result of a comparison; ``number`` has the compared type."""

    def __init__(self, number, value):
        self.number, self.value = number, value

    def __and__(self, other):
        return Truth(self.number, self.number.builder.and_(self.value, other.value))

    def __or__(self, other):
        return Truth(self.number, self.number.builder.or_(self.value, other.value))

    def __xor__(self, other):
        return Truth(self.number, self.number.builder.xor(self.value, other.value))

    def __invert__(self):
        return Truth(self.number, self.number.builder.not_(self.value))

    def __bool__(self):
        raise TypeError("a vector function has no branches: use `where`")


def beside(number, value):
    """A Python number or a `Constant` as a `Number` of the type and in the function of ``number``."""
    return number.same(number.of(value))


def where(test, a, b):
    """The `Number` ``a if test else b`` for a `Truth`; both are computed. One of ``a`` and ``b`` may be a constant, or both."""
    number = a if isinstance(a, Number) else b if isinstance(b, Number) else test.number
    return number.same(number.builder.select(test.value, number.of(a), number.of(b)))


def _call(name, *arguments, flags=()):
    """The result of a call of LLVM's intrinsic ``name``; at least one of the arguments is a `Number`, which gives the type."""
    number = next(a for a in arguments if isinstance(a, Number))
    builder, real = number.builder, number.value.type
    function = builder.module.declare_intrinsic(f"llvm.{name}", [real], ir.FunctionType(real, [real] * len(arguments)))
    found = builder.call(function, [number.of(a) for a in arguments])
    found.fastmath = _Flags(flags)
    return number.same(found)


def fma(a, b, c):
    """``a * b + c``, rounded once."""
    return _call("fma", a, b, c)


def between(u, low, high):
    """``u * (high - low) + low``, rounded once, and not below ``low``."""
    return maximum(low, fma(u, high - low, low))


def product(a, b):
    """``a * b``, rounded: LLVM does not join it with a later addition."""
    return a.same(a.builder.fmul(a.value, a.of(b), flags=("arcp",)))


def rint(x):
    return _call("rint", x)


def floor(x):
    return _call("floor", x)


def ceil(x):
    return _call("ceil", x)


def trunc(x):
    return _call("trunc", x)


def sqrt(x):
    return _call("sqrt", x)


def magnitude(x):
    return _call("fabs", x)


def maximum(a, b):
    """The larger of two numbers; NaN if either is. LLVM vectorises a reduction by it."""
    return _call("maximum", a, b)


def minimum(a, b):
    return _call("minimum", a, b)


def fmax(a, b):
    """The larger of two numbers; if one is NaN, the other; either one of two zeros.

    Without ``nsz``, which leaves the zero open, LLVM 22 orders the numbers by their signs, and gives NaN for a NaN and a number
    known not to be NaN.
    """
    return _call("maximumnum" if LLVM >= 19 else "maxnum", a, b, flags=("nsz",))


def fmin(a, b):
    return _call("minimumnum" if LLVM >= 19 else "minnum", a, b, flags=("nsz",))


def copysign(x, y):
    return _call("copysign", x, y)


def narrow(x):
    """A float64 `Number` rounded to float32."""
    return x.same(x.builder.fptrunc(x.value, ir.FloatType()))


def wide(x):
    """A float32 `Number` as a float64; a float64 unchanged."""
    return x if x.kind == "float64" else x.same(x.builder.fpext(x.value, ir.DoubleType()))


# ------------------------------------------------------------------------------------------- polynomials


def _horner(coefficients, point):
    total = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        total = _call("fmuladd", total, point, c)
    return total


def _stranded(coefficients, point, strands):
    """The polynomial at ``point``, from its coefficients, lowest power first, by 1, 2 or 4 chains of operations."""
    if strands == 1 or len(coefficients) < 4:
        return _horner(coefficients, point)
    even, odd = (_stranded(coefficients[k::2], point * point, strands // 2) for k in (0, 1))
    return _call("fmuladd", odd, point, even)


def polynomial(double, single, strands=2):
    """The function of ``x`` that evaluates the polynomial with these coefficients, lowest power first, in float64 (``double``)
    or float32 (``single``).

    The last step is ``c0 + x (...)``, which makes nearly all of the error; the steps before it are those of `correction`.
    """
    rest_of = correction(double[1:], single[1:], strands)

    def value(point):
        return _call("fmuladd", rest_of(point), point, Constant(double[0], single[0]))

    return value


def correction(double, single, strands=2):
    """The function of ``x`` that evaluates a polynomial, as `polynomial`, for a part of the result so small that its own
    rounding does not matter.

    By Horner's scheme in 1, 2 or 4 ``strands``: a processor waits longer for a single chain of operations than for the few
    additional ones that strands need. Estrin's scheme needs more still, and its intermediate results fill the registers.
    """
    tables = {"float64": double, "float32": single}

    def value(point):
        return _stranded([beside(point, c) for c in tables[point.kind]], point, strands)

    return value
