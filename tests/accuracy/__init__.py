"""How far the vector functions are from the truth, and how fast: `make accuracy`."""
