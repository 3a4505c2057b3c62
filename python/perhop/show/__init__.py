"""What routers print: `show policy-map interface` of a run.

`routers` finds the routers of a scenario and their policies, `counters` what a run counted there, `state`
puts both together, `printing` writes that in the router's own format.
"""
