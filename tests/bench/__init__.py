"""Gradients beside those of JAX, PyTorch and C written by hand: `run` measures the problems of `suites`. Never a timed test."""
