"""Writes ``docs/coverage.md``: which public functions of NumPy, SciPy and Python are differentiated, run, or are refused.

Every name is run. Of a supported one, the calls of ``tests/matrix`` are compared: values with NumPy's, derivatives with finite
differences. Of any other name, a call is lifted, and what transpile says is noted.

    python docs/_generate/coverage_table.py            # all names, two minutes: writes docs/coverage.md and docs/coverage.json
    python docs/_generate/coverage_table.py np.interp  # one name: prints its row
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import json
import re
import sys
import types
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests/numpy_api")]

from differences import Subject, Unstable, check_jvp, check_vjp, copied, floats, same_tree  # noqa: E402
from matrix.operations import Operation, modules, operations  # noqa: E402

import transpile as tp  # noqa: E402
from transpile.api import Transformed  # noqa: E402
from transpile.base.levels import Level  # noqa: E402
from transpile.numpy_api import entries as tables  # noqa: E402
from transpile.numpy_api.entry_record import PROPERTIES  # noqa: E402

DATA, PAGE = ROOT / "docs/coverage.json", ROOT / "docs/coverage.md"
MODULES = (
    *("numpy", "numpy.linalg", "numpy.fft", "numpy.random", "numpy.lib.stride_tricks", "numpy.polynomial.polynomial"),
    *("numpy.ndarray", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.integrate", "scipy.interpolate"),
    *("scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse", "scipy.sparse.linalg", "scipy.spatial"),
    *("scipy.stats", "math", "operator", "builtins"),
)
CALLS = (
    *("{f}(x)", "{f}(x, x)", "{f}(v)", "{f}(v, v)", "{f}(q)", "{f}(q, q)", "{f}(pos)", "{f}(s)", "{f}(x, 1)", "{f}()", "{f}(3)"),
    *("{f}(v, v, v)", "{f}(float)", "{f}((2, 3), (3,))", "{f}('float64')", "{f}(v, s, s)", "{f}(v, v, v, v)"),
)  # fmt: skip
"""Calls that are tried of a name that ``tests/matrix`` does not call, until NumPy takes one."""
PROGRAMS = {
    "numpy.empty": "r = np.empty(5)\nr[:] = v * s",
    "numpy.empty_like": "r = np.empty_like(v)\nr[:] = v * s",
    "numpy.ndarray": "r = np.ndarray((5,))\nr[:] = v * s",
    "numpy.linalg.lstsq": "r = np.linalg.lstsq(m53, v, rcond=None)[0]",
    "scipy.linalg.lstsq": "r = scipy.linalg.lstsq(m53, v)[0]",
    "scipy.linalg.cho_factor": "r = np.triu(scipy.linalg.cho_factor(spd)[0])",
    "numpy.ndindex": "r = 0.0\nfor i, j in np.ndindex(3, 4):\n    r += i * x[i, j]",
    "numpy.ndenumerate": "r = 0.0\nfor i, e in np.ndenumerate(x):\n    r += i[0] * e",
    "numpy.nditer": "r = 0.0\nfor e in np.nditer(x):\n    r += e * e",
    "numpy.errstate": "with np.errstate(all='ignore'):\n    r = np.sqrt(pos)",
    "numpy.seterr": "old = np.seterr(all='ignore')\nr = np.sqrt(pos)",
    "numpy.vectorize": "r = np.vectorize(lambda e: e * e)(x)",
    "numpy.frompyfunc": "r = np.frompyfunc(lambda e: e * e, 1, 1)(x)",
    "numpy.finfo": "r = np.finfo(float).max",
    "numpy.iinfo": "r = np.iinfo(int).max",
    "numpy.broadcast_shapes": "r = np.ones(np.broadcast_shapes((2, 3), (3,)))",
    "builtins.enumerate": "r = 0.0\nfor i, e in enumerate(v):\n    r += i * e",
    "builtins.zip": "r = 0.0\nfor a, b in zip(v, v):\n    r += a * b",
    "builtins.range": "r = 0.0\nfor i in range(3):\n    r += v[i] ** 2",
    "builtins.reversed": "r = 0.0\nfor e in reversed(v):\n    r = r * s + e",
    "builtins.map": "r = 0.0\nfor e in map(np.sin, v):\n    r += e",
    "builtins.filter": "r = 0.0\nfor e in filter(lambda e: e > 0, v):\n    r += e",
    "builtins.print": "print(s)\nr = 1.0",
    "builtins.list": "r = list(v)[0]",
    "builtins.tuple": "r = tuple(v)[0]",
    "builtins.dict": "r = dict(a=s)['a'] ** 2",
    "builtins.slice": "r = v[slice(1, 3)]",
    "builtins.isinstance": "r = isinstance(x, np.ndarray)",
    "builtins.hasattr": "r = hasattr(x, 'shape')",
    "builtins.issubclass": "r = issubclass(float, float)",
    "builtins.setattr": "setattr(x, 'name', s)\nr = s",
    "builtins.getattr": "r = getattr(x, 'T')",
    "builtins.any": "r = any(e > 0 for e in v)",
    "builtins.all": "r = all(e > 0 for e in v)",
}
"""Programs for names that are no call of arrays. They leave their result in ``r``."""
IS_PART = {"numpy.mgrid": "np.mgrid[0:3, 0:2]", "numpy.ogrid": "np.ogrid[0:3, 0:2]", "numpy.r_": "np.r_[v, s]",
           "numpy.c_": "np.c_[v, v]", "numpy.s_": "x[np.s_[0:2]]", "numpy.index_exp": "x[np.index_exp[0:2]]"}  # fmt: skip
SILENT = frozenset(
    "breakpoint copyright credits exit help license quit show_config show_runtime get_include info test".split()
)
"""Names that are about the terminal or the installation."""
ORDER = ("differentiated", "runs", "refused")


class Row(NamedTuple):
    """``status`` is one of `ORDER`; ``text`` the call that was run, or what transpile says."""

    name: str
    status: str
    text: str


# --- the names ---------------------------------------------------------------------------------


@cache
def names() -> tuple[str, ...]:
    """The dotted names of all public callables, module by module."""
    return tuple(f"{module}.{name}" for module in MODULES for name in sorted(_public(module)))


def _public(module: str) -> Iterator[str]:
    if module == "numpy.ndarray":
        yield from (n for n in dir(np.ndarray) if not n.startswith("_"))
        return
    found = importlib.import_module(module)
    for name in getattr(found, "__all__", None) or [n for n in dir(found) if not n.startswith("_")]:
        if name in SILENT or name.startswith("__"):
            continue
        if f"{module}.{name}" in IS_PART or _is_function(getattr(found, name, None)):
            yield name


def _is_function(value: Any) -> bool:
    """Whether it is called for a value: no module, no exception, no dtype, no test runner."""
    if isinstance(value, type):
        return not issubclass(value, (BaseException, np.generic, object if _is_abstract(value) else ()))
    return callable(value) and type(value).__name__ != "PytestTester" and not isinstance(value, types.ModuleType)


def _is_abstract(value: type) -> bool:
    return inspect.isabstract(value) or value.__module__.startswith(("abc", "typing")) or value is object


def shown(name: str) -> str:
    """The name as users write it."""
    return re.sub(r"^numpy\.", "np.", name).removeprefix("builtins.").replace("np.ndarray.", "x.")


# --- what becomes of a name --------------------------------------------------------------------


def row(name: str) -> Row:
    """What becomes of one name. A value or a derivative that is wrong raises AssertionError."""
    if name in PROGRAMS:
        return _tried(name, [PROGRAMS[name]])
    if name in IS_PART:
        return _tried(name, [f"r = {IS_PART[name]}"])
    known = calls().get(name, ())
    if not known:
        if name.startswith("numpy.ndarray."):
            last = name.rpartition(".")[2]
            return _tried(name, [f"r = x.{last}", f"r = x.{last}()"] if last not in PROPERTIES else [f"r = x.{last}"])
        own = _distribution(name) if name.startswith("scipy.stats.") else ()
        return _tried(name, [f"r = {call.format(f=shown(name))}" for call in own or CALLS])
    found = [Row(name, *_status(op)) for op in known]
    return min(found, key=lambda r: ORDER.index(r.status))


def _distribution(name: str) -> tuple[str, ...]:
    """Calls of a distribution: of its density, or of what it draws."""
    import scipy.stats

    found = getattr(scipy.stats, name.rpartition(".")[2])
    if isinstance(found, (type, types.FunctionType)):
        return ()
    method = next((m for m in ("logpdf", "logpmf", "pdf", "pmf", "rvs") if hasattr(found, m)), "")
    return (f"{{f}}.{method}(x)",) if method else ()


@cache
def calls() -> dict[str, list[Operation]]:
    """The operations of the matrix by the public name that each calls."""
    found: dict[str, list[Operation]] = {}
    for op in operations():
        for name in _called(op.name):
            found.setdefault(name, []).append(op)
    return found


def _called(text: str) -> Iterator[str]:
    """The outermost function or method of a text, as in `names`."""
    node: Any = ast.parse(text).body[-1]
    node = node.value if isinstance(node, (ast.Expr, ast.Assign)) else node
    while isinstance(node, ast.Subscript):
        node = node.value
    if not isinstance(node, (ast.Call, ast.Attribute)):
        return
    path = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    head, _, rest = path.partition(".")
    if head == "np":
        last, _, method = rest.rpartition(".")
        yield f"numpy.{rest if method not in ('outer', 'reduce', 'accumulate', 'reduceat', 'at') or last == 'linalg' else ''}"
    elif head in ("scipy", "math", "operator"):
        yield path
    elif not rest and isinstance(node, ast.Call):
        yield f"builtins.{head}"
    elif rest and "." not in rest and hasattr(np.ndarray, rest):
        yield f"numpy.ndarray.{rest}"


def _status(op: Operation) -> tuple[str, str]:
    """Runs an operation beside NumPy; with its derivative beside differences where there is one."""
    text = re.sub(r"\b\w+?_(\d)(_fixed)?\b(?!\()", lambda m: "xyzabcd"[int(m[1])], op.name)
    body = "\n".join(op.lines)
    try:
        s = _subject(body, op.pool, op.measure, len(op.floats))
        if op.single:
            s.single, s.tol, s.exact = True, 1e-2, 1e-4
        _same_value(body, op.pool, s.single)
        return ("differentiated" if op.smooth and _has_slope(s) else "runs"), text
    except tp.TranspileError as refused:
        return "refused", message(refused)


def _subject(body: str, pool: dict[str, Any], measure: str, count: int) -> Subject:
    values = tuple(pool.values())
    order = sorted(range(len(values)), key=lambda k: np.asarray(values[k]).dtype.kind != "f")
    keys = [list(pool)[k] for k in order]
    program = _program(keys, f"{body}\nreturn {measure}")
    return Subject(program, lambda: copied(tuple(values[k] for k in order)), range(count))


def _program(args: list[str], body: str) -> Any:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return tp.from_source(f"def program({', '.join(args)}):\n{lines}", _scope())


def _scope() -> dict[str, Any]:
    import scipy

    return {**modules(), "np": np, "scipy": scipy}


def _same_value(body: str, pool: dict[str, Any], single: bool) -> None:
    names = [t.id for t in ast.walk(ast.parse(body)) if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)]
    results = [n for n in dict.fromkeys(names) if re.fullmatch(r"r\d*|w", n)]
    program = _program(list(pool), f"{body}\nreturn {', '.join(results)}")
    found, wanted = (f(*copied(tuple(pool.values()))) for f in (Transformed(program, Level()), program))
    same_tree(found, wanted, body, 1e-4 if single else 1e-10, 1e-12)


def _has_slope(s: Subject) -> bool:
    """Whether there is a derivative that is not zero; it is compared with differences, in both modes."""
    if not s.wrt or not floats(s.value):
        return False
    with contextlib.suppress(Unstable):  # at a kink, only the two modes are compared with each other
        check_jvp(s, tp.jvp)
    bars = check_vjp(s, tp.jvp, tp.vjp)
    return any(np.any(np.asarray(b) != 0) for b in floats(tuple(b for b in bars if b is not None)))


def _tried(name: str, bodies: list[str]) -> Row:
    """What becomes of a name of which no call is known: the first of these that NumPy takes and transpile says something of."""
    from matrix.cases import POOL
    from matrix.operations import Useless, measured, names_of, run

    said = ""
    for body in bodies:
        pool = {n: POOL[n] for n in names_of(body) if n in POOL}
        try:
            Transformed(_program(list(pool), f"{body}\nreturn r"), Level())(*copied(tuple(pool.values())))
        except tp.TranspileError as refused:
            code = refused.diagnostics[0].code
            said = said or message(refused)
            if code in ("T130", "T402", "T401", "T416"):
                return Row(name, "refused", message(refused))
            if code in ("T132", "T131", "T120"):
                continue
            try:  # what NumPy does not take either says nothing
                run(body, pool)
            except Exception:
                continue
            return Row(name, "refused", message(refused))
        except Exception:
            continue
        try:
            measure = measured(run(body, pool)["r"])[1]
        except (Useless, TypeError, ValueError):
            return Row(name, "runs", _one_line(body))
        count = sum(np.asarray(v).dtype.kind == "f" for v in pool.values())
        s = _subject(body, pool, measure if "r0" not in measure else "0.0", count)
        status = "differentiated" if _has_slope(s) else "runs"
        return Row(name, status, _one_line(body))
    return Row(name, "refused", said or "is not a function of arrays")


def _one_line(body: str) -> str:
    text = re.sub(r":\n +", ": ", body)
    return text.replace("\n", "; ") if "\n" in text else text.removeprefix("r = ")


def message(refused: tp.TranspileError) -> str:
    """What is said, in one line."""
    d = refused.diagnostics[0]
    return f"{d.code}: {d.message}" + (f"; {d.hint}" if d.hint else "")


def quiet_row(name: str) -> Row:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.redirect_stdout(io.StringIO()):
            return row(name)


# --- the page ----------------------------------------------------------------------------------


def subject(name: str) -> str:
    """The heading of a supported name: that of the table that it stands in."""
    for module in tables.MODULES:
        if name in module.TABLE and name.startswith("numpy."):
            return module.__name__.rpartition(".")[2].removeprefix("numpy_").capitalize()
    return ""


def page(rows: list[Row], versions: str) -> str:
    counts = {s: sum(r.status == s for r in rows) for s in ORDER}
    text = [
        "# NumPy and SciPy coverage",
        "",
        "Each public function was run. *Differentiated*: its value is NumPy's and its derivative agrees with finite",
        "differences, in forward and in reverse mode. *Runs*: its value is NumPy's, and its derivative is zero or not defined",
        "(integers, truth values, positions). *Refused*: transpile says so before anything runs; the text is what it says.",
        "",
        f"{counts['differentiated']:,} functions are differentiated, {counts['runs']} run, {counts['refused']:,} are refused,",
        f"with {versions}. A function may refuse some of its options: the message names them.",
        "",
        "In the calls, `s` and `s2` are numbers, `v`, `u` and `a3` vectors, `x` and `y` matrices, `t` has rank 3, `q` is",
        "square, `spd` positive definite, `mask` holds truth values, `i3` and `k13` integers.",
        "",
        "This page is generated: `make coverage` runs all names again and rewrites it.",
        "",
        "| module | differentiated | runs | refused |",
        "|---|---:|---:|---:|",
    ]
    parts = {m: [r for r in rows if r.name.rpartition(".")[0] == m] for m in MODULES}
    for module, own in parts.items():
        by = " | ".join(str(sum(r.status == s for r in own)) for s in ORDER)
        text.append(f"| [{_title(module)}](#{_anchor(module)}) | {by} |")
    for module, own in parts.items():
        text += ["", f"## {_title(module)}", *_supported(own), *_refused(own)]
    return "\n".join(text) + "\n"


def _title(module: str) -> str:
    return {"builtins": "Python's own functions", "numpy.ndarray": "Methods and attributes of arrays"}.get(
        module, module
    )


def _anchor(module: str) -> str:
    return re.sub(r"[^\w -]", "", _title(module).lower()).replace(" ", "-")


def _supported(rows: list[Row]) -> Iterator[str]:
    by_subject: dict[str, list[Row]] = {}
    for r in rows:
        if r.status != "refused":
            by_subject.setdefault(subject(r.name), []).append(r)
    for heading, own in sorted(by_subject.items()):
        if heading and len(by_subject) > 1:
            yield from ("", f"### {heading}")
        yield from ("", "| function | | a call that was run |", "|---|---|---|")
        for r in own:
            yield f"| `{shown(r.name)}` | {r.status} | `{_cell(r.text)}` |"


def _refused(rows: list[Row]) -> Iterator[str]:
    """Names that are refused in the same words stand in one line."""
    said: dict[str, list[str]] = {}
    for r in rows:
        if r.status == "refused":
            said.setdefault(_general(r), []).append(shown(r.name))
    if said:
        yield from (
            "",
            f"**Refused in {_title(rows[0].name.rpartition('.')[0])}**",
            "",
            "| functions | what transpile says |",
            "|---|---|",
        )
        for text, found in sorted(said.items(), key=lambda pair: -len(pair[1])):
            yield f"| {', '.join(f'`{n}`' for n in found)} | {_cell(_escaped(text))} |"


def _general(r: Row) -> str:
    """The message without the name."""
    text = re.sub(r"^(T130: )\S+ is not supported", r"\1… is not supported", r.text)
    text = re.sub(r"^(T402: )\S+ is not written", r"\1… is not written", text)
    return re.sub(rf"'{re.escape(r.name.rpartition('.')[2])}'", "…", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _escaped(text: str) -> str:
    return re.sub(r"([*_<>\[\]`])", r"\\\1", text)


def versions() -> str:
    import scipy

    return f"Python {sys.version.split()[0]}, NumPy {np.__version__}, SciPy {scipy.__version__}"


def write() -> int:
    rows, wrong = [], []
    for k, name in enumerate(names()):
        try:
            rows.append(quiet_row(name))
        except Exception as failed:
            wrong.append(f"{name}: {type(failed).__name__}: {failed}")
        if k % 100 == 99:
            print(f"{k + 1} of {len(names())}", flush=True)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in (versions(), *rows))
    DATA.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    PAGE.write_text(page(rows, versions()), encoding="utf-8")
    print("\n".join(wrong))
    print({s: sum(r.status == s for r in rows) for s in ORDER}, f"{len(wrong)} wrong")
    return bool(wrong)


def stored() -> tuple[str, list[Row]]:
    """The versions and the rows as they are committed."""
    first, *rows = json.loads(DATA.read_text(encoding="utf-8"))
    return first, [Row(*r) for r in rows]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(*(quiet_row(n.replace("np.", "numpy.", 1) if n.startswith("np.") else n) for n in sys.argv[1:]), sep="\n")
    else:
        sys.exit(write())
