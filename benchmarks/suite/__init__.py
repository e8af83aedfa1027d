"""Benchmarks of all operations, one class each.

`asv` finds them through ``asv.conf.json``; ``benchmarks/run.py`` runs them without it and compares
each with a plain operation on the same data. A class says once what is done; sizes, times and
memory are the same for all (`_operation.Operation`).
"""
