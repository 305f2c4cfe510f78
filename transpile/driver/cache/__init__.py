"""Compiled programs on disk: a new process loads them without parsing or transforming anything.

`directory` finds the cache directory and checks that it can be trusted. `cached_kernels` stores object code under a hash of the
lowered functions. `cached_calls` stores, under a hash of the function and of the arguments' structure and types, the rest of a
program and the list of everything that lifting read: `fingerprint` describes the meaning of each such object in plain data, and
`object_path` how another process finds it. If anything cannot be described with certainty, nothing is stored. Must not import
what lifts and transforms.
"""
