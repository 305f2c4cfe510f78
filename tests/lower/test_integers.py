"""Python's integers in compiled code: every operation at numbers near the ends of 64 bits, wherever it may stand, against Python's.

What is right is what Python computes with integers that raise OverflowError where they leave 64 bits (`Whole`): the value, or the
exception with the line of the operation. Integers of NumPy wrap.
"""

import itertools
import math
import re
import traceback

import numpy as np
import pytest

import transpile as tp
from transpile.driver import backend
from transpile.errors import TranspileError

pytestmark = pytest.mark.numba

LEAST, MOST = -(2**63), 2**63 - 1
NEAR = sorted(
    {s * (p + d) for p in (2**63, 2**62, 2**32, 2**31) for d in (-1, 0, 1) for s in (1, -1)} - {2**63, 2**63 + 1}
)
SMALL = [-64, -3, -2, -1, 0, 1, 2, 3, 5, 31, 62, 63, 64]
NUMBERS = [n for n in [*NEAR, *SMALL, 3037000499, 3037000500, -3037000500] if LEAST <= n <= MOST]


class Whole(int):
    """An integer of 64 bits that raises where Python's would have more."""

    def __hash__(self):
        return int.__hash__(self)


def _checked(name, reflected):
    def operation(self, *others):
        a, b = (int(self), *map(int, others)) if others else (int(self), None)
        if reflected:
            a, b = b, a
        if "pow" in name or "lshift" in name:
            if b < 0:
                raise ValueError("negative")
            if b > 64 and a not in ((-1, 0, 1) if "pow" in name else (0,)):
                raise OverflowError("too large")
        if "pow" in name and b > 64:
            return Whole(a if b % 2 else a * a)
        found = getattr(int, name.replace("__r", "__") if reflected else name)(a, *(() if b is None else (b,)))
        return _fitting(found)

    return operation


def _fitting(found):
    if isinstance(found, tuple):
        return tuple(map(_fitting, found))
    if not LEAST <= found <= MOST:
        raise OverflowError("too large")
    return Whole(found)


for _name in "add sub mul floordiv mod pow lshift rshift divmod and or xor".split():
    setattr(Whole, f"__{_name}__", _checked(f"__{_name}__", False))
    if _name not in ("rshift",):
        setattr(Whole, f"__r{_name}__", _checked(f"__r{_name}__", True))
for _name in "neg abs invert".split():
    setattr(Whole, f"__{_name}__", _checked(f"__{_name}__", False))
Whole.__rrshift__ = lambda self, other: Whole(other) >> self


def operate(which, a, b):
    if which == 0:
        return a + b
    if which == 1:
        return a - b
    if which == 2:
        return a * b
    if which == 3:
        return a // b
    if which == 4:
        return a % b
    if which == 5:
        return a**b
    if which == 6:
        return a << b
    if which == 7:
        return a >> b
    if which == 8:
        return -a
    if which == 9:
        return abs(a) - 1
    if which == 10:
        return ~a ^ (b & a)
    if which == 11:
        quotient, rest = divmod(a, b)
        return quotient + rest
    if which == 12:
        a += 3 * b
        return a
    if which == 13:
        return sum((a, b, 1))
    return max(a, b) * min(a, 2)


OPERATIONS = 15


# ------------------------------------------------------------------------------------------------------- places


def straight(which, a, b):
    return operate(which, a, b)


def carried(which, a, b):
    for _ in range(3):
        a = operate(which, a, b)
    return a


def counted(which, a, b):
    total = b
    for i in range(a - 2, a):
        total = operate(which, i + 0 * a, total)
    return total


def in_a_branch(which, a, b):
    value = a
    if a > b:
        value = operate(which, a, b)
    return value


def chosen(which, a, b):
    return operate(which, b, a) if a < b and which < 20 else 7


def without_a_trip(which, a, b):
    for _ in range(min(b, 0)):
        a = operate(which, a, b)
    return a


def in_a_test(which, a, b):
    k = 0
    while k < 3 and operate(which, a, k) < b:
        k += 1
    return k


def as_a_bound(which, a, b):
    trips = 0
    for i in range(operate(which, a, b)):
        trips += 1
        if i == 3:
            break
    return trips


def as_an_index(which, a, b):
    x = np.array([10, 11, 12, 13, 14])
    return int(x[operate(which, a, b) % 5])


def again(which, a, b, depth):
    if depth <= 0:
        return a
    return again(which, operate(which, a, b), b, depth - 1)


