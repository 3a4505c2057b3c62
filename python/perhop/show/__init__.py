"""Outputs of devices with their counters: of the devices of a run, and of a real device for comparison.

Front ends print and read the outputs; `output` gives them the counters of results.
"""
