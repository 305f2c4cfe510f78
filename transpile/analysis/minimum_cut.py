"""The cheapest set of values from which the needed ones can be recomputed: a minimum vertex cut.

Vertices are values; an edge goes from an operand to a value computed from it. Sources cannot be recomputed. Every path from a
source to a needed value must contain a recorded value; the source and the needed value themselves count.

>>> min_cut({"a": 1, "b": 1, "c": 1}, [("a", "c"), ("b", "c")], ["a", "b"], ["c"])
['c']
>>> min_cut({"a": 1, "b": 1, "c": 1}, [("a", "b"), ("a", "c")], ["a"], ["b", "c"])
['a']

Source: Moses and Churavy (2020), "Instead of Rewriting Foreign Code for Machine Learning, Automatically Synthesize Fast
Gradients", section on caching; Ford and Fulkerson (1956) for the flow.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

V = TypeVar("V", bound=Hashable)
INFINITE = 10**12


def min_cut(costs: Mapping[V, int], edges: Sequence[tuple[V, V]], sources: Sequence[V], needed: Sequence[V]) -> list[V]:
    """The vertices of a cheapest cut between ``sources`` and ``needed``, in the order of ``costs``; of several, the cut nearest
    to the needed values."""
    order = list(costs)
    number = {v: k for k, v in enumerate(order)}
    start, end = 2 * len(order), 2 * len(order) + 1
    capacity: list[dict[int, int]] = [{} for _ in range(2 * len(order) + 2)]

    def arc(u: int, v: int, c: int) -> None:
        capacity[u][v] = capacity[u].get(v, 0) + c
        capacity[v].setdefault(u, 0)

    for value, cost in costs.items():
        arc(2 * number[value], 2 * number[value] + 1, cost)
    for used, user in edges:
        arc(2 * number[used] + 1, 2 * number[user], INFINITE)
    for value in dict.fromkeys(sources):
        arc(start, 2 * number[value], INFINITE)
    for value in dict.fromkeys(needed):
        arc(2 * number[value] + 1, end, INFINITE)
    while True:
        path = _augmenting(capacity, start, end)
        if path is None:
            break
        amount = min(capacity[u][v] for u, v in zip(path, path[1:]))
        for u, v in zip(path, path[1:]):
            capacity[u][v] -= amount
            capacity[v][u] += amount
    reaching = _reaching(capacity, end)
    return [v for v in order if 2 * number[v] + 1 in reaching and 2 * number[v] not in reaching]


def _augmenting(capacity: list[dict[int, int]], start: int, end: int) -> list[int] | None:
    """The vertices of a shortest path with spare capacity from ``start`` to ``end``, both included; None if there is none."""
    parent = {start: start}
    queue = [start]
    for u in queue:
        for v, c in capacity[u].items():
            if c > 0 and v not in parent:
                parent[v] = u
                if v == end:
                    path = [end]
                    while path[-1] != start:
                        path.append(parent[path[-1]])
                    return path[::-1]
                queue.append(v)
    return None


def _reaching(capacity: list[dict[int, int]], end: int) -> set[int]:
    """The vertices from which ``end`` can be reached by arcs with spare ``capacity``: they determine the cut nearest to it."""
    found = {end}
    queue = [end]
    for v in queue:
        for u in capacity[v]:
            if u not in found and capacity[u].get(v, 0) > 0:
                found.add(u)
                queue.append(u)
    return found
