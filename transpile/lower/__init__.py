"""Array core to loop core.

In: a core function. Out: a core function of scalar statements, element reads and writes, `for` nests and calls of
`transpile_runtime`. Must not: make text or machine code; make loops fast, which `transpile.loops` does.
"""

from transpile.lower.traversal import lower

__all__ = ["lower"]
