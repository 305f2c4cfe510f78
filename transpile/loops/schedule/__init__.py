"""Loops on several cores: which trips are independent, what each costs, and how they are shared out.

In: loop nests. Out: chunks of trips, one for each thread, or the loops as they were. Must not: know how threads are started.
"""
