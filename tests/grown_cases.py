"""Programs with growing lists: how a list grows, how it is used, and where. Each is plain Python, written out as text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

# Each leaves the list `out`; {inside}, if present, is where it may be used inside the loop.
GROWS = {
    "each": "out = []\nfor v in x:\n    out.append(v)\n    {inside}",
    "some": "out = []\nfor v in x:\n    if v > 0.6:\n        out.append(v)\n    {inside}",
    "first_two": "out = []\nfor v in x:\n    if len(out) < 2:\n        out.append(v * 2)\n    {inside}",
    "onto_others": "out = [x[1], 3.0]\nfor v in x:\n    out.append(v)\n    {inside}",
    "two_a_trip": "out = []\nfor v in x:\n    out.append(v)\n    if v > 0.6:\n        out.append(v * v)\n    {inside}",
    "while": "out = []\nt = 0.1\nwhile t < 0.9:\n    t += abs(x[0]) + 0.1\n    out.append(t)\n    {inside}",
    "filtered": "out = [v for v in x if v > 0.6]",
    "branch": "out = [x[1]]\nif x[0] > 0.6:\n    out.append(x[0])",
    "both": "out = []\nif x[0] > 0.6:\n    out.append(x[0])\n    out.append(x[1])\nelse:\n    out.append(x[2])",
    "never": "out = []\nfor v in x:\n    if v > 9.0:\n        out.append(v)\n    {inside}",
    "alias": "out = []\nalso = out\nfor v in x:\n    if out:\n        also.append(v * out[-1])\n    else:\n"
    "        out.append(v)\n    {inside}",
    "function": "out = []\nfor v in x:\n    grow(out, v)\n    {inside}",
    "in_dict": "d = {{'a': [], 'b': []}}\nfor v in x:\n    d['a'].append(v)\n    if v > 0.6:\n        d['b'].append(v)\n"
    "out = d['b']",
    "extended": "out = []\nfor v in x:\n    out.extend([v, v * 0.5])\n    {inside}",
    "augmented": "out = []\nfor v in x:\n    out += [v]\n    {inside}",
    "window": "out = []\nfor v in x:\n    out.append(v)\n    if len(out) > 2:\n        out.pop(0)\n    {inside}",
    "inserted": "out = []\nfor v in x:\n    out.insert(0, v)\n    {inside}",
    "stack": "out = []\nfor v in x:\n    while out and out[-1] < v:\n        out.pop()\n    out.append(v)\n    {inside}",
    "whole_numbers_first": "out = []\nfor v in x:\n    if out:\n        out.append(v)\n    else:\n        out.append(1)\n"
    "    {inside}",
}
# Uses of `out`; the result goes into `s`.
USES = {
    "truth": "s += 2.0 if out else x[1]",
    "not": "s += x[1] if not out else x[2]",
    "bool": "s += x[0] * bool(out)",
    "and": "s += x[1] if out and out[-1] > 0.6 else x[2]",
    "or": "s += x[1] if not out or out[0] > 0.6 else x[2]",
    "if": "if out:\n    s += out[0]\nelse:\n    s -= x[0]",
    "assert": "assert out, 'nothing'\ns += out[0]",
    "len": "s += len(out) * x[0]",
    "in": "s += x[0] if x[2] in out else x[1]",
    "not_in": "s += x[0] if 3.0 not in out else x[1]",
    "equal_empty": "s += x[0] if out == [] else x[1]",
    "unequal": "s += x[0] if out != [x[0]] else x[1]",
    "equal_itself": "s += x[0] if out == out[:] else x[1]",
    "before": "s += x[0] if out < out[1:] else x[1]",
    **{f"item{k}": f"s += out[{k}]" for k in (0, 1, 3, -1, -3)},
    "item_k": "s += out[k]",
    "item_minus_k": "s += out[-k]",
    "set_first": "out[0] = x[3] * 2\ns += sum(out)",
    "set_k": "out[k] += x[3]\ns += sum(out)",
    "tail": "s += sum(out[1:]) + 3 * len(out[1:])",
    "head": "s += sum(out[:-1])",
    "last_two": "s += sum(out[-2:]) * len(out[-2:])",
    "backwards": "s += sum(out[::-1]) + out[::-1][0]",
    "middle": "s += sum(out[k:k + 2])",
    "pop": "s += out.pop() * 2 + sum(out)",
    "pop_first": "s += out.pop(0) * 2 + sum(out)",
    "pop_k": "s += out.pop(k) * 2 + sum(out) + len(out)",
    "del": "del out[0]\ns += sum(out) + len(out)",
    "insert": "out.insert(1, x[3])\nfor j, v in enumerate(out):\n    s += j * v",
    "insert_end": "out.insert(-1, x[3])\nfor j, v in enumerate(out):\n    s += j * v",
    "remove": "out.remove(x[2])\ns += sum(out)",
    "index": "s += out.index(x[2]) * x[1]",
    "count": "s += out.count(x[2]) * x[1]",
    "reverse": "out.reverse()\ns += out[0] * 3 + sum(out)",
    "sort": "out.sort()\ns += out[0] + sum(out)",
    "sort_reverse": "out.sort(reverse=True)\ns += out[0]",
    "sorted": "s += sorted(out)[0]",
    "sorted_key": "s += sorted(out, key=lambda v: -v)[0]",
    "clear": "out.clear()\nout.append(x[0])\ns += sum(out) + len(out)",
    "copy": "other = out.copy()\nother.append(x[1])\ns += sum(out) + 2 * sum(other) + len(out)",
    "list": "other = list(out)\nother.append(x[1])\ns += sum(out) + 2 * sum(other)",
    "plus": "s += sum(out + [x[1]]) + sum([x[2]] + out) + len(out + out)",
    "times": "s += sum(out * 2) + len(2 * out)",
    "extend": "out.extend([x[1], x[2]])\ns += sum(out) + len(out)",
    "extend_itself": "out.extend(out)\ns += sum(out)",
    "min": "s += min(out)",
    "max_default": "s += max(out, default=x[1])",
    "sum": "s += sum(out)",
    "any": "s += x[0] * any(v > 0.6 for v in out)",
    "all": "s += x[0] * all(v > 0.6 for v in out)",
    "for": "for v in out:\n    s = s * 0.5 + v",
    "for_write": "for j, v in enumerate(out):\n    if j + 1 < len(out):\n        out[j + 1] += v\n    s += v",
    "enumerate": "for j, v in enumerate(out):\n    s += j * v",
    "zip": "for a, b in zip(out, out[1:]):\n    s += a * b",
    "zip_array": "for a, b in zip(out, x):\n    s += a * b",
    "reversed": "for v in reversed(out):\n    s = s * 0.5 + v",
    "map": "s += sum(map(lambda v: v * v, out))",
    "comprehension": "s += sum([v * 2 for v in out if v > 0.6])",
    "while": "while out:\n    s = s * 0.5 + out.pop()",
    "array": "s += np.sum(np.array(out) ** 2)",
    "mean": "s += np.max(np.array(out))",
    "unpack": "a, b = out\ns += a * b",
    "tuple": "pair = (out, 1.0)\ns += sum(pair[0]) * pair[1]",
    "call": "s += last(out)",
}
AFTER, INSIDE, BRANCH, LATER = "after", "inside", "branch", "later"
HEAD = """import numpy as np


