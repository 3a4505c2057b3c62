"""Outputs of devices with their counters: those of a run, and those of a real device next to them.

Front ends print and read the outputs; `output` hands them the counters of results.
"""
