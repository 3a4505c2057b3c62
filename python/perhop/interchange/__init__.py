"""Results in the formats of other programs: CSV, iperf3 JSON, flent data files."""

from perhop.interchange.flent import write_flent
from perhop.interchange.iperf3 import iperf3_document, write_iperf3
from perhop.interchange.tables import write_csv

__all__ = ["iperf3_document", "write_csv", "write_flent", "write_iperf3"]
