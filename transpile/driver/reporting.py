"""What `transpile.report` gives: the report on a derivative for the arguments of a call."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from transpile.base.captured import Place
from transpile.core import nodes as ir
from transpile.driver import docstrings
from transpile.driver.backend import text_of
from transpile.driver.interpreted import interpreted
from transpile.driver.request import Request, leaf_slots
from transpile.reports.findings import find
from transpile.reports.report import Report


def reported(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Report:
    """See `transpile.api.report`."""
    request = Request.of(args, kwargs)
    request.make_static(target)
    core = request.lift(target)
    leaves = [request.leaves[leaf] for leaf in leaf_slots(core, request)]
    given = dict(zip(core.params, [*leaves, *(Place.of(c).read() for c in core.captured)]))

    def run(fn: ir.Function) -> Any:
        own = copy.deepcopy((list(args), dict(kwargs), list(request.leaves)))  # what is no derivative may write them
        return interpreted(None, fn, request, True)(*own)

    return find(core, docstrings.arguments(core), given, run, text_of)
