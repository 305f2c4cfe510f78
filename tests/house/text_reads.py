"""Places that read text: each call that parses, searches or patches a string, except in the frontend, which reads the user's
source.

Text that we print is output: no code of ours reads it again. `ALLOWED` states for each place what it reads instead; to add a
place, state that there, and make sure it is no text of ours.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from house.imports import ROOT

READERS = frozenset(
    """parse literal_eval match fullmatch search findall finditer split rsplit splitlines partition rpartition replace startswith
    endswith getline getlines""".split()
)
"""Methods of strings and functions of modules that take text apart; all of `re` counts too, and ``eval`` and ``exec``."""

LEFT_OUT = ("frontend", "numpy_api", "vocabulary", "random", "lax", "ops", "base")
"""Packages that never see text of ours."""

ALLOWED: Mapping[str, str] = {
    "what the user writes: source, options, names": """
        api.py: Transformed.__reduce__
        cli.py: main
        command/asked.py: _asked
        command/asked.py: _concerns
        command/asked.py: _unknown
        command/asked.py: functions
        command/stack.py: _axes
        command/stack.py: _literal
        command/stack.py: levels
        driver/pass_watches.py: from_environment
        driver/tracebacks.py: _function_at
        errors.py: source_line
        reports/recorded.py: finished
        reports/recorded.py: loop_text
    """,
    "names of variables, modules, dtypes and primitives; files": """
        codegen/numpy/effects.py: effect_lines
        codegen/numba/numba_scalars.py: _is_narrow
        core/nodes.py: Function.title
        core/verify_memory.py: _is_tape
        loops/steering.py: _Flow.goes_by
        lower/overflow.py: _symbol
        transform/prepare.py: _called
        check.py: _Line.compare
        check.py: _outside
        command/emitted.py: emit
        codegen/llvm/arrays.py: Arrays.advise
        codegen/numba/loop_text.py: _Emitter.fresh
        codegen/numpy/copy_elision.py: _Rewriter.is_handed_on
        codegen/expression_nodes.py: dotted
        codegen/numpy/printed_imports.py: Imports.names
        codegen/numpy/printed_imports.py: Imports.defined
        codegen/numpy/printed_shapes.py: _Shaper.natural
        codegen/numpy/printable_form.py: Printable.augmented
        codegen/numpy/variable_names.py: _Classes.derived
        codegen/numpy/variable_names.py: _Classes.described
        codegen/numpy/variable_names.py: _identifier
        core/inline.py: _own
        core/types.py: Type.is_float
        driver/cache/eviction.py: module
        driver/cache/eviction.py: File.is_partial
        driver/cache/eviction.py: _files
        driver/cache/cached_kernels.py: stem
        driver/cache/fingerprint.py: Likeness.other
        driver/cache/fingerprint.py: _dotted
        driver/cache/fingerprint.py: _inside
        aggregates.py: _has_more_than_is_compared
        driver/cache/fingerprint.py: _is_public
        driver/cache/object_path.py: Trail.in_module
        driver/conditions.py: Scope.place
        driver/conditions.py: _is_name
        driver/tracebacks.py: _is_library
        driver/tracebacks.py: _is_ours
        driver/tracebacks.py: _raising
        driver/tracebacks.py: _shown
        errors.py: short_path
        errors.py: shown_path
        lower/lowered_effects.py: _raise
        reports/measured_values.py: values_of
        reports/recorded.py: amounts
        transform/batching/all_lanes.py: AllLanes.free_name
        transform/batching/lane_regions.py: Region.name_sizes
        transform/sweep.py: _Reverse.run
    """,
    "what a record or a call in core says: spellings, functions of the runtime, subscripts of einsum": """
        codegen/llvm/long_call_code.py: Watching.before_call
        codegen/llvm/scalar_instructions.py: named
        codegen/numpy/expression_trees.py: is_repeated
        codegen/numpy/implicit_casts.py: _Relaxer.stays_python
        codegen/templates.py: _filled
        codegen/templates.py: _parsed
        codegen/templates.py: module
        codegen/numpy/value_nodes.py: Expressions.by_record
        codegen/numpy/value_nodes.py: _full
        loops/schedule/cost_model.py: Work.call
        loops/steering.py: _Flow.goes_by
        lower/product_loops.py: contraction
        transform/batching/families.py: _einsum
    """,
    "a piece of text on its way to being printed: quotes, blanks, line ends": """
        codegen/layout.py: wrap
        codegen/import_statements.py: import_lines
        codegen/numpy/printed_module.py: _Function.lines
        codegen/printer.py: _Generator.visit_Constant
        codegen/printer.py: numeral
        codegen/printer.py: piece
        codegen/printer.py: quoted
        codegen/wrapping.py: _words
        core/verify_scopes.py: refuse
        driver/docstrings.py: finish
        driver/docstrings.py: module
        reports/report.py: wrapped
    """,
    "sources of the runtime, which are copied": """
        codegen/numba/standalone.py: _Module.__init__
        codegen/numba/standalone.py: _decorator
        codegen/numba/standalone.py: _imports
    """,
    "messages of Numba's": """
        codegen/numba/numba_build.py: _diagnose
        codegen/numba/numba_build.py: module
    """,
    "generated code, to run it": """
        codegen/numba/numba_build.py: loaded
        driver/tracebacks.py: _entry.make
        driver/what_raised.py: _value
    """,
}


def listed() -> set[str]:
    return {line.strip() for text in ALLOWED.values() for line in text.strip().splitlines()}


def places() -> dict[str, set[str]]:
    """``file: function`` of each place, with its calls."""
    found: dict[str, set[str]] = {}
    for file in sorted((ROOT / "transpile").rglob("*.py")):
        name = file.relative_to(ROOT / "transpile").as_posix()
        if name.partition("/")[0] not in LEFT_OUT:
            for where, call in _calls(file):
                found.setdefault(f"{name}: {where}", set()).add(call)
    return found


def _calls(file: Path) -> Iterator[tuple[str, str]]:
    yield from calls_in(ast.parse(file.read_text(encoding="utf-8")))


def calls_in(node: ast.AST, where: str = "") -> Iterator[tuple[str, str]]:
    """The calls that read text, as pairs of function and call."""
    for child in ast.iter_child_nodes(node):
        inside = child.name if isinstance(child, (ast.FunctionDef, ast.ClassDef)) else ""
        if isinstance(child, ast.Call) and (call := _reader(child)):
            yield where or "module", call
        yield from calls_in(child, f"{where}.{inside}".strip(".") if inside else where)


def _reader(node: ast.Call) -> str:
    """The name of the call if it reads text, else ""."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return f"re.{name}"
        case ast.Attribute(value=ast.Name(id="ast" | "gast" | "linecache" as module), attr=name) if name in READERS:
            return f"{module}.{name}"
        case ast.Attribute(attr=name) if name in READERS and not _is_no_string(node):
            return f".{name}"
        case ast.Name(id="eval" | "exec" as name):
            return name
    return ""


def _is_no_string(node: ast.Call) -> bool:
    """Whether the arguments show that it is no string method: ``code.replace(co_consts=...)``, ``os.replace(a, b)``."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    is_literal = isinstance(owner, ast.Constant)  # ``"a list of words".split()``
    return (
        bool(node.keywords) or is_literal or isinstance(owner, ast.Name) and owner.id in ("np", "os", "self", "runtime")
    )
