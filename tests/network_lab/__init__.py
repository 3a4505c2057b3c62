"""A folder of three configurations as routers of Linux: namespaces that forward, and `tc` at their ports.

Addresses, routes, queues and marks come from the configurations by perhop's own commands: the routes are
those of walks, output policies become `tc` commands by `perhop convert`, and a bridge in front of a port
applies the conditioners of its input policy, because `tc` cannot mark on kernels without `act_pedit`.
"""
