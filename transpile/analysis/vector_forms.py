"""Which scalar functions have a form for vectors in `transpile_runtime.compiled.vector`, and where it is the faster one.

`transpile.loops.vector_functions` puts them in the place of the others.
"""

from __future__ import annotations

from transpile.ops.tables import records

DRAWS = {
    **{f"random.{n}": f"vector.random_{n}" for n in "word bits32 bits64 unit32 unit64 normal32 normal64".split()},
    "random.normals": "draws.normals",
    "random.normals32": "draws.normals32",
}
"""Calls of `transpile_runtime.compiled.random`, and what does the same with the instructions of a vector."""

PLAIN = {n: r.vector.name for n, r in records().items() if r.vector is not None and r.vector.alone}
WHOLE = frozenset(n for n, r in records().items() if r.vector is not None and r.vector.name and not r.vector.alone)
PARTLY = {n: r.vector.near for n, r in records().items() if r.vector is not None and r.vector.near}
DEAR = WHOLE | PARTLY.keys()
INSTRUCTIONS = frozenset(n for n, r in records().items() if r.is_instruction) | {"cast"}
