"""The overhead of a call, and of starting a process: ours compared with Numba alone and JAX, for the smallest of gradients.

``python tests/bench/calls.py`` prints a table and writes it to ``results/calls.md``. Calls are timed in interleaved rounds, by
processor time, the least of many; processes are started in turn, and timed by the clock as well.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE.parent), str(ROOT)]

from bench import environment  # noqa: E402

TABLE = HERE / "results" / "calls.md"
CALLS = {
    "a Python float, one gradient": "cube(1.5)",
    "five arrays of 5, five gradients": "five(*xs)",
    "the same in a dict of dicts": "tree(p)",
    "the same, by name": "five(a=xs[0], b=xs[1], c=xs[2], d=xs[3], e=xs[4])",
    "one array of 5, a captured array": "one(xs[0])",
    "one array of 5, written in place": "write(xs[0])",
}
SCRIPTS = {
    "import numba": "import numba",
    "numba, a cached gradient": """
import numba
from by_hand import gradient
gradient(1.5)
""",
    "transpile, a cached gradient": """
import numba
import transpile as tp
from program import loss
tp.jit(tp.grad(loss))(w, x, y)
""",
    "transpile, a gradient of ten lines, cached": """
import transpile as tp
from program import ten_lines
tp.jit(tp.value_and_grad(ten_lines))(w, x, y)
""",
    "transpile, the same without a cache": """
import os, tempfile
with tempfile.TemporaryDirectory() as folder:
    os.environ["TRANSPILE_CACHE_DIR"] = folder
    import transpile as tp
    from program import ten_lines
    tp.jit(tp.value_and_grad(ten_lines))(w, x, y)
""",
    "JAX, a gradient of ten lines": """
import jax
import jax.numpy as np
import program
jax.jit(jax.value_and_grad(program.jax_ten_lines))(w, x, y)
""",
    "JAX, a gradient": """
import jax
import jax.numpy as np
import program
jax.jit(jax.grad(program.jax_loss))(w, x, y)
""",
}
DATA = """
import numpy
w, x, y = numpy.ones(3), numpy.ones((7, 3)), numpy.ones(7)
"""
BY_HAND = """
import numba


@numba.njit("float64(float64)", cache=True)
def gradient(x):
    return 3.0 * x * x
"""
PROGRAM = """
import numpy as np


def loss(w, x, y):
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)


def ten_lines(w, x, y):
    z = x @ w
    p = np.logaddexp(0.0, z) - y * z
    scale = np.sqrt(np.sum(w * w) + 1.0)
    total = 0.0
    for k in range(len(w)):
        weight = w[k] / scale
        total += weight ** 2
    tilt = np.sin(w[0]) * 0.1
    return np.mean(p) + 0.5 * total + tilt


def jax_ten_lines(w, x, y):
    import jax.numpy as np
    z = x @ w
    p = np.logaddexp(0.0, z) - y * z
    scale = np.sqrt(np.sum(w * w) + 1.0)
    total = 0.0
    for k in range(len(w)):
        weight = w[k] / scale
        total += weight ** 2
    tilt = np.sin(w[0]) * 0.1
    return np.mean(p) + 0.5 * total + tilt


def jax_loss(w, x, y):
    import jax.numpy as np
    z = x @ w
    return np.mean(np.logaddexp(0.0, z) - y * z)
"""


# --------------------------------------------------------------------------------------------------------- calls


def ours(np: Any, xs: Any) -> dict[str, Any]:
    """The functions, by the names used in the statements."""
    import transpile as tp

    table = np.ones(5)

    def cube(x):
        return x * x * x

    def five(a, b, c, d, e):
        return np.sum(a * b + c * d * e)

    def tree(p):
        q = p["q"]
        return np.sum(p["a"] * p["b"] + q["c"] * q["d"] * q["e"])

    def one(a):
        return np.sum(a * a * table)

    def write(a):
        a[0] = a[1] * 2.0

    numbers = tp.grad(five, argnums=(0, 1, 2, 3, 4))
    names = {"cube": tp.grad(cube), "five": numbers, "tree": tp.grad(tree), "one": tp.grad(one), "write": write}
    return {name: tp.jit(f) for name, f in names.items()}


def by_numba(np: Any, xs: Any) -> dict[str, Any]:
    """The same functions as one would write them by hand."""
    from numba import njit

    table = np.ones(5)

    @njit
    def cube(x):
        return 3.0 * x * x

    @njit
    def five(a, b, c, d, e):
        n = a.shape[0]
        a_bar, b_bar, c_bar, d_bar, e_bar = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            a_bar[i], b_bar[i] = b[i], a[i]
            c_bar[i], d_bar[i], e_bar[i] = d[i] * e[i], c[i] * e[i], c[i] * d[i]
        return a_bar, b_bar, c_bar, d_bar, e_bar

    @njit
    def with_table(a, table):
        a_bar = np.empty(a.shape[0])
        for i in range(a.shape[0]):
            a_bar[i] = 2.0 * a[i] * table[i]
        return a_bar

    @njit
    def write(a):
        a[0] = a[1] * 2.0

    return {"cube": cube, "five": five, "one": lambda a: with_table(a, table), "write": write}


def by_jax(np: Any, xs: Any) -> dict[str, Any]:
    """The same functions in `jax.numpy`, with waiting for the results."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    table = jnp.ones(5)

    def five(a, b, c, d, e):
        return jnp.sum(a * b + c * d * e)

    def tree(p):
        return jnp.sum(p["a"] * p["b"] + p["q"]["c"] * p["q"]["d"] * p["q"]["e"])

    made = {
        "cube": jax.grad(lambda x: x * x * x),
        "five": jax.grad(five, argnums=(0, 1, 2, 3, 4)),
        "tree": jax.grad(tree),
        "one": jax.grad(lambda a: jnp.sum(a * a * table)),
    }
    ready = jax.block_until_ready

    def waited(f):
        compiled = jax.jit(f)
        return lambda *args: ready(compiled(*args))

    return {name: waited(f) for name, f in made.items()}


