"""Functions written in terms of other NumPy functions: plain Python, lifted like user code (``Entry(source=...)``)."""

from __future__ import annotations

from transpile.numpy_api.library_special import *  # noqa: F403  (huber, log_softmax, logsumexp, softmax, ...)
