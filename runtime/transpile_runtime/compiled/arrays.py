"""Slices, wrapped indices, and array functions that sort or search."""

import numpy as np

from transpile_runtime.compiled.options import exact, njit


@njit
def bound(x, n):
    """The bound ``x`` of a slice of an axis of size ``n`` as an index from 0 to ``n``, clipped as in Python."""
    if x < 0:
        x += n
    return 0 if x < 0 else min(x, n)


@njit
def span(n, start, stop, has_start, has_stop, step):
    """The start and the number of elements of ``start:stop:step`` on an axis of size ``n``; without ``has_start`` or
    ``has_stop`` that bound is left out. ValueError for step 0."""
    if step == 0:
        raise ValueError("slice step cannot be zero")
    low, high = (0, n) if step > 0 else (-1, n - 1)
    if has_start:
        start = start + n if start < 0 else start
        start = min(max(start, low), high)
    else:
        start = low if step > 0 else high
    if has_stop:
        stop = stop + n if stop < 0 else stop
        stop = min(max(stop, low), high)
    else:
        stop = high if step > 0 else low
    count = (stop - start - 1) // step if step > 0 else (stop - start + 1) // step
    return start, max(count + 1, 0)


@njit
def backwards(start, bound, step):
    """The range of the numbers of ``range(start, bound, step)`` from last to first."""
    count = len(range(start, bound, step))
    return range(start + (count - 1) * step, start - step, -step)


@exact
def fsum(x):
    """The sum of all elements of a flat array, rounded once: partial sums that do not overlap are kept, the smallest first.

    Infinite or NaN if an element is; OverflowError if a partial sum is too large. Source: J. R. Shewchuk, *Adaptive precision
    floating-point arithmetic and fast robust geometric predicates* (1997).
    """
    parts = np.empty(64)  # 2,098 binary digits divided by 53, and a few more
    n, special, is_special = 0, 0.0, False
    for k in range(len(x)):
        rest = x[k]
        if not np.isfinite(rest):
            special, is_special = special + rest, True
            continue
        kept = 0
        for j in range(n):
            other = parts[j]
            if abs(rest) < abs(other):
                rest, other = other, rest
            total = rest + other
            lost = other - (total - rest)
            if lost != 0.0:
                parts[kept] = lost
                kept += 1
            rest = total
        if not np.isfinite(rest):
            raise OverflowError("intermediate overflow in fsum")
        parts[kept] = rest
        n = kept + 1
    if is_special:
        return special
    return _rounded(parts, n)


@exact
def _rounded(parts, n):
    """The rounded sum of the first ``n`` of ``parts``, which do not overlap, the smallest first; if the remainder is exactly
    half a digit, the next part decides."""
    total = 0.0
    while n > 0:
        n -= 1
        high = total + parts[n]
        lost = parts[n] - (high - total)
        total = high
        if lost != 0.0:
            if n > 0 and ((lost < 0.0) == (parts[n - 1] < 0.0)) and parts[n - 1] != 0.0:
                doubled = 2.0 * lost
                if doubled == (total + doubled) - total:
                    total += doubled
            break
    return total


@njit
def wrap(i, n):
    """The index ``i`` modulo the size ``n``."""
    return i % n


@njit
def diagonal_size(m, n, offset):
    """The length of the diagonal of an ``m`` by ``n`` matrix that lies ``offset`` columns to the right of the main one."""
    return max(min(m, n - offset) if offset >= 0 else min(m + offset, n), 0)


@exact
def linspace_at(start, stop, parts, k, is_last):
    """Number ``k`` of ``linspace(start, stop)``, with ``parts`` intervals, equal to NumPy's to the last bit; ``stop`` if
    ``is_last``."""
    if parts <= 0:
        return start + k * (stop - start)
    return stop if is_last else start + k * ((stop - start) / parts)


@exact
def arange_at(start, step, k):
    """Number ``k`` of ``arange(start, ..., step)``, equal to NumPy's to the last bit, which adds multiples of the difference of
    the first two."""
    second = start + step
    return second if k == 1 else start + k * (second - start)


@njit
def pad_edge(i, n):
    """The index, on an axis of size ``n``, of the element that ``np.pad`` copies to position ``i`` (negative before the axis)
    in mode "edge"."""
    return min(max(i, 0), n - 1)


@njit
def pad_wrap(i, n):
    """The index, on an axis of size ``n``, of the element that ``np.pad`` copies to position ``i`` (negative before the axis)
    in mode "wrap"."""
    return i % n


