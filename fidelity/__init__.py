"""Comparison of perhop with every peer that is installed: `make fidelity`.

The comparison writes fidelity/results.csv, fidelity/peers.json and docs/fidelity.md.

comparison: a quantity measured by perhop and by its reference, and the rule by which the two agree.
reasons: the named reasons of docs/deviations.toml.
simulating: scenarios made here, and means of replications.
analytic: queueing theory, shares, buckets, RED's drop rates.
ns2: ns-2 and its DiffServ module.
namespace, kernel: queueing disciplines of Linux in a network namespace.
readings, router: measurements and output of real routers (tests/readings).
record: the comparisons as rows of results.csv; peers.json.
document: the page, made from these files.
"""
