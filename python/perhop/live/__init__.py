"""The live testbed: a scenario's network built from Linux network namespaces, with real packets.

Every host and every router is a namespace, every link a veth pair; perhop's forwarder runs where the scenario
has routers. Reading order: `owner` (process that owns a testbed), `kernel` (system calls), `rights`,
`network` (the nodes and cables), `namespaces`, `building`, `children` and `inside` (processes in nodes),
`testbed` (all of them, and their removal), `running`.
"""
