"""Builds three configurations as Linux routers: namespaces that forward, with `tc` at their ports.

Addresses, routes, queues and marks are computed from the configurations by commands of perhop: the routes are
those of walks, output policies become `tc` commands by `perhop convert`, and a bridge in front of a port
applies the conditioners of its input policy, because `tc` cannot mark on kernels without `act_pedit`.
"""
