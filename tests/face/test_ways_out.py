"""Hints fit what they are given for: what is called, the argument that is meant; a lambda has one name in all messages."""

import logging
import warnings

import numpy as np
import pytest
import scipy.sparse

import transpile as tp
from transpile.frontend.calls import ways_out

LOG = logging.getLogger("transpile.tests")
MEMBERS = {1, 2}
SPARSE = scipy.sparse.csr_matrix(np.eye(2))

CALLS = {
    "a method of a logger": (lambda x: (LOG.info("here"), x)[1], "print(...)"),
    "a function of logging": (lambda x: (logging.info("here"), x)[1], "print(...)"),
    "a warning": (lambda x: (warnings.simplefilter("error"), x)[1], "print(...)"),
    "a set that is changed": (lambda x: (MEMBERS.add(3), x)[1], "a set can only be read in the function"),
    "a product of a sparse matrix": (lambda x: np.sum(SPARSE @ np.array([x, x])), "A.toarray()"),
    "a method of a sparse matrix": (lambda x: np.sum(SPARSE.dot(np.array([x, x]))), "A.toarray()"),
    "a sparse matrix that is made": (lambda x: np.sum(scipy.sparse.diags(np.array([x, x]))), "A.toarray()"),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_hint_fits_the_thing(name):
    f, hint = CALLS[name]
    with pytest.raises(tp.TranspileError, match="T130") as failed:
        tp.grad(f)(2.0)
    assert hint in str(failed.value) and "write it in Python" not in str(failed.value)


@pytest.mark.parametrize("name", ["pandas.DataFrame.mean", "pandas.concat", "polars.DataFrame.sum"])
def test_frames(name):
    assert "to_numpy()" in ways_out.of_call(name)


def test_other_functions_have_the_hint_that_they_had():
    assert "write it in Python" in ways_out.of_call("scipy.spatial.distance.cdist")
    assert "write it in Python" in ways_out.of_call("pandasql.query")


class Model:
    def loss(self, x):
        return np.sum(x)


def at_module_level(name, x):
    return np.sum(x)


def alone(name):
    return 1.0


def test_which_argument_is_meant():
    def inside(name, x):
        return np.sum(x)

    for f in (inside, at_module_level, lambda name, x: np.sum(x)):
        for value in ("abc", None, Model()):
            with pytest.raises(tp.TranspileError, match="T302") as failed:
                tp.grad(f)(value, np.ones(3))
            assert "name another argument with argnums: argnums=1 is x" in str(failed.value)
            assert "object of a method" not in str(failed.value)
    with pytest.raises(
        tp.TranspileError, match="this is the object of the method: argnums=1 is the first argument after it"
    ):
        tp.grad(Model.loss)(Model(), np.ones(3))
    with pytest.raises(tp.TranspileError, match="T302") as failed:
        tp.grad(alone)("abc")
    assert "argnums" not in str(failed.value)


LAMBDAS = {
    "T301": (lambda x: x, (np.ones(2),), {}),
    "T302": (lambda x: x, (2,), {}),
    "T305": (lambda x: 2, (2.0,), {}),
    "T306": (lambda x: x, (2.0,), {"argnums": 3}),
    "T308": (lambda x: x, (2.0,), {"has_aux": True}),
    "T407": (lambda x: x, (2.0,), {"argnames": "y"}),
}


@pytest.mark.parametrize("code", LAMBDAS)
def test_a_lambda_has_one_name(code):
    f, args, options = LAMBDAS[code]
    with pytest.raises(tp.TranspileError, match=code) as failed:
        tp.grad(f, **options)(*args)
    assert "'<lambda>'" in str(failed.value) and "'function'" not in str(failed.value)
    with pytest.raises(tp.TranspileError, match="'function' returns"):

        def function(x):
            return x

        tp.grad(function)(np.ones(2))
