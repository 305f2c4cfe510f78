"""What a gradient costs, compared with its function: `run` measures `kernels`. Reports; never a timed test."""
