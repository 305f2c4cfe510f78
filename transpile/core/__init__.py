"""The core language: types, nodes, builder, text dump, verifier and evaluator.

In: names, types, and the records of the primitives as their protocols describe them (`record_protocol`). Out: the nodes that
every pass takes and returns. Must not: know Python source, the tables of primitives, or any pass.
"""
