"""Array core to loop core.

In: a core function over arrays. Out: a core function of scalar statements, element reads and writes, ``for`` nests and calls of
`transpile_runtime`. It must not make text or machine code, nor make loops fast, which `transpile.loops` does.
"""

from transpile.lower.traversal import lower

__all__ = ["lower"]
