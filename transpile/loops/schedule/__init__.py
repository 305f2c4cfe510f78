"""Loops on several cores: which iterations are independent, what each costs, and how they are divided among threads.

Input: loop nests. Output: chunks of iterations, one for each thread, or the loops unchanged. Must not: know how threads are
started.
"""