PEERS = {"transpile": ours, "Numba alone": by_numba, "JAX": by_jax}


def time_calls(rounds: int) -> dict[str, dict[str, float]]:
    """The seconds of each call by peer; a peer is left out if it is not installed, or lacks the function."""
    import numpy as np

    xs = [np.linspace(0.1, 1.0, 5) + k for k in range(5)]
    data = {"xs": xs, "p": {"a": xs[0], "b": xs[1], "q": {"c": xs[2], "d": xs[3], "e": xs[4]}}}
    timers: dict[tuple[str, str], tuple[timeit.Timer, int]] = {}
    for peer, make in PEERS.items():
        try:
            scope = {**data, **make(np, xs)}
        except ImportError:
            continue
        for what, statement in CALLS.items():
            if statement.partition("(")[0] not in scope or (peer == "JAX" and "a=" in statement):
                continue
            timer = timeit.Timer(statement, timer=time.process_time, globals=scope)
            timer.timeit(50)
            once = timer.timeit(200) / 200
            timers[what, peer] = timer, max(int(0.02 / max(once, 1e-8)), 100)
    best: dict[str, dict[str, float]] = {what: {} for what in CALLS}
    for _ in range(rounds):
        for (what, peer), (timer, count) in timers.items():
            best[what][peer] = min(best[what].get(peer, 1.0), timer.timeit(count) / count)
    return best


# ----------------------------------------------------------------------------------------------------- processes


def time_processes(rounds: int) -> dict[str, list[tuple[float, float]]]:
    """The seconds of each script as a process of its own, with full caches: processor time and clock time."""
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("program.py", PROGRAM), ("by_hand.py", BY_HAND)):
            Path(folder, name).write_text(text, encoding="utf-8")
        env = {**os.environ, "TRANSPILE_CACHE_DIR": str(Path(folder, "cache")), "PYTHONPATH": str(ROOT)}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        commands = {name: [sys.executable, "-c", DATA + script] for name, script in SCRIPTS.items()}
        for name, command in commands.items():  # fills the caches, and shows which peers are installed
            if all(subprocess.run(command, cwd=folder, env=env, capture_output=True).returncode == 0 for _ in range(2)):
                found[name] = []
        for _ in range(rounds):
            for name in found:
                start, used = time.perf_counter(), used_by_children()
                subprocess.run(commands[name], cwd=folder, env=env, check=True, capture_output=True)
                found[name].append((used_by_children() - used, time.perf_counter() - start))
    return found


def used_by_children() -> float:
    """The processor time of all ended child processes."""
    try:
        import resource
    except ImportError:  # not on Unix: clock time
        return time.perf_counter()
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


# --------------------------------------------------------------------------------------------------------- table


def table(calls: dict[str, dict[str, float]], processes: dict[str, list[tuple[float, float]]]) -> str:
    """Both results as Markdown."""
    lines = ["# What a call costs", "", f"Measured on {environment.measured_on()}.", ""]
    lines += [f"| µs a call | {' | '.join(PEERS)} |", f"| --- |{' --- |' * len(PEERS)}"]
    for what, times in calls.items():
        shown = [f"{1e6 * times[peer]:.2f}" if peer in times else "–" for peer in PEERS]
        lines.append(f"| {what} | {' | '.join(shown)} |")
    lines += [
        "",
        "| s of a process that begins | processor, least | median | more than `import numba` | clock, least |",
    ]
    lines.append("| --- |" + " --- |" * 4)
    own = {name: [used for used, _ in times] for name, times in processes.items()}
    for name, used in own.items():
        more = f"{min(used) - min(own['import numba']):+.3f}" if "import numba" in own else "–"
        clock = min(passed for _, passed in processes[name])
        lines.append(f"| {name} | {min(used):.3f} | {statistics.median(used):.3f} | {more} | {clock:.3f} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15, help="of calls")
    parser.add_argument("--processes", type=int, default=9, help="rounds of processes")
    options = parser.parse_args(arguments)
    environment.pin()
    text = table(time_calls(options.rounds), time_processes(options.processes))
    print(text)
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
