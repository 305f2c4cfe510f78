"""The oracle finds that a few programs are as they are frozen, and says so where one is not."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from oracle import store, values
from oracle.unoptimised import normal

ROOT = Path(__file__).parents[1]
SAMPLE = """
    straight.cubic branches.ladder whiles.square_root views.write_through_transpose indexing.mask_beside_indices
    trees.dataclass_argument dtypes.stays_float32 linalg.solve_vector lists.append_after recursion.determinant
    kernels_finance.garch bench_problems/lse bench_kernels/spmv bench_batching/linear_solve
""".split()
ONE = "straight.cubic"


def oracle(*options: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own: there programs are imported under other paths."""
    command = [sys.executable, "tests/oracle/run.py", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.quick
@pytest.mark.parametrize(
    "stages", [("source", "values"), pytest.param(("loops", "ir"), marks=pytest.mark.numba)], ids="-".join
)
def test_as_frozen(stages):
    only = [word for name in SAMPLE for word in ("--only", name)]
    found = oracle(*only, *[word for stage in stages for word in ("--stage", stage)])
    assert found.returncode == 0, found.stdout + found.stderr
    assert f"{len(SAMPLE)} programs" in found.stdout


@pytest.mark.quick
def test_a_change_is_reported(tmp_path):
    """Of a text, of a value, of a program that was refused; nothing else is."""
    shutil.copytree(store.FROZEN, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "corpus.json"
    records = json.loads(path.read_text(encoding="utf-8"))
    records[ONE]["grad"]["source"] = "0" * 12
    records[ONE]["function"]["values"]["result"] = "float: 7"
    records[ONE]["jvp"]["source"] = {"raised": "error[T101]: not this"}
    path.write_text(json.dumps(records), encoding="utf-8")
    found = oracle("--only", f"/{ONE}", "--stage", "source", "--stage", "values", "--frozen", str(tmp_path))
    assert found.returncode == 1, found.stdout + found.stderr
    assert f"corpus/{ONE} grad source: changed" in found.stdout
    assert f"corpus/{ONE} function values: result: " in found.stdout
    assert f"corpus/{ONE} jvp source: gives a text\n    frozen: error[T101]: not this" in found.stdout
    assert "3 changes" in found.stdout


def test_texts_of_another_checkout_are_shown(tmp_path):
    assert oracle("--only", f"/{ONE}", "--stage", "source", "--dump", str(tmp_path)).returncode == 0
    path = tmp_path / "corpus" / f"{ONE}.grad.source.py"
    path.write_text(path.read_text(encoding="utf-8").replace("return", "return 2 *"), encoding="utf-8")
    found = oracle("--only", f"/{ONE}", "--stage", "source", "--against", str(tmp_path))
    lines = found.stdout.splitlines()
    assert [line for line in lines if line.startswith("-    return 2 * ")], found.stdout
    assert len([line for line in lines if line.startswith("---")]) == 1, "one text differs"


@pytest.mark.quick
def test_what_is_gone_or_new_is_reported():
    old = {"corpus": {"a": {"grad": {"source": "1"}}, "b": {"grad": {"source": "1"}}}}
    new = {"corpus": {"a": {"grad": {"source": "1"}, "vmap": {"source": "3"}}}}
    found = list(store.changes(new, old, is_whole=True))
    assert found == [("corpus", "a", "vmap", "source", "is not frozen"), ("corpus", "b", "grad", "source", "is gone")]
    assert list(store.changes({}, old, is_whole=False)) == []


@pytest.mark.quick
@pytest.mark.parametrize(
    ("found", "frozen", "same"),
    [
        (np.pi, np.pi * (1 + 1e-14), True),
        (np.pi, np.pi * (1 + 1e-11), False),
        (np.array([1.0, 1e-17]), np.array([1.0, 0.0]), True),
        (np.array([1.0, np.nan, np.inf]), np.array([1.0, np.nan, np.inf]), True),
        (np.array([1.0, np.nan]), np.array([1.0, np.inf]), False),
        (np.float32(0.1), np.float32(0.1) * np.float32(1 + 2e-7), True),
        (np.float32(0.1), 0.1, False),
        (np.float64(0.5), 0.5, False),
        (np.zeros(2), np.zeros((2, 1)), False),
        (np.arange(100.0), np.arange(100.0), True),
        (np.arange(100.0), np.arange(100.0) + (np.arange(100) == 41), False),
        (np.arange(100.0), np.arange(100.0)[np.argsort(np.arange(100) == 41)], False),
        (np.arange(100), np.arange(100) + (np.arange(100) == 41), False),
        ((1.0, {"a": None}), (1.0, {"a": None}), True),
        ((1.0, {"a": None}), [1.0, {"a": None}], False),
        ({"a": 1}, {"b": 1}, False),
    ],
)
def test_values_are_compared(found, frozen, same):
    assert (not list(values.differences(values.described(found), values.described(frozen)))) is same


@pytest.mark.quick
def test_what_is_not_compared_in_code():
    """Numba's numbers of its own functions and the processor; nothing else."""
    one = 'target triple = "x86_64"\ncall @_ZN4f5shareB3v12B2xyE(i64 12)\n'
    other = 'target triple = "arm64"\ncall @_ZN4f5shareB4v345B2xyE(i64 12)\n'
    assert normal(one) == normal(other) != normal(other.replace("i64 12", "i64 13"))
