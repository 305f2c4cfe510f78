"""What compiled calls are made of, on disk: a fresh process finds them without parsing or transforming anything.

`directory` says where, and whether the place can be trusted. `cached_kernels` keeps object code under a hash of its text.
`cached_calls` keeps, under a hash of the function and of what it is called with, what else a call is made of, and the list of all
that lifting read: `fingerprint` says what each of that means, in plain data, and `object_path` how it is found again in
another process. Where anything cannot be said for sure, nothing is kept. Must not import what lifts and transforms.
"""
