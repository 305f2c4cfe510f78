"""Faults planted in a copy of the compiler, each of which the tests must catch."""
