"""Analyses: facts about a core function, kept beside it, such as activity, liveness, dependence and cuts.

In: a core function. Out: facts (sets, dictionaries, predicates). Must not: change a node or store anything on one.
"""
