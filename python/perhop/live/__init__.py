"""The live laboratory: a scenario's network out of Linux network namespaces, with real packets.

Every host and every router is a namespace, every link a veth pair; perhop's forwarder runs where the scenario
has routers. Reading order: `owner` (whose is it), `kernel` (what Linux is asked for), `rights`, `network`
(what is to be built), `namespaces`, `building`, `children` and `inside` (processes in it), `laboratory` (all
of them, and their end), `running`.
"""
