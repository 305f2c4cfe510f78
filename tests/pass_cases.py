"""Cases of the passes over loops: a pass, core text in, core text out. ``python tests/pass_cases.py`` checks all files in
`tests/loops/passes`; ``--write`` renews what they expect, ``fusion`` (part of a name) selects passes.

A file has the name of its pass (spaces as underscores). Its cases:

    == what the case shows
    x = (4, 5), n = 3           the arguments of the run: a tuple is the shape of an array; others have a default
    with threads = 2            settings of the pass, if it takes any
    f(x: float64[?], n: int):
      ...
    =>
    f(x: float64[?], n: int):   or ``unchanged``
      ...
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
if __name__ == "__main__":
    sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "runtime")]

import numpy as np  # noqa: E402
from core_reader import read  # noqa: E402
from core_runs import run  # noqa: E402
from verified import check  # noqa: E402

from transpile.analysis.overlaps import in_order  # noqa: E402
from transpile.core import nodes as ir  # noqa: E402
from transpile.core.dump import dump  # noqa: E402
from transpile.core.pass_list import Pass  # noqa: E402
from transpile.core.verify import Verifying  # noqa: E402
from transpile.core.watch import Done  # noqa: E402
from transpile.loops.passes import PASSES, Settings  # noqa: E402
from transpile.loops.size_assumptions import assumed  # noqa: E402
from transpile.ops.tables import of_dialect  # noqa: E402

FOLDER = HERE / "loops" / "passes"
UNCHANGED = "unchanged"
DRAWS = 2  # runs of each case, with other numbers


@dataclass(frozen=True)
class Case:
    """One case; ``wanted`` is the text after the pass, or "unchanged"."""

    pass_name: str
    title: str
    text: str
    wanted: str
    args: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def step(self) -> Pass:
        """The pass, as it stands in the list."""
        return next(p for p in PASSES.passes() if p.name == self.pass_name)

    def found(self) -> tuple[ir.Function, ir.Function]:
        """The function before and after the pass, both verified, with what the pass requires and ensures."""
        step, before, old = self.step, read(self.text), check(read(self.text))  # a pass may change `old` in place
        settings = Settings(**{**self.settings, **self.sizes(old)})
        new = step.run(old, *(getattr(settings, name) for name in step.given))
        Verifying(of_dialect, in_order)(Done(step.name, "loops", before, new, 0.0, step))
        return before, new

    def sizes(self, fn: ir.Function) -> dict[str, Any]:
        """The setting ``sizes``: what the arguments have, if the case asks for it by ``sizes = True``."""
        if not self.settings.get("sizes"):
            return {}
        values = self.values(fn, 0)
        return {"sizes": assumed([np.shape(values[p.name]) if p.type.dims else None for p in fn.params])}

    def values(self, fn: ir.Function, draw: int) -> dict[str, Any]:
        """The arguments of one run."""
        rng = np.random.default_rng(draw)
        return {p.name: self.value(p, rng) for p in fn.params}

    def value(self, p: ir.Var, rng: np.random.Generator) -> Any:
        given = self.args.get(p.name)
        if p.type.dims:
            sizes = [d.const if d.is_const else 4 for d in p.type.dims]
            shape = given if isinstance(given, tuple) else tuple(sizes)
            if isinstance(given, list):
                return np.array(given, p.type.dtype)
            return _drawn(p.type.dtype, shape, rng)
        return _drawn(p.type.dtype, (), rng) if given is None else given

    def body(self) -> str:
        """The case as it stands in the file, without the title."""
        lines = [", ".join(f"{k} = {v!r}" for k, v in self.args.items())] if self.args else []
        if self.settings:
            lines.append("with " + ", ".join(f"{k} = {v!r}" for k, v in self.settings.items()))
        return "\n".join([*lines, self.text, "=>", self.wanted])


def _drawn(dtype: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    kind = np.dtype(dtype).kind
    if kind == "f":
        return rng.uniform(0.5, 1.5, shape).astype(dtype)[()]
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)[()]
    return rng.integers(0, 3, shape).astype(dtype)[()]


# ------------------------------------------------------------------------------------------------------------- files


def names() -> list[str]:
    """The names of all passes over loops, each once."""
    return list(dict.fromkeys(p.name for p in PASSES.passes()))


def path_of(name: str) -> Path:
    return FOLDER / f"{name.replace(' ', '_').replace('-', '_')}.core"


def cases(name: str) -> Iterator[Case]:
    """The cases of a pass."""
    text = path_of(name).read_text(encoding="utf-8")
    for part in text.split("\n== ")[1:]:
        title, _, rest = part.strip("\n").partition("\n")
        before, arrow, wanted = rest.partition("\n=>\n")
        if not arrow:
            raise ValueError(f"{path_of(name).name}: {title}: there is no '=>'")
        lines = before.split("\n")
        args, settings = {}, {}
        while not lines[0].endswith(":"):
            if lines[0].startswith("with "):
                settings = _pairs(lines[0].removeprefix("with "))
            else:
                args = _pairs(lines[0])
            lines = lines[1:]
        yield Case(name, title, "\n".join(lines), wanted.strip("\n"), args, settings)


def heading(name: str) -> str:
    """What stands before the first case."""
    return path_of(name).read_text(encoding="utf-8").partition("\n== ")[0]


def _pairs(text: str) -> dict[str, Any]:
    call = ast.parse(f"f({text})", mode="eval").body
    assert isinstance(call, ast.Call)
    return {str(k.arg): ast.literal_eval(k.value) for k in call.keywords}


def renewed(case: Case) -> Case:
    """The case with what its pass gives."""
    old, new = case.found()
    text = dump(new)
    return replace(case, text=dump(old), wanted=UNCHANGED if text == dump(old) else text)


def problem(case: Case) -> str | None:
    """What is wrong with a case; None if nothing is."""
    old, new = case.found()
    if dump(old) != case.text:
        return f"the text in is not as dump writes it:\n{dump(old)}"
    text = dump(new)
    if text != case.wanted and (case.wanted != UNCHANGED or text != case.text):
        return f"the pass gives\n{text}"
    for draw in range(DRAWS):
        args = case.values(old, draw)
        before, after = run(old, args), run(new, args)
        if not before.agrees(after):
            return f"before it gives {before}, then {after}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?", default="", help="part of the names of passes")
    parser.add_argument("--write", action="store_true", help="renew what the cases expect")
    options = parser.parse_args()
    wrong = 0
    for name in names():
        if options.name not in name or not path_of(name).exists():
            continue
        kept = []
        for case in cases(name):
            if options.write:
                case = renewed(case)
                kept.append(f"== {case.title}\n{case.body()}\n")
            found = problem(case)
            wrong += found is not None
            if found is not None:
                print(f"{name}: {case.title}: {found}\n")
        if options.write:
            path_of(name).write_text("\n".join([heading(name).rstrip("\n") + "\n", *kept]), encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
