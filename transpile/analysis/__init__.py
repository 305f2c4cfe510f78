"""What is true of a core function, as facts beside it: activity, regions, cuts.

In: a core function. Out: facts (sets, dictionaries, predicates). Must not: change a node or store anything on one.
"""
