"""A hidden Markov model: the gradient of the likelihood is the probability of each state.

The forward algorithm, in logarithms, is a loop of ten lines. The derivative of the log likelihood in the log probability of
an observation is the probability of the state, given all the data: reverse mode *is* the backward algorithm. The test
compares it with the forward-backward algorithm, written out.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import logsumexp

import transpile as tp

STAY = 0.95
CHANGE = np.log(np.array([[STAY, 1.0 - STAY], [1.0 - STAY, STAY]]))  # fair die, loaded die
FACES = np.log(np.array([[1 / 6] * 6, [0.1] * 5 + [0.5]]))


def log_likelihood(log_emission, log_change):
    """Of a sequence; ``log_emission[t, s]`` is the log probability of what is seen at time t in state s."""
    alpha = log_emission[0] + np.log(0.5)
    for t in range(1, len(log_emission)):
        alpha = log_emission[t] + logsumexp(alpha[:, None] + log_change, axis=0)
    return logsumexp(alpha)


def forward_backward(log_emission, log_change):
    """The same probabilities by the textbook's two passes."""
    steps, states = log_emission.shape
    alpha, beta = np.zeros((steps, states)), np.zeros((steps, states))
    alpha[0] = log_emission[0] + np.log(0.5)
    for t in range(1, steps):
        alpha[t] = log_emission[t] + logsumexp(alpha[t - 1][:, None] + log_change, axis=0)
    for t in range(steps - 2, -1, -1):
        beta[t] = logsumexp(log_change + log_emission[t + 1] + beta[t + 1], axis=1)
    return np.exp(alpha + beta - logsumexp(alpha[-1]))


def main(steps=200):
    rng = np.random.default_rng(11)
    loaded, rolls = np.zeros(steps, int), np.zeros(steps, int)
    for t in range(steps):
        change = rng.uniform() > STAY
        loaded[t] = (loaded[t - 1] + change) % 2 if t else 0
        rolls[t] = rng.choice(6, p=np.exp(FACES[loaded[t]]))
    seen = FACES[:, rolls].T.copy()
    value, (states, changes) = tp.value_and_grad(log_likelihood, argnums=(0, 1))(seen, CHANGE)
    right = np.mean((states[:, 1] > 0.5) == loaded)
    print(f"log likelihood {value:.2f}; {right:.0%} of the rolls are put down to the right die")
    print(
        f"expected changes of the die: {changes[0, 1] + changes[1, 0]:.1f}, there were {np.sum(np.diff(loaded) != 0)}"
    )
    return {"states": states, "changes": changes, "loaded": loaded, "seen": seen, "right": right}


def draw(result):
    figure, axes = plt.subplots(figsize=(8.0, 3.0))
    t = np.arange(len(result["loaded"]))
    axes.fill_between(t, result["loaded"], step="mid", alpha=0.3, label="the die is loaded")
    axes.plot(t, result["states"][:, 1], label="its probability, given the rolls")
    axes.set(xlabel="roll", ylabel="probability")
    axes.legend(loc="upper right")
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("hidden_markov.png")
