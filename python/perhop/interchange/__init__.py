"""Results in the formats of other programs: CSV, iperf3's JSON, flent's data files."""

from perhop.exchange.flent import write_flent
from perhop.exchange.iperf3 import iperf3_document, write_iperf3
from perhop.exchange.tables import write_csv

__all__ = ["iperf3_document", "write_csv", "write_flent", "write_iperf3"]
