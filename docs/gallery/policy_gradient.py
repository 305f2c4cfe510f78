"""A policy gradient: learn to balance, and find the controller that theory says is best.

A cart drifts and is pushed around. The policy is linear in position and velocity; its cost is the mean over a batch of random
starts, simulated together with `vmap`. Gradient descent moves the policy. For a linear system with quadratic cost the best policy
is known from the Riccati equation, which the test solves.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import solve_discrete_are

import transpile as tp

MOVE = np.array([[1.0, 0.1], [0.0, 1.0]])
PUSH = np.array([0.0, 0.1])
PRICE = 0.1  # of a unit of force, beside the squared distance from the middle


def episode(policy, state, steps):
    """The cost of one start."""
    total = 0.0
    for _ in range(steps):
        force = policy @ state
        total += 0.1 * (state @ state + PRICE * force**2)
        state = MOVE @ state + PUSH * force
    return total


def cost(policy, starts, steps):
    return np.mean(tp.vmap(episode, in_axes=(None, 0, None))(policy, starts, steps))


def best_policy():
    """From the algebraic Riccati equation."""
    push = PUSH[:, None]
    price = np.array([[0.1 * PRICE]])
    p = solve_discrete_are(MOVE, push, 0.1 * np.eye(2), price)
    return -np.linalg.solve(price + push.T @ p @ push, push.T @ p @ MOVE)[0]


def main(updates=400, steps=150):
    rng = np.random.default_rng(0)
    gradient = tp.jit(tp.value_and_grad(cost))
    policy = np.array([-0.5, -0.5])
    costs = np.zeros(updates)
    for k in range(updates):
        costs[k], slope = gradient(policy, rng.normal(size=(20, 2)), steps)
        policy = policy - 0.5 * slope / (1.0 + np.linalg.norm(slope))
    best = best_policy()
    starts = rng.normal(size=(500, 2))
    excess = cost(policy, starts, steps) / cost(best, starts, steps) - 1.0
    print("learned policy", np.round(policy, 3), " best policy", np.round(best, 3))
    print(f"its cost is {excess:.2%} above the best")
    return {"policy": policy, "best": best, "costs": costs, "excess": excess, "steps": steps}


def draw(result):
    figure, axes = plt.subplots()
    for name, policy in (("first", np.array([-0.5, -0.5])), ("learned", result["policy"]), ("best", result["best"])):
        state, positions = np.array([1.0, 0.0]), []
        for _ in range(result["steps"]):
            positions.append(state[0])
            state = MOVE @ state + PUSH * (policy @ state)
        axes.plot(0.1 * np.arange(result["steps"]), positions, "--" if name == "best" else "-", label=name)
    axes.set(xlabel="seconds", ylabel="position")
    axes.legend()
    return figure


if __name__ == "__main__":
    draw(main()).savefig("policy_gradient.png")
