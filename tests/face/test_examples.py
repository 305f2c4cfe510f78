"""Each example runs and finds what it should: the truth it simulated, or a published value."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.numba


def load(name):
    """An example as a module, under a name that clashes with nothing."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_newton_fit_recovers_the_cell():
    result = load("newton_fit").main()
    assert result["misfit"] < result["points"]  # half the squares: about points / 2 expected
    relative = np.abs(result["fitted"] / result["truth"] - 1)
    assert np.all(relative < [0.001, 0.05, 0.1, 0.05])


def test_adaptive_ode_matches_the_exact_sensitivities():
    result = load("adaptive_ode").main()
    assert result["rejected"] > 0
    np.testing.assert_allclose(result["sensitivities"], result["exact"], rtol=1e-4)


def test_heat_control_reaches_the_wanted_temperature():
    result = load("heat_control").main()
    assert result["miss"] < 0.01
    assert np.argmax(result["start"]) == pytest.approx(np.argmax(result["bumps"]), abs=3)


def test_garch_is_within_its_standard_errors():
    result = load("garch").main()
    assert np.all(result["errors"] < [0.05, 0.05, 0.1])
    assert np.all(np.abs(result["fitted"] - result["truth"]) < 3 * result["errors"])


def test_bundle_adjustment_leaves_only_noise():
    result = load("bundle_adjustment").main()
    assert result["before"] > 10 * result["noise"]
    assert result["after"] < 1.1 * result["noise"]


def test_newton_cg_finds_the_known_cluster():
    result = load("newton_cg").main()
    assert result["energy"] == pytest.approx(result["known"], abs=1e-5)
    assert result["force"] < 1e-4


def test_one_number_times_all_that_is_there(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    found = load("one_number").main(days=50, rounds=2)
    assert {"plain Python value", "Numba value", "transpile value", "transpile value and gradient"} <= found.keys()
    assert all(np.isfinite(seconds) for seconds in found.values())


def test_digits_learns_and_writes_its_files(tmp_path, monkeypatch):
    for needed in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(needed)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    result = load("digits").main(iterations=20, out=tmp_path)
    assert result["error"] < 1e-6
    assert result["history"][-1] < result["history"][0] / 4
    assert result["held_out"] > 0.85
    compile((tmp_path / "digits_grad.py").read_text(encoding="utf-8"), "digits_grad.py", "exec")
    for name in ("loss.png", "misread.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
