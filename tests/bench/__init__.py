"""Gradients compared with those of JAX, PyTorch and hand-written C: `run` measures the problems of `suites`. Never a timed
test."""