def in_a_function(which, a, b):
    return again(which, a, b, 2)


def after_an_exit(which, a, b):
    for i in range(4):
        if i == 2:
            break
        a = operate(which, a, b)
    return a


PLACES = [straight, carried, counted, in_a_branch, chosen, without_a_trip, in_a_test, as_a_bound, as_an_index,
          in_a_function, after_an_exit]  # fmt: skip
QUICK = [straight, carried, in_a_branch, in_a_function]


def wanted(fn, which, a, b):
    """The value, or the exception and the line in `operate`, or of whoever calls it."""
    try:
        return fn(which, Whole(a), Whole(b)), None
    except (OverflowError, ValueError, ZeroDivisionError) as e:
        lines = [
            f.lineno
            for f in traceback.extract_tb(e.__traceback__)
            if f.name not in ("operation", "_fitting", "<lambda>")
        ]
        return type(e), lines[-1]


def pairs(which):
    some = NUMBERS if which not in (5, 6, 7) else [*SMALL, MOST, LEAST]
    found = list(itertools.product(NUMBERS, some))
    return found if which in (0, 2) else found[which::3]


def agrees(fn, compiled):
    for which in range(OPERATIONS):
        for a, b in pairs(which):
            value, line = wanted(fn, which, a, b)
            try:
                got = compiled(which, a, b)
            except (OverflowError, ValueError, ZeroDivisionError) as e:
                assert type(e) is value, (fn.__name__, which, a, b, value, e)
                if type(e) is not ZeroDivisionError:
                    found = re.search(r"test_integers\.py:(\d+):\d+: ", str(e))
                    assert found and int(found[1]) == line, (fn.__name__, which, a, b, line, e)
                continue
            assert type(got) is int and got == value, (fn.__name__, which, a, b, value, got)


@pytest.mark.parametrize(
    "fn", [pytest.param(f, id=f.__name__, marks=[] if f in QUICK else [pytest.mark.slow]) for f in PLACES]
)
def test_every_operation_in_every_place(fn):
    agrees(fn, tp.jit(fn))


@pytest.mark.slow
@pytest.mark.parametrize("fn", [straight, carried, in_a_test], ids=lambda f: f.__name__)
def test_what_numba_makes_of_the_text(fn, monkeypatch, tmp_path):
    monkeypatch.setattr(backend, "IS_DIRECT", False)
    agrees(fn, tp.jit(fn, cache=False))


def weighted(x, which, a, b):
    return x * x * (operate(which, a, b) / 2**32)


@pytest.mark.slow
def test_gradients():
    gradient = tp.jit(tp.grad(weighted))
    for which in range(OPERATIONS):
        for a, b in pairs(which)[::7]:
            value, _ = wanted(lambda *args: operate(*args), which, a, b)
            if isinstance(value, type):
                with pytest.raises(value):
                    gradient(1.5, which, a, b)
            else:
                assert gradient(1.5, which, a, b) == pytest.approx(3.0 * (value / 2**32), rel=1e-15)


def spread(x, a):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = math.exp(x[i]) * (a * i + 1)
    return y


def counted_cubed(x, n):
    s, k = 0.0, 2**30
    for i in range(n):
        s += 1e-27 * np.cos(s) * k * k * k * x[i % 4] ** 2
        k += 1
    return s


def positives(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * v)
    return kept[-1] * sum(kept)


def test_recorded_counts():
    """What only says where something stands is recorded as NumPy's integers, what is computed with as Python's."""
    x = np.array([0.5, -1.0, 1.5, 2.0])
    text = tp.source(tp.grad(positives), x)
    assert re.search(r"kept_len_tape = np.empty\(n, dtype=np.int64\)", text) and "object" not in text
    n = 7
    assert "k_tape = np.empty(max(n, 0), dtype=object)" in tp.source(tp.grad(counted_cubed), x, n)
    slopes = [(counted_cubed(x + h, n) - counted_cubed(x - h, n)) / 2e-6 for h in 1e-6 * np.eye(len(x))]
    np.testing.assert_allclose(tp.grad(counted_cubed)(x, n), slopes, rtol=1e-5)


def test_on_several_threads():
    x = np.linspace(0.0, 1.0, 60_000)
    compiled = tp.jit(spread, parallel=True)
    np.testing.assert_allclose(compiled(x, 2**40), spread(x, 2**40), rtol=1e-12)
    with pytest.raises(OverflowError, match=r"test_integers\.py:\d+:\d+: the result of \* does not fit"):
        compiled(x, 2**48)


