"""The structure of core, of which the names of compiled code are made: it says all that is in a function, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from transpile.codegen.entry_guard import Guard
from transpile.core import nodes as ir
from transpile.core.structure import digest, structure
from transpile.core.types import Type
from transpile.core.walk import statements
from transpile.driver.backend import Options, lowered
from transpile.driver.cache import cached_kernels
from transpile.driver.lifted_request import lift
from transpile.driver.machine_code import Source
from transpile.driver.request import Request

pytestmark = pytest.mark.quick


def program(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0.5:
            x[i] += np.sin(x[i - 1])
        total += np.sum(x[i:])
    return total


def compiled() -> list[ir.Function]:
    request = Request.of((np.linspace(0.0, 1.0, 5), 3), {})
    core = lift(request, program)
    return lowered(core, Options())


def other(value: Any) -> Any:
    """A value of the same kind that is not this one; None if there is none to be made."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return value + "x"
        case ir.Var() | ir.Const() | ir.Undef():
            return ir.Const(4711, value.type)
        case tuple() | list():
            return type(value)(value[:-1]) if value else None
        case ir.Loc():
            return replace(value, col=value.col + 1)
        case Type():
            return replace(value, weak=not value.weak)
    return None


def changes(fn: ir.Function) -> Iterator[tuple[str, Any, str, Any]]:
    """What can be changed: of each statement each field, of each variable each attribute."""
    for stmt in statements(fn.body):
        for field in fields(stmt):
            if (new := other(getattr(stmt, field.name))) is not None:
                yield type(stmt).__name__, stmt, field.name, new
        if isinstance(stmt, ir.Let):
            for name in ("name", "type", "buffer"):
                yield "Var", stmt.var, name, other(getattr(stmt.var, name))


def test_whatever_is_changed_changes_it():
    fns = compiled()
    first = digest(fns)
    seen = set()
    for kind, node, name, new in list(changes(fns[-1])):
        old = getattr(node, name)
        setattr(node, name, new)
        assert digest(fns) != first, f"{kind}.{name}"
        setattr(node, name, old)
        seen.add(f"{kind}.{name}")
    assert digest(fns) == first
    assert {"Let.prim", "Let.loc", "Store.path", "For.step", "For.body", "If.test", "Var.type"} - seen <= {"For.body"}


def test_it_is_the_same_for_the_same_request():
    assert structure(compiled()) == structure(compiled())


def test_it_is_the_same_in_every_process():
    code = "from core.test_structure import compiled, digest; print(digest(compiled()))"
    found = set()
    for seed in "01":
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        found.add(
            subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        )
    assert len(found) == 1


def test_the_name_of_a_kernel_says_how_it_is_compiled():
    fns, usual = compiled(), Options()
    guard = Guard(((False,), ()), ())
    sources = [
        Source(fns, usual),
        Source(fns, replace(usual, fastmath=False)),
        Source(fns, replace(usual, threads=2)),
        Source(fns, usual, guard),
        Source(fns, usual, guard._replace(ones=((True,), ()))),
        Source(fns, usual, guard._replace(pairs=((0, 1),))),
        Source([*fns, fns[-1]], usual),
    ]
    names = [cached_kernels.stem("f", source, way) for source in sources for way in (True, False)]
    assert None not in names and len(set(names)) == len(names)
    assert cached_kernels.stem("f", Source(fns, usual), True) == names[0]


def test_what_has_no_structure_has_no_name():
    assert cached_kernels.stem("f", object()) is None
    with pytest.raises(TypeError, match="object has no structure"):
        structure(object())
