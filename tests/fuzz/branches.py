"""Templates: branches and conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .parts import Lines, body, template
from .scope import Scope

if TYPE_CHECKING:
    from .generate import Maker


@template
def if_(g: Maker, s: Scope) -> Lines:
    return [f"if {g.test(s)}:", *body(g, s.inner())]


@template
def if_else(g: Maker, s: Scope) -> Lines:
    return [f"if {g.test(s)}:", *body(g, s.inner()), "else:", *body(g, s.inner())]


@template
def elif_(g: Maker, s: Scope) -> Lines:
    return [
        f"if {g.test(s)}:",
        *body(g, s.inner(), 1),
        f"elif {g.test(s)}:",
        *body(g, s.inner(), 1),
        "else:",
        *body(g, s.inner(), 1),
    ]


@template
def defined_in_both(g: Maker, s: Scope) -> Lines:
    """A name that is defined only in the two branches."""
    kind = g.choose("s", "v")
    test, one, two = g.test(s), g.expression(s, kind), g.expression(s, kind)
    x = g.declare(s, kind, g.fresh(kind))
    return [f"if {test}:", f"    {x} = {one}", "else:", f"    {x} = {two}"]


@template
def ifexp(g: Maker, s: Scope) -> Lines:
    kind = g.choose("s", "s", "v")
    text = f"{g.expression(s, kind)} if {g.test(s)} else {g.expression(s, kind)}"
    return [f"{g.declare(s, kind, g.fresh(kind))} = {text}"]


@template
def and_or(g: Maker, s: Scope) -> Lines:
    test = g.choose(f"{g.test(s)} and {g.test(s)}", f"{g.test(s)} or {g.test(s)}", f"not ({g.test(s)} and {g.test(s)})")
    return [f"if {test}:", *body(g, s.inner())]


@template
def chained_comparison(g: Maker, s: Scope) -> Lines:
    return [f"if -0.37 < {g.scalar(s, 1)} < {g.choose('0.52', '1.31')}:", *body(g, s.inner())]


@template
def walrus(g: Maker, s: Scope) -> Lines:
    text = g.scalar(s, 1)
    a = g.declare(s, "s", g.fresh("s"))
    return [f"if ({a} := {text}) > 0.17:", *body(g, s.inner(), 1)]
