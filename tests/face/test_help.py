"""What `help`, editors and ``inspect.signature`` show of a transformed function."""

from __future__ import annotations

import functools
import inspect
import pydoc

import numpy as np
import pytest

import transpile as tp


def loss(w, x, scale=2.0, *, power: int = 2) -> float:
    """The loss of a linear model.

    It is a sum.
    """
    return scale * np.sum((x @ w) ** power)


def plain(x):
    return np.sum(x)


def spread(*values):
    return values[0] * values[1]


class Model:
    """A model."""

    def loss(self, w):
        """The model's loss."""
        return np.sum(w)

    def __call__(self, w):
        return np.sum(w)


@tp.custom_jvp
def ruled(x):
    """It has a rule."""
    return x * x


TEXT = "The loss of a linear model.\n\nIt is a sum."
SHOWN = [
    (tp.grad(loss), f"The gradient of loss with respect to w.\n\n{TEXT}"),
    (tp.grad(loss, argnums=(0, 1)), f"The gradient of loss with respect to w and x.\n\n{TEXT}"),
    (tp.grad(loss, argnums=-1, argnames="power"), f"The gradient of loss with respect to scale and power.\n\n{TEXT}"),
    (tp.grad(loss, argnames=["w", "x", "scale"]), f"The gradient of loss with respect to w, x and scale.\n\n{TEXT}"),
    (tp.value_and_grad(loss), f"The value of loss and its gradient with respect to w.\n\n{TEXT}"),
    (tp.jacfwd(plain), "The Jacobian of plain with respect to x."),
    (tp.jacrev(tp.grad(plain)), "The Hessian of plain with respect to x."),
    (
        tp.jacrev(tp.grad(loss), argnums=1),
        f"The Jacobian with respect to x of the gradient of loss with respect to w.\n\n{TEXT}",
    ),
    (tp.hessian(plain), "The Hessian of plain with respect to x."),
    (tp.hessian(loss, argnums=1), f"The Hessian of loss with respect to x.\n\n{TEXT}"),
    (tp.vmap(plain), "The result of plain for each element of a batch."),
    (tp.vmap(tp.grad(plain)), "The gradient of plain with respect to x for each element of a batch."),
    (tp.jit(tp.vmap(plain)), "The result of plain for each element of a batch."),
    (tp.jit(loss), TEXT),
    (tp.jit(plain), None),
    (tp.jit(tp.grad(loss)), f"The gradient of loss with respect to w.\n\n{TEXT}"),
    (tp.grad(lambda x: x * x), "The gradient of a lambda function with respect to x."),
    (tp.grad(spread, argnums=(0, 1)), "The gradient of spread with respect to argument 0 and argument 1."),
    (tp.grad(Model().loss), "The gradient of loss with respect to w.\n\nThe model's loss."),
    (tp.grad(Model()), "The gradient of an object of class Model with respect to w."),
    (tp.grad(functools.partial(loss, scale=1.0)), f"The gradient of loss with respect to w.\n\n{TEXT}"),
    (tp.grad(ruled), "The gradient of ruled with respect to x.\n\nIt has a rule."),
    (tp.grad(plain, argnums=5), "The gradient of plain with respect to argument 5."),
]


@pytest.mark.parametrize("function, text", SHOWN, ids=[str(k) for k in range(len(SHOWN))])
def test_the_docstring(function, text):
    assert function.__doc__ == text


def test_help_shows_signature_and_text():
    shown = pydoc.plain(pydoc.render_doc(tp.grad(loss)))
    assert "loss(w, x, scale=2.0, *, power: " in shown and "-> " not in shown
    assert "The gradient of loss with respect to w." in shown and "It is a sum." in shown


@pytest.mark.parametrize("transform", [tp.grad, tp.value_and_grad, tp.jacfwd, tp.hessian, tp.vmap])
def test_the_signature_leaves_out_what_is_not_returned(transform):
    found = inspect.signature(transform(loss))
    assert list(found.parameters) == ["w", "x", "scale", "power"] and found.parameters["scale"].default == 2.0
    assert found.return_annotation is inspect.Signature.empty
    assert inspect.signature(tp.jit(loss)) == inspect.signature(loss)
    assert inspect.signature(transform(Model().loss)).parameters.keys() == {"w"}


def test_a_class_and_its_methods():
    class Fitted:
        @tp.grad
        def slope(self, w):
            """The slope."""
            return np.sum(w)

        @functools.partial(tp.grad, argnums=1)
        def other(self, w):
            """The other slope."""
            return np.sum(w * w)

    assert Fitted.other.__doc__ == "The gradient of other with respect to w.\n\nThe other slope."
    assert list(inspect.signature(Fitted.other).parameters) == ["self", "w"]
    assert list(inspect.signature(Fitted().other).parameters) == ["w"]
    assert "other(self, w)" in pydoc.plain(pydoc.render_doc(Fitted))


def test_the_class_of_transformed_functions():
    shown = type(tp.grad(loss))
    assert shown.__doc__.startswith("A function under one transform")
    assert "A function under one transform" in pydoc.plain(pydoc.render_doc(shown))


def test_a_wrapper_around_it_and_a_text_of_ones_own():
    slope = tp.grad(loss)

    @functools.wraps(slope)
    def checked(*args):
        return slope(*args)

    assert checked.__doc__ == slope.__doc__ and list(inspect.signature(checked).parameters) == [
        "w",
        "x",
        "scale",
        "power",
    ]
    own = tp.grad(lambda x: x * x * x)
    own.__doc__ = "Three squares."
    assert own.__doc__ == "Three squares." and own(2.0) == 12.0
    assert tp.grad(loss)(np.ones(2), np.ones((3, 2))).shape == (2,)


def test_what_is_called_without_a_signature():
    """Some built-in functions have none: neither `help` nor the docstring fails."""
    slope = tp.grad(np.hypot)
    assert slope.__doc__.startswith("The gradient of hypot with respect to ")
    assert "hypot" in pydoc.plain(pydoc.render_doc(slope))
