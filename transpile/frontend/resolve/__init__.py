"""What the names of a program stand for: live, from the function's own scopes, or static, in a file that is never executed.

In: names and expressions. Out: what is bound, and a note of what was read, so that a change of it is seen. Must not: emit core.
"""
