"""``import`` inside a function. It is carried out when the function is lifted, as Python would at its first call; in a program that
is not run it is followed by name.

One that fails is an error where it is certain to be reached, and where it may not be, a ``raise`` of what Python raises there.
"""

from __future__ import annotations

import sys
from typing import Any

import gast

from transpile.frontend.lifter import Lifter
from transpile.frontend.resolve import name_lookup, resolve
from transpile.frontend.resolve.bindings import Binding
from transpile.frontend.values import assignment


def statement(lx: Lifter, node: Any) -> None:
    """Binds what an import inside a function binds."""
    scope = getattr(lx.frame.code.lookup, "__self__", None)
    for alias in node.names:
        try:
            if isinstance(scope, resolve.StaticScope):
                found = _followed(lx, scope, node, alias)
            else:
                found = _carried_out(lx, scope, node, alias)
        except ImportError as failed:
            _fails(lx, failed, node)
            return
        name = alias.asname or (alias.name.partition(".")[0] if isinstance(node, gast.Import) else alias.name)
        assignment.bind(lx, name, name_lookup.from_binding(lx, found, node), node)


def _followed(lx: Lifter, scope: resolve.StaticScope, node: Any, alias: Any) -> Binding:
    """By name: nothing is run."""
    loc = lx.loc(node)
    if isinstance(node, gast.ImportFrom):
        return resolve.static_module(scope.module, node.module or "", node.level or 0, loc).attr(alias.name, loc)
    dotted = alias.name if alias.asname else alias.name.partition(".")[0]
    return resolve.static_module(scope.module, dotted, 0, loc)


def _carried_out(lx: Lifter, scope: Any, node: Any, alias: Any) -> Binding:
    """By Python; ImportError is handed on."""
    around = scope.fn.__globals__ if isinstance(scope, resolve.LiveScope) else {}
    is_from = isinstance(node, gast.ImportFrom)
    dotted = node.module or "" if is_from else alias.name
    try:
        found = __import__(dotted, around, None, (alias.name,) if is_from else (), node.level or 0 if is_from else 0)
    except ImportError:
        raise
    except Exception as failed:  # whatever a module does when it is run
        shown = "." * (node.level or 0) + dotted if is_from else dotted
        message = f"the import of {shown!r} raises {type(failed).__name__}: {failed}"
        raise lx.error("T110", message, node, "import it at the top of the file, and correct what it raises") from None
    if not is_from:
        return resolve.live_module(sys.modules[dotted] if alias.asname else found)
    if not hasattr(found, alias.name):
        message = f"cannot import name {alias.name!r} from {found.__name__!r}"
        raise ImportError(message, name=found.__name__)
    return resolve.live_module(found).attr(alias.name, lx.loc(node))


def _fails(lx: Lifter, failed: ImportError, node: Any) -> None:
    if lx.b.block is lx.root and lx.outer is None:
        hint = "install it, or correct the name"
        raise lx.error("T110", f"this import fails: {type(failed).__name__}: {failed}", node, hint) from None
    what = gast.Name(id=type(failed).__name__, ctx=gast.Load(), annotation=None, type_comment=None)
    error = gast.Call(func=what, args=[gast.Constant(value=str(failed), kind=None)], keywords=[])
    raised = gast.Raise(exc=error, cause=None)
    for one in (what, error, error.args[0], raised):
        gast.copy_location(one, node)
    lx.block([raised])
