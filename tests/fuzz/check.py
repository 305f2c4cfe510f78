"""Runs one random program: first in plain NumPy, to see that it is a fair test, then through the compiler."""

from __future__ import annotations

import importlib.util
import linecache
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

TESTS = str(Path(__file__).parent.parent)
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)

from differences import (  # noqa: E402
    Difference,
    Subject,
    Unstable,
    check_against_differences,
    check_jvp,
    check_second,
    check_vjp,
    floats,
    same_tree,
)

HUGE = 1e4  # a program with larger numbers is not a fair test


class Unfair(Exception):
    """The program is not a fair test: it fails in plain NumPy, grows without bound, or has a kink here."""


@dataclass(frozen=True)
class Failure:
    """A failure. Two failures are of the same sort if their ``stage`` and ``kind`` agree."""

    stage: str
    kind: str
    message: str

    def is_like(self, other: Failure | None) -> bool:
        return other is not None and (self.stage, self.kind) == (other.stage, other.kind)


def load(text: str, name: str, folder: Path) -> ModuleType:
    """The module of a program, loaded from a file so that its source is found."""
    path = folder / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    linecache.checkcache(str(path))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    code = compile(text, str(path), "exec")  # not through the loader, whose cache compares times in whole seconds
    exec(code, module.__dict__)
    return module


def limited(run: Callable[[], Any], seconds: float, error: type[BaseException], kind: str = "VIRTUAL") -> Any:
    """The result of ``run``; raises ``error`` if it takes longer.

    Only computing time counts, not waiting, since the machine may be busy. A call that may wait for ever is limited by the
    clock (``"REAL"``).
    """
    if not hasattr(signal, "setitimer"):
        return run()
    timer, alarm = {
        "REAL": (signal.ITIMER_REAL, signal.SIGALRM),
        "VIRTUAL": (signal.ITIMER_VIRTUAL, signal.SIGVTALRM),
    }[kind]

    def stop(number: int, frame: Any) -> None:
        raise error(f"no end after {seconds} s")

    before = signal.signal(alarm, stop)
    signal.setitimer(timer, seconds)
    try:
        return run()
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)


def fair(module: ModuleType) -> Subject:
    """The program as a subject of the checks; raises `Unfair`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value = module.program(*module.args())
    except Exception as e:
        raise Unfair(f"plain: {type(e).__name__}: {e}") from e
    subject = Subject(module.program, module.args, module.WRT)
    numbers = np.concatenate([np.ravel(leaf) for leaf in floats(value)] or [np.zeros(0)])
    if not np.all(np.abs(numbers) < HUGE):
        raise Unfair("its numbers are not bounded")
    try:
        d = subject.difference
        check_against_differences(d.leaves, subject.value, d, "plain", subject.tol)
    except Unstable as e:
        raise Unfair(str(e)) from e
    slopes = np.concatenate([np.ravel(leaf) for leaf in d.leaves] or [np.zeros(0)])
    if not np.all(np.abs(slopes) < HUGE):
        raise Unfair("its slopes are not bounded")
    return subject


def check(subject: Subject, second: bool = False, compiled: bool = False, lanes: bool = False) -> Failure | None:
    """The first failure, or None: value and forward mode, reverse mode, and on request second order and compiled code; with
    ``lanes`` instead `vmap` of the program and of its derivatives."""
    import transpile as tp

    stages: list[tuple[str, Callable[[], Any]]] = [
        ("jvp", lambda: check_jvp(subject, tp.jvp)),
        ("vjp", lambda: check_vjp(subject, tp.jvp, tp.vjp)),
    ]
    if isinstance(subject.value, float) or (isinstance(subject.value, tuple) and isinstance(subject.value[0], float)):
        stages.append(("value_and_grad", lambda: check_value_and_grad(subject, tp)))
    if second and isinstance(subject.value, float):
        stages.append(("second", lambda: check_second(subject, tp)))
    if compiled:
        stages.append(("compiled", lambda: check_compiled(subject, tp)))
    if lanes:
        from fuzz.lanes import stages as of_lanes

        stages = of_lanes(subject, tp, compiled)
    for stage, run in stages:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                run()
        except Unstable:
            if stage != "second":
                raise
        except Exception as e:
            return Failure(stage, kind_of(e), str(e))
    return None


def check_value_and_grad(subject: Subject, tp: Any) -> None:
    """Checks the gradient with respect to all arguments together; of the first result if there are others (``has_aux``)."""
    has_aux = isinstance(subject.value, tuple)
    wrt = subject.wrt if len(subject.wrt) > 1 else subject.wrt[0]
    value, gradient = tp.value_and_grad(subject.f, argnums=wrt, has_aux=has_aux)(*subject.args())
    same_tree(value, subject.value, "value of value_and_grad", 1e-11)
    gradients = gradient if isinstance(wrt, tuple) else (gradient,)
    pairs = zip(floats(gradients), floats(tuple(subject.tangents[k] for k in subject.wrt)), strict=True)
    slope = sum(float(np.sum(g * t)) for g, t in pairs)
    first = Difference(subject.difference.leaves[:1], subject.difference.errors[:1])
    check_against_differences([slope], floats(subject.value)[:1], first, "value_and_grad", subject.tol)


def check_compiled(subject: Subject, tp: Any) -> None:
    """Checks that compiled value and gradient equal the interpreted ones."""
    same_tree(tp.jit(subject.f)(*subject.args()), subject.value, "jit", 1e-9, 1e-3)
    gradient = tp.grad(summed(subject), argnums=subject.wrt)
    same_tree(tp.jit(gradient)(*subject.args()), gradient(*subject.args()), "jit of grad", 1e-9, 1e-3)


def summed(subject: Subject) -> Callable[..., Any]:
    """The program with the sum of all its results, unless it returns one number; it gets its own copies of the arguments."""
    f = subject.f
    if isinstance(subject.value, float):
        return f
    if isinstance(subject.value, tuple):
        return lambda *args: sum(np.sum(part) for part in f(*(own(a) for a in args)))
    return lambda *args: np.sum(f(*(own(a) for a in args)))


def own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def kind_of(e: Exception) -> str:
    """The exception's type, with the code of a diagnostic, the compared quantity of a comparison, or the place where it was
    raised."""
    codes = [d.code for d in getattr(e, "diagnostics", ())]
    if codes:
        return f"{type(e).__name__} {' '.join(codes)}"
    if isinstance(e, AssertionError) and str(e):
        return f"AssertionError {str(e).split(':')[0].split(',')[0]}"
    frames = traceback.extract_tb(e.__traceback__)
    last = frames[-1]
    file = "generated" if last.filename.startswith("<transpile") else Path(last.filename).name
    return f"{type(e).__name__} in {file}" + (f" {last.name}" if file != "generated" else "")


def check_text(text: str, name: str = "fuzzed", folder: Path | None = None, **options: bool) -> Failure | None:
    """`check` for a program's text; raises `Unfair`."""
    with tempfile.TemporaryDirectory() as temporary:
        return check(fair(load(text, name, folder or Path(temporary))), **options)