# ---------------------------------------------------------------------------------------------------- with floats

FLOATS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, 2.0**53, 2.0**53 + 2, 2.0**62, 2.0**63 - 1024, 2.0**63, -(2.0**63), -(2.0**63) - 2048,
          1e19, 1e300, -1e300, math.inf, -math.inf, math.nan]  # fmt: skip


def no_number(x, n):
    total = x
    for k in range(n):
        if k > 3:
            total += int(math.inf)
        total += x * x
    return total


def test_no_integer_is_infinity_where_the_run_comes_there():
    """The exception is Python's, and that of a branch that is not taken is not raised."""
    for f in (tp.grad(no_number), tp.jit(tp.grad(no_number))):
        assert f(1.5, 3) == 10.0
        with pytest.raises(OverflowError, match="cannot convert float infinity to integer"):
            f(1.5, 5)


def whole_of(which, x):
    if which == 0:
        return int(x)
    if which == 1:
        return round(x)
    if which == 2:
        return math.floor(x)
    return math.ceil(x)


def test_floats_as_integers():
    compiled = tp.jit(whole_of)
    for which, x in itertools.product(range(4), FLOATS):
        try:
            value = whole_of(which, x)
        except (ValueError, OverflowError) as e:
            with pytest.raises(type(e), match=re.escape(str(e))):
                compiled(which, x)
            continue
        if LEAST <= value <= MOST:
            assert compiled(which, x) == value
        else:
            with pytest.raises(OverflowError, match="too large for the int64"):
                compiled(which, x)


def compared(n, x):
    found = 0
    if n < x:
        found += 1
    if x <= n:
        found += 2
    if n == x:
        found += 4
    if x != n:
        found += 8
    if x > n:
        found += 16
    if n >= x:
        found += 32
    return found


def divided(a, b):
    return a / b


def converted(n):
    return float(n) + n * 1.0


def test_integers_beside_floats():
    """Comparisons are exact, quotients are rounded once."""
    near = [2.0**53, 2.0**53 + 2, 2.0**62, -(2.0**62), 2.0**63 - 1024]
    compare, divide, convert = tp.jit(compared), tp.jit(divided), tp.jit(converted)
    numbers = [*NUMBERS, 2**53, 2**53 + 1, 2**53 - 1, -(2**53) - 1, 2**62 + 1, MOST - 511, 10**17 + 3]
    for n in numbers:
        assert convert(n) == converted(n)
        for x in [*FLOATS, *near, float(n)]:
            assert compare(n, x) == compared(n, x), (n, x)
        for m in numbers:
            if m:
                assert divide(n, m) == divided(n, m), (n, m)


