"""``value_and_grad`` warns where the function itself does, of the same and as often; ``grad`` of nothing."""

import warnings

import numpy as np
import pytest

import transpile as tp


def logarithm(x):
    return np.sum(np.log(x))


def root(x):
    """Only its derivative divides by zero."""
    return np.sum(np.sqrt(x))


def shielded(x, scale=2.0):
    with np.errstate(all="ignore"):
        return np.sum(np.log(x)) * scale


def grows(x):
    print("seen")
    return np.sum(np.exp(x) / np.exp(x))


def keyword(x, *, base=2.0):
    return np.sum(np.log(x * base))


def vanishing(x):
    return np.sum(np.exp(-x))


class Model:
    def __call__(self, x):
        return np.sum(np.arccos(x))


CASES = [
    (logarithm, np.array([-1.0, 1.0]), {}),
    (logarithm, np.array([0.0, -1.0]), {}),
    (logarithm, 0.0, {}),
    (logarithm, np.ones(2), {}),
    (root, np.zeros(2), {}),
    (shielded, np.array([-1.0]), {}),
    (shielded, np.array([-1.0]), {"scale": 3.0}),
    (grows, np.array([1e3, 1.0]), {}),
    (keyword, np.array([1.0]), {"base": -1.0}),
    (vanishing, np.array([1e4]), {}),
    (Model(), np.array([2.0]), {}),
]


def said(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [(str(w.message), w.category, w.filename, w.lineno) for w in found]


@pytest.mark.parametrize(("f", "x", "more"), CASES)
def test_as_the_function(f, x, more, capsys):
    both, gradient = tp.value_and_grad(f), tp.grad(f)
    expected = said(lambda: f(x, **more))
    printed = capsys.readouterr().out
    for _ in range(3):
        assert said(lambda: both(x, **more)) == expected
        assert capsys.readouterr().out == printed  # what it prints it prints once
        assert said(lambda: gradient(x, **more)) == []
        capsys.readouterr()


@pytest.mark.parametrize("how", ["ignore", "warn"])
def test_as_numpy_is_set(how):
    both = tp.value_and_grad(logarithm)
    with np.errstate(all=how):
        for _ in range(3):
            assert bool(said(lambda: both(np.array([-1.0])))) == (how == "warn")


def test_of_faults_that_are_asked_for():
    seen = []
    both = tp.value_and_grad(logarithm)
    with np.errstate(all="call", call=lambda kind, flag: seen.append(kind)):
        both(np.array([-1.0]))
    assert "invalid value" in seen
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        both(np.array([-1.0]))
