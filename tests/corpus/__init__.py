"""Programs of the accepted language, one small one for each construct, and real kernels.

In: nothing. Out: `all_programs()`, each with example arguments. A bug of the compiler arrives here
first. The programs import nothing of transpile, except those of `nested_transforms`, `functional` and `two_things`.
first. The programs import nothing of transpile, except those of `nested_transforms`, `functional` and
`found_rules`.
"""

from importlib import import_module

from .program import Collection, Program

MODULES = (
    "straight",
    "branches",
    "loops",
    "whiles",
    "trips",
    "names",
    "exits",
    "inplace",
    "views",
    "zero_dim",
    "swaps",
    "aliases",
    "indexing",
    "functional",
    "scalars",
    "functions",
    "recursion",
    "trees",
    "statics",
    "dtypes",
    "reductions",
    "shapes",
    "sizes",
    "joins",
    "cumulative",
    "matmul",
    "einsum",
    "linalg",
    "special",
    "wrong_elsewhere",
    "found_by_fuzz",
    "found_lax",
    "found_numbers",
    "found_rules",
    "everyday",
    "everyday_loops",
    "everyday_systems",
    "lists",
    "objects",
    "nested_transforms",
    "kernels_mechanics",
    "kernels_statistics",
    "kernels_chemistry",
    "kernels_graphics",
    "kernels_control",
    "kernels_finance",
    "kernels_linear",
    "matches",
    "two_things",
    "found_structures",
    "found_sizes",
    "found_objects",
    "found_indexing",
)


def all_programs() -> list[Program]:
    """Every program, in the order of `MODULES` and of the text; names are unique."""
    programs: list[Program] = []
    for name in MODULES:
        collection: Collection = import_module(f"{__name__}.{name}").PROGRAMS
        programs.extend(collection)
    names = [program.name for program in programs]
    assert len(set(names)) == len(names), "two programs have one name"
    return programs


def select(*tags: str) -> list[Program]:
    """The programs that carry all of these tags."""
    return [program for program in all_programs() if set(tags) <= set(program.tags)]