@pytest.mark.parametrize("direct", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_numbers_of_numpy_wrap(direct, monkeypatch):
    def fn(a, b):
        return a + b, a - b, a * b, -a, a // b, a % b, abs(a), a + 1 > a, a * 2 // 2

    monkeypatch.setattr(backend, "IS_DIRECT", direct)
    compiled = tp.jit(fn, cache=False)
    values = [v for v in NUMBERS if v]
    with np.errstate(all="ignore"):
        for a, b in itertools.product(values, values[::4]):
            got, right = compiled(np.int64(a), np.int64(b)), fn(np.int64(a), np.int64(b))
            assert [int(v) for v in got] == [int(v) for v in right], (a, b)
        array = np.array(values)
        assert all(np.array_equal(p, q) for p, q in zip(compiled(array, array[::-1].copy()), fn(array, array[::-1])))
        assert tp.jit(lambda x: np.sum(x * x))(array) == np.sum(array * array)


# ------------------------------------------------------------------------------------------------ combinatorics


def sine(x, n):
    return sum((-1.0) ** r * x ** (2 * r + 1) / math.factorial(2 * r + 1) for r in range(n))


def test_factorials_that_feed_floats():
    assert tp.jit(sine)(2.0, 30) == pytest.approx(math.sin(2.0), rel=1e-15)
    as_float, as_int = tp.jit(lambda n: 1.0 * math.factorial(n)), tp.jit(lambda n: math.factorial(n))
    for n in range(171):
        assert as_float(n) == float(math.factorial(n))
    for compiled, n in ((as_float, 171), (as_int, 21)):
        with pytest.raises(OverflowError):
            compiled(n)
    assert as_int(20) == math.factorial(20)
    for compiled in (as_float, as_int):
        with pytest.raises(ValueError, match="not defined for negative"):
            compiled(-1)


@pytest.mark.parametrize("name", ["comb", "perm"])
def test_choices(name):
    count = getattr(math, name)
    as_float = (
        tp.jit(lambda n, k: 1.0 * math.comb(n, k)) if name == "comb" else tp.jit(lambda n, k: 1.0 * math.perm(n, k))
    )
    as_int = tp.jit(lambda n, k: math.comb(n, k)) if name == "comb" else tp.jit(lambda n, k: math.perm(n, k))
    for n, k in itertools.product(
        [0, 1, 5, 30, 61, 62, 66, 67, 68, 100, 170, 1029, 5000, 2**40, MOST], [0, 1, 2, 7, 31, 33, 100, 514]
    ):
        right = count(n, k)
        if right <= MOST:
            assert as_int(n, k) == right
        else:
            with pytest.raises(OverflowError, match="does not fit"):
                as_int(n, k)
        if right < 2**1024:
            assert as_float(n, k) == float(right), (n, k)
        else:
            with pytest.raises(OverflowError, match="int too large to convert to float"):
                as_float(n, k)


def test_divisors_and_roots():
    def fn(a, b):
        return math.gcd(a, b)

    def times(a, b):
        return math.lcm(a, b)

    for function in (fn, times):
        compiled = tp.jit(function)
        for a, b in itertools.product(NUMBERS, NUMBERS[::3]):
            right = function(a, b)
            if right <= MOST:
                assert compiled(a, b) == right
            else:
                with pytest.raises(OverflowError):
                    compiled(a, b)
    root = tp.jit(lambda n: math.isqrt(n))
    for n in (0, 1, 2, 3037000499**2 - 1, 3037000499**2, 3037000499**2 + 1, MOST):
        assert root(n) == math.isqrt(n)


# ---------------------------------------------------------------------------------------- arguments and constants


def test_arguments_of_more_bits_are_named():
    compiled = tp.jit(lambda n, given: n + given["k"])
    for n, k, name in ((2**63, 1, "n"), (1, -(2**63) - 1, "given"), (2**70, 1, "n")):
        with pytest.raises(OverflowError, match=f"the argument '{name}' holds the integer"):
            compiled(n, {"k": k})
        assert compiled(1, {"k": 2}) == 3


def test_ranges_between_the_ends():
    def trips(start, end, step):
        count = 0
        for _ in range(start, end, step):
            count += 1
        return count

    compiled = tp.jit(trips)
    for args in ((0, 10, 3), (10, 0, -3), (MOST - 5, MOST, 2), (LEAST + 5, LEAST, -2), (0, MOST, 2**62), (5, 5, 1)):
        assert compiled(*args) == trips(*args)
    with pytest.raises(OverflowError, match="the length of the range does not fit"):
        compiled(LEAST, MOST, 2**62)
    with pytest.raises(ValueError, match="zero"):
        compiled(0, 1, 0)


def test_numbers_that_do_not_fit_into_narrow_types():
    """As NumPy has it."""

    def add(x, n):
        return x + n

    def write(x, n):
        x[0] = n
        return x

    def fill(x, n):
        return np.full(2, n, dtype=x.dtype)

    for fn, dtype in ((add, np.int8), (write, np.uint64), (fill, np.uint8)):
        compiled, ends = tp.jit(fn), np.iinfo(dtype)
        for n in (-(2**40), int(ends.min) - 1, int(ends.min), 1, int(ends.max), int(ends.max) + 1):
            if not LEAST <= n <= MOST:
                continue
            try:
                with np.errstate(all="ignore"):
                    right = fn(np.zeros(2, dtype), n)
            except OverflowError:
                with pytest.raises(OverflowError, match=f"out of bounds for {np.dtype(dtype).name}"):
                    compiled(np.zeros(2, dtype), n)
            else:
                got = compiled(np.zeros(2, dtype), n)
                assert got.dtype == right.dtype and np.array_equal(got, right)


def test_constants_of_more_bits_are_refused():
    def fn(n):
        return n & 0xFFFFFFFFFFFFFFFF

    assert tp.jit(lambda x: x * 0xFFFFFFFFFFFFFFFF)(2.0) == 2.0 * 0xFFFFFFFFFFFFFFFF
    with pytest.raises(TranspileError) as caught:
        tp.jit(fn)(5)
    assert caught.value.diagnostics[0].code == "T502" and "18446744073709551615" in str(caught.value)
