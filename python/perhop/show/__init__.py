"""What routers print: `show policy-map interface` of a run, and of real routers beside it.

`routers` finds the routers of a scenario and their policies, `counters` what a run counted there, `state`
puts both together, `printing` writes that in the router's own format. `reading` reads such a text, `beside`
lays two of them side by side.
"""
