"""Faults planted in loop core: the verifier refuses them, or a run gives something else. ``python tests/mutants/run.py``."""
