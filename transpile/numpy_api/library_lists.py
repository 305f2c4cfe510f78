"""Methods and operators of lists whose length is known at run time only: plain Python, lifted like user code.

Numbers have no identity here: where Python compares list items by `is` first, these use `==` alone.
"""

from __future__ import annotations


def contains(items, wanted):  # type: ignore[no-untyped-def]
    """``wanted in items``."""
    for item in items:  # noqa: SIM110
        if item == wanted:
            return True
    return False


def index(items, wanted, start=0, stop=None):  # type: ignore[no-untyped-def]
    """``items.index(wanted, start, stop)``."""
    many = len(items)
    first = max(start + many, 0) if start < 0 else start
    last = many if stop is None else min(stop, many) if stop >= 0 else stop + many
    at = -1
    for k in range(first, last):
        if items[k] == wanted:
            at = k
            break
    if at < 0:
        raise ValueError("list.index(x): x not in list")
    return at


def count(items, wanted):  # type: ignore[no-untyped-def]
    """``items.count(wanted)``."""
    found = 0
    for item in items:
        if item == wanted:
            found += 1
    return found


def equal(a, b):  # type: ignore[no-untyped-def]
    """``a == b``."""
    if len(a) != len(b):
        return False
    for k in range(len(a)):  # noqa: SIM110
        if a[k] != b[k]:
            return False
    return True


def ordered(a, b, test):  # type: ignore[no-untyped-def]
    """``test`` of the first elements that differ, or of the lengths if there are none: with ``<`` as ``test`` this is ``a <
    b``."""
    for k in range(min(len(a), len(b))):
        if a[k] != b[k]:
            return test(a[k], b[k])
    return test(len(a), len(b))


def largest(items, key=None):  # type: ignore[no-untyped-def]
    """``max(items, key=key)``; of equal items the first."""
    if len(items) == 0:
        raise ValueError("max() iterable argument is empty")
    best = items[0]
    top = _key(key, best)
    for k in range(1, len(items)):
        here = _key(key, items[k])
        if here > top:
            best = items[k]
            top = here
    return best


def smallest(items, key=None):  # type: ignore[no-untyped-def]
    """``min(items, key=key)``; of equal items the first."""
    if len(items) == 0:
        raise ValueError("min() iterable argument is empty")
    best = items[0]
    top = _key(key, best)
    for k in range(1, len(items)):
        here = _key(key, items[k])
        if here < top:
            best = items[k]
            top = here
    return best


def copy(items):  # type: ignore[no-untyped-def]
    """``items.copy()``: a new list of the same items."""
    return [item for item in items]  # noqa: C416


def joined(a, b):  # type: ignore[no-untyped-def]
    """``a + b``: a new list."""
    found = []
    for item in a:
        found.append(item)
    for item in b:
        found.append(item)
    return found


def repeated(items, times):  # type: ignore[no-untyped-def]
    """``items * times``: a new list."""
    found = []
    for _ in range(times):
        for item in items:
            found.append(item)
    return found


def extend(items, more):  # type: ignore[no-untyped-def]
    """``items.extend(more)``; a list extended by itself is doubled."""
    for item in more[:] if more is items else more:
        items.append(item)


def pop(items, k):  # type: ignore[no-untyped-def]
    """``items.pop(k)``: the item at ``k``, which is removed from the list."""
    many = len(items)
    found = items[k]
    for j in range(k if k >= 0 else k + many, many - 1):
        items[j] = items[j + 1]
    items.pop()
    return found


def insert(items, k, item):  # type: ignore[no-untyped-def]
    """``items.insert(k, item)``; an index beyond an end means that end."""
    many = len(items)
    at = max(k + many, 0) if k < 0 else min(k, many)
    items.append(item)
    for j in range(many, at, -1):
        items[j] = items[j - 1]
    items[at] = item


def remove(items, wanted):  # type: ignore[no-untyped-def]
    """``items.remove(wanted)``."""
    at = -1
    for k in range(len(items)):
        if items[k] == wanted:
            at = k
            break
    if at < 0:
        raise ValueError("list.remove(x): x not in list")
    items.pop(at)


def reverse(items):  # type: ignore[no-untyped-def]
    """``items.reverse()``, in place."""
    many = len(items)
    for k in range(many // 2):
        items[k], items[many - 1 - k] = items[many - 1 - k], items[k]


def sort(items, *, key=None, reverse=False):  # type: ignore[no-untyped-def]
    """``items.sort(key=key, reverse=reverse)``, in place, for items that are no numbers: a stable insertion sort."""
    for k in range(1, len(items)):
        item = items[k]
        at = k
        if reverse:
            while at > 0 and _key(key, items[at - 1]) < _key(key, item):
                items[at] = items[at - 1]
                at -= 1
        else:
            while at > 0 and _key(key, item) < _key(key, items[at - 1]):
                items[at] = items[at - 1]
                at -= 1
        items[at] = item


def _key(key, item):  # type: ignore[no-untyped-def]
    return item if key is None else key(item)
