"""What `transpile.report` gives: the report on a derivative for the arguments of a call."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from transpile import describe
from transpile.backend import text_of
from transpile.captured import Place
from transpile.core.nodes import Function
from transpile.interpreted import interpreted
from transpile.memory.findings import find
from transpile.memory.report import Report
from transpile.request import Request, leaf_slots


def reported(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Report:
    """See `transpile.api.report`."""
    request = Request.of(args, kwargs)
    request.make_static(target)
    core = request.lift(target)
    leaves = [request.leaves[leaf] for leaf in leaf_slots(core, request)]
    given = dict(zip(core.params, [*leaves, *(Place.of(c).read() for c in core.captured)]))

    def run(fn: Function) -> Any:
        own = copy.deepcopy((list(args), dict(kwargs), list(request.leaves)))  # what is no derivative may write them
        return interpreted(None, fn, request, True)(*own)

    return find(core, describe.arguments(core), given, run, text_of)
