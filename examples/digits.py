"""Train a small neural network on handwritten digits, with a gradient that can be read.

The loss below is plain NumPy: one image after another through one hidden layer and a softmax.
Its gradient is generated as a Python module, written to a file, compiled, checked against
differences, and handed to SciPy's L-BFGS-B. Data: the 1,797 images that ship with scikit-learn.
"""

import time
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from tqdm import tqdm

import transpile as tp

HIDDEN = 32
CLASSES = 10
DECAY = 1e-3
HELD_OUT = 450
OUT = Path(__file__).parent / "out"


def loss(w1, b1, w2, b2, images, labels, decay):
    """Mean cross-entropy over the images, plus weight decay."""
    total = 0.0
    for i in range(len(images)):
        hidden = np.tanh(w1 @ images[i] + b1)
        score = w2 @ hidden + b2
        top = tp.stop_gradient(np.max(score))  # keeps exp from overflowing, changes no value
        total += top + np.log(np.sum(np.exp(score - top))) - score[labels[i]]
    penalty = np.sum(w1 * w1) + np.sum(w2 * w2)
    return total / len(images) + 0.5 * decay * penalty


loss_and_grad = tp.value_and_grad(loss, argnums=(0, 1, 2, 3))


def unpack(theta, pixels):
    """The two layers' weights and biases, as parts of one vector."""
    shapes = [(HIDDEN, pixels), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    parts = np.split(theta, ends[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def pack(arrays):
    return np.concatenate([a.ravel() for a in arrays])


def predict(layers, images):
    w1, b1, w2, b2 = layers
    return np.argmax(np.tanh(images @ w1.T + b1) @ w2.T + b2, axis=1)


def read_data(rng):
    """Images scaled to [0, 1] and labels, shuffled, for training and held out."""
    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images, labels = digits.data[order] / 16.0, digits.target[order]
    return (images[HELD_OUT:], labels[HELD_OUT:]), (images[:HELD_OUT], labels[:HELD_OUT])


def difference_error(gradient, theta, direction, data, step=1e-5):
    """Relative error of a directional derivative against a central difference."""
    images, labels = data
    pixels = images.shape[1]
    ahead = loss(*unpack(theta + step * direction, pixels), images, labels, DECAY)
    behind = loss(*unpack(theta - step * direction, pixels), images, labels, DECAY)
    expected = (ahead - behind) / (2 * step)
    _, parts = gradient(*unpack(theta, pixels), images, labels, DECAY)
    return abs(pack(parts) @ direction - expected) / abs(expected)


def milliseconds(function, *args, repeat=5):
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        function(*args)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def train(gradient, theta, data, iterations):
    """The trained vector and the loss after each iteration."""
    images, labels = data
    pixels = images.shape[1]
    history = []

    def objective(theta):
        value, parts = gradient(*unpack(theta, pixels), images, labels, DECAY)
        return value, pack(parts)

    with tqdm(total=iterations, desc="training", unit="it", ncols=80) as bar:

        def show(intermediate_result):
            history.append(float(intermediate_result.fun))
            bar.set_postfix(loss=f"{history[-1]:.4f}", refresh=False)
            bar.update()

        limit = {"maxiter": iterations}
        fit = minimize(objective, theta, jac=True, method="L-BFGS-B", callback=show, options=limit)
    return fit.x, history


def save_curve(history, path):
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.semilogy(range(1, len(history) + 1), history)
    axes.set(xlabel="L-BFGS iteration", ylabel="loss", title="Training")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def save_misread(data, read, path, columns=6, limit=24):
    images, labels = data
    wrong = np.flatnonzero(read != labels)[:limit]
    rows = max(1, -(-len(wrong) // columns))
    figure, grid = plt.subplots(rows, columns, figsize=(7, 1.5 * rows), layout="constrained")
    for axes in grid.flat:
        axes.axis("off")
    for axes, k in zip(grid.flat, wrong, strict=False):
        axes.imshow(images[k].reshape(8, 8), cmap="gray_r")
        axes.set_title(f"{labels[k]} read as {read[k]}", fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(iterations=150, out=OUT):
    matplotlib.use("Agg")
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    training, held_out = read_data(rng)
    images, labels = training
    pixels = images.shape[1]
    layers = [
        rng.normal(0.0, 1.0 / np.sqrt(pixels), (HIDDEN, pixels)),
        np.zeros(HIDDEN),
        rng.normal(0.0, 1.0 / np.sqrt(HIDDEN), (CLASSES, HIDDEN)),
        np.zeros(CLASSES),
    ]
    theta = pack(layers)
    example = (*layers, images, labels, DECAY)

    text = tp.source(loss_and_grad, *example)
    module = out / "digits_grad.py"
    module.write_text(text, encoding="utf-8")
    print(text)
    print(f"written to {module}\n")

    start = time.perf_counter()
    compiled = tp.jit(loss_and_grad)
    compiled(*example)
    print(f"compiled in {time.perf_counter() - start:.1f} s (less when the cache has it)")

    point = theta + 0.1 * rng.normal(size=theta.shape)
    error = difference_error(compiled, point, rng.normal(size=theta.shape), training)
    print(f"relative error against central differences at a random point: {error:.1e}")

    interpreted_ms = milliseconds(loss_and_grad, *example, repeat=3)
    compiled_ms = milliseconds(compiled, *example)
    print(f"one gradient: {interpreted_ms:.1f} ms interpreted, {compiled_ms:.2f} ms compiled")

    theta, history = train(compiled, theta, training, iterations)
    layers = unpack(theta, pixels)
    read = predict(layers, held_out[0])
    train_accuracy = float(np.mean(predict(layers, images) == labels))
    accuracy = float(np.mean(read == held_out[1]))
    print(f"accuracy: {train_accuracy:.1%} training, {accuracy:.1%} held out")

    save_curve(history, out / "loss.png")
    save_misread(held_out, read, out / "misread.png")
    print(f"wrote {out / 'loss.png'} and {out / 'misread.png'}")
    return {"error": error, "history": history, "train": train_accuracy, "held_out": accuracy}


if __name__ == "__main__":
    main()