@njit
def pad_symmetric(i, n):
    """The index, on an axis of size ``n``, of the element that ``np.pad`` copies to position ``i`` (negative before the axis)
    in mode "symmetric"."""
    i = i % (2 * n)
    return i if i < n else 2 * n - 1 - i


@njit
def pad_reflect(i, n):
    """The index, on an axis of size ``n``, of the element that ``np.pad`` copies to position ``i`` (negative before the axis)
    in mode "reflect"."""
    if n == 1:
        return 0
    i = i % (2 * n - 2)
    return i if i < n else 2 * n - 2 - i


@njit
def convolve_full(n, m):
    """The start in the full convolution and the length of the result, for sizes ``n`` and ``m`` in mode "full"."""
    return 0, n + m - 1


@njit
def convolve_same(n, m):
    """The start in the full convolution and the length of the result, for sizes ``n`` and ``m`` in mode "same"."""
    return (min(n, m) - 1) // 2, max(n, m)


@njit
def convolve_valid(n, m):
    """The start in the full convolution and the length of the result, for sizes ``n`` and ``m`` in mode "valid"."""
    return min(n, m) - 1, max(n, m) - min(n, m) + 1


# ---------------------------------------------------------------------------------------------------- sorting


@njit
def sort(x):
    """A copy of a matrix with each row sorted."""
    out = x.copy()
    for i in range(x.shape[0]):
        out[i].sort()
    return out


@njit
def before(a, b):
    """Whether ``a`` sorts before ``b``: NaN comes after all numbers."""
    return a < b or (b != b and a == a)


_RUN = 16  # length of runs that are sorted by insertion


@njit
def in_order(x):
    """The indices that sort a flat array stably, NaN last. Numba's own sort loses memory where an allocation fails."""
    n = x.shape[0]
    found, other = np.empty(n, np.int64), np.empty(n, np.int64)
    for start in range(0, n, _RUN):
        for k in range(start, min(start + _RUN, n)):
            j = k
            while j > start and before(x[k], x[found[j - 1]]):
                found[j] = found[j - 1]
                j -= 1
            found[j] = k
    width = _RUN
    while width < n:
        for low in range(0, n, 2 * width):
            i, middle, high = low, min(low + width, n), min(low + 2 * width, n)
            j, k = middle, low
            while i < middle and j < high:
                if before(x[found[j]], x[found[i]]):
                    other[k] = found[j]
                    j += 1
                else:
                    other[k] = found[i]
                    i += 1
                k += 1
            while i < middle:
                other[k] = found[i]
                i, k = i + 1, k + 1
            while j < high:
                other[k] = found[j]
                j, k = j + 1, k + 1
        found, other = other, found
        width *= 2
    return found


@njit
def argsort(x):
    """A matrix with, for each row of ``x``, the indices that sort it stably."""
    out = np.empty(x.shape, np.int64)
    for i in range(x.shape[0]):
        places = in_order(x[i])
        for j in range(x.shape[1]):
            out[i, j] = places[j]
    return out


@njit
def searchsorted_left(a, x):
    """The first index at which the number ``x`` can be inserted in the sorted array ``a``; NaN counts as the largest."""
    low, high = 0, a.shape[0]
    while low < high:
        mid = (low + high) // 2
        if before(a[mid], x):
            low = mid + 1
        else:
            high = mid
    return low


@njit
def searchsorted_right(a, x):
    """The last index at which the number ``x`` can be inserted in the sorted array ``a``; NaN counts as the largest."""
    low, high = 0, a.shape[0]
    while low < high:
        mid = (low + high) // 2
        if before(x, a[mid]):
            high = mid
        else:
            low = mid + 1
    return low


@njit
def digitize(x, bins, right):
    """The number of the bin of ``x``, as ``np.digitize`` has it, for increasing or decreasing edges ``bins``; with ``right`` a
    bin contains its right edge."""
    n = bins.shape[0]
    if n > 1 and bins[0] > bins[n - 1]:
        low, high = 0, n
        while low < high:  # decreasing bins
            mid = (low + high) // 2
            if (bins[mid] >= x) if right else (bins[mid] > x):
                low = mid + 1
            else:
                high = mid
        return low
    return searchsorted_left(bins, x) if right else searchsorted_right(bins, x)


@njit
def interp(x, xp, fp):
    """The value at the number ``x`` of the piecewise linear function through the points ``(xp, fp)``, constant beyond them;
    ValueError without points."""
    n = xp.shape[0]
    if n == 0:
        raise ValueError("array of sample points is empty")
    if x != x:
        return x
    if x < xp[0]:
        return fp[0]
    if x >= xp[n - 1]:
        return fp[n - 1]
    j = searchsorted_right(xp, x) - 1
    return (fp[j + 1] - fp[j]) / (xp[j + 1] - xp[j]) * (x - xp[j]) + fp[j]


