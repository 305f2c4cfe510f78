"""Meta-learning (MAML): find a start from which one gradient step learns a new task.

The loss of a task is taken after a step of gradient descent on a few of its points, and is differentiated through that step: a
gradient of a gradient. Tasks are sine waves, the model is linear in fixed waves. It is quadratic in the weights, so
that the test has the derivative through the step in closed form.
"""

import matplotlib.pyplot as plt
import numpy as np

import transpile as tp

RATE = 0.2
FREQUENCIES = np.arange(1, 5)


def features(x):
    angles = x[:, None] * FREQUENCIES
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def loss(w, x, y):
    return np.mean((features(x) @ w - y) ** 2)


def adapted(w, x, y):
    """The weights after one step on the points of a task."""
    return w - RATE * tp.grad(loss)(w, x, y)


def meta_loss(w, x, y, new_x, new_y):
    """The mean loss of all tasks on new points, each after its own step."""

    def of_task(x, y, new_x, new_y):
        return loss(adapted(w, x, y), new_x, new_y)

    return np.mean(tp.vmap(of_task)(x, y, new_x, new_y))


def tasks(count, points, rng):
    """Sine waves of frequency 2: points to learn from, and new ones."""
    amplitude, phase = rng.uniform(1.0, 2.0, (count, 1)), rng.uniform(0.0, 1.0, (count, 1))
    x, new_x = rng.uniform(-3.0, 3.0, (2, count, points))
    return x, amplitude * np.sin(2.0 * x + phase), new_x, amplitude * np.sin(2.0 * new_x + phase)


def main(steps=400):
    rng = np.random.default_rng(1)
    step = tp.jit(tp.value_and_grad(meta_loss))
    w = np.zeros(2 * len(FREQUENCIES))
    history = np.zeros(steps)
    for k in range(steps):
        history[k], change = step(w, *tasks(10, 5, rng))
        w = w - 0.05 * change
    x, y, new_x, new_y = tasks(200, 5, rng)
    start = [loss(np.zeros_like(w), a, b) for a, b in zip(new_x, new_y, strict=True)]
    before = [loss(w, a, b) for a, b in zip(new_x, new_y, strict=True)]
    after = [loss(adapted(w, *t[:2]), *t[2:]) for t in zip(x, y, new_x, new_y, strict=True)]
    means = [float(np.mean(losses)) for losses in (start, before, after)]
    print("mean loss of new tasks: zero weights {:.3f}, meta-learned {:.3f}, after one step {:.3f}".format(*means))
    problem = tasks(3, 5, rng)
    return {"history": history, "w": w, "losses": means, "problem": problem, "gradient": step(w, *problem)[1]}


def draw(result):
    figure, axes = plt.subplots()
    smooth = np.convolve(result["history"], np.ones(20) / 20.0, "valid")
    axes.semilogy(result["history"], alpha=0.3, label="each meta step")
    axes.semilogy(np.arange(10, 10 + len(smooth)), smooth, label="mean of twenty")
    axes.set(xlabel="meta step", ylabel="loss after one step on the task")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("maml.png")