def grow(items, v):
    if v > 0.6:
        items.append(v)
    return len(items)


def last(items):
    return items[-1] * 2 if items else 0.5


"""


@dataclass(frozen=True)
class Case:
    """The program ``name``: the text of a function of that name."""

    name: str
    text: str


def _indented(text: str, by: int) -> str:
    return text.replace("\n", "\n" + " " * by)


def case(grow: str, use: str, where: str) -> Case | None:
    """The program; None if the list has no loop in which it could be used."""
    name = f"{grow}_{use}_{where}".replace("-", "m")
    body = GROWS[grow]
    inside = USES[use] if where == INSIDE else "s += v" if "for v" in body else "pass"
    if where == INSIDE and "{inside}" not in body:
        return None
    lines = ["s = x[0]", body.replace("{inside}", _indented(inside, 4)).replace("{{", "{").replace("}}", "}")]
    if where == AFTER:
        lines.append(USES[use])
    elif where == BRANCH:
        lines.append("if x[1] < 0.8:\n    " + _indented(USES[use], 4) + "\nelse:\n    s *= 2.0")
    elif where == LATER:
        lines.append("for r in range(len(x)):\n    s *= 0.9\n    " + _indented(USES[use], 4))
    lines.append("return s + 0.1 * len(out)")
    return Case(name, f"def {name}(x, k):\n    " + _indented("\n".join(lines), 4) + "\n\n\n")


def cases() -> Iterator[Case]:
    """All programs."""
    for grow, use, where in itertools.product(GROWS, USES, (AFTER, INSIDE, BRANCH, LATER)):
        found = case(grow, use, where)
        if found is not None:
            yield found