@njit
def bincount(places, minlength):
    """For each of 0, 1, ... how often it is in ``places``, as int64, at least ``minlength`` numbers; ValueError for a negative
    place."""
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    size = minlength
    for k in range(places.shape[0]):
        if places[k] < 0:
            raise ValueError("'list' argument must have no negative elements")
        size = max(size, places[k] + 1)
    out = np.zeros(size, np.int64)
    for k in range(places.shape[0]):
        out[places[k]] += 1
    return out


@njit
def bincount_weighted(places, weights, minlength):
    """For each of 0, 1, ... the sum of the weights of its occurrences in ``places``, as float64, at least ``minlength``
    numbers; ValueError for a negative place."""
    if places.shape[0] != weights.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    size = minlength
    for k in range(places.shape[0]):
        if places[k] < 0:
            raise ValueError("'list' argument must have no negative elements")
        size = max(size, places[k] + 1)
    out = np.zeros(size)
    for k in range(places.shape[0]):
        out[places[k]] += weights[k]
    return out


@njit
def nonzero(x):
    """The indices, in C order, of the nonzero elements of a flat array."""
    count = 0
    for k in range(x.shape[0]):
        count += x[k] != 0
    out = np.empty(count, np.int64)
    count = 0
    for k in range(x.shape[0]):
        if x[k] != 0:
            out[count] = k
            count += 1
    return out


@njit
def unique(x):
    """For a flat array the sorted unique values, the indices of their first occurrences, for each element the index of its
    value, and the counts; all NaN are one."""
    n = x.shape[0]
    order = in_order(x)
    values = np.empty(n, x.dtype)
    first = np.empty(n, np.int64)
    inverse = np.empty(n, np.int64)
    counts = np.zeros(n, np.int64)
    size = 0
    for k in range(n):
        v = x[order[k]]
        if k == 0 or (v != values[size - 1] and not (v != v and values[size - 1] != values[size - 1])):
            values[size] = v
            first[size] = order[k]
            size += 1
        inverse[order[k]] = size - 1
        counts[size - 1] += 1
    return values[:size].copy(), first[:size].copy(), inverse, counts[:size].copy()


@njit
def isin(x, values, invert):
    """True if the number ``x`` is among ``values``, which are sorted; with ``invert``, if it is not."""
    k = searchsorted_left(values, x)
    return (k < values.shape[0] and values[k] == x) != invert


@njit
def correlate_same(n, m):
    """The start in the full correlation and the length of the result, for sizes ``n`` and ``m`` in mode "same"."""
    return (min(n, m) - 1) // 2 if m <= n or min(n, m) % 2 else min(n, m) // 2, max(n, m)


@njit
def scatter_add(places, weights, n):
    """A new array of size ``n``, each element the sum of the ``weights`` whose place is its index; IndexError for a place that
    is negative or not below ``n``."""
    out = np.zeros(n, weights.dtype)
    for k in range(places.shape[0]):
        i = places[k]
        if i < 0 or i >= n:
            raise IndexError("an index is out of range")
        out[i] += weights[k]
    return out


@njit
def resort(order, key):
    """A new array of the indices in ``order``, sorted stably by the elements of ``key`` that they select."""
    moved = np.empty(order.shape[0], key.dtype)
    for k in range(order.shape[0]):
        moved[k] = key[order[k]]
    places = in_order(moved)
    out = np.empty(order.shape[0], np.int64)
    for k in range(order.shape[0]):
        out[k] = order[places[k]]
    return out


@njit
def steps(start, stop, step):
    """The length of ``arange(start, stop, step)``; ZeroDivisionError for step 0."""
    if step == 0:
        raise ZeroDivisionError("division by zero")
    return max(int(np.ceil((stop - start) / step)), 0)


@njit
def repeat_each(x, times):
    """A flat array with each element of ``x`` repeated as often as ``times`` says; ValueError for a negative number or other
    sizes."""
    if times.shape[0] != x.shape[0]:
        raise ValueError("operands could not be broadcast together")
    size = 0
    for k in range(times.shape[0]):
        if times[k] < 0:
            raise ValueError("counts cannot be negative")
        size += times[k]
    out = np.empty(size, x.dtype)
    at = 0
    for k in range(times.shape[0]):
        for _ in range(times[k]):
            out[at] = x[k]
            at += 1
    return out
