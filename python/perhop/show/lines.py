"""The lines of `show policy-map interface` that hold numbers, of IOS 12.x to IOS-XE 17."""

from __future__ import annotations

import re

#: Every named group of a pattern is a number of the class (or of a priority queue) under that name.
NUMBERS = [
    re.compile(pattern)
    for pattern in (
        r"(?P<packets>\d+) packets, (?P<bytes>\d+) +bytes$",
        r"(?P<packets>\d+) packets$",
        r"\d+ +(?:second|minute)s? +offered +rate +(?P<offered_bps>\d+) bps"
        r"(?:, +drop +rate +(?P<drop_bps>\d+) bps)?",
        # Queues.
        r"queue +limit +(?P<limit_packets>\d+) +(?:packets|\(packets\))",
        r"queue +limit +(?P<limit_bytes>\d+) +bytes",
        r"queue +limit +(?P<limit_us>\d+) +us/ *(?P<limit_bytes>\d+) +bytes",
        r"queue +limit +(?P<limit_ms>\d+) +ms/ *(?P<limit_bytes>\d+) +bytes",
        r"queue +size +(?P<depth>\d+), +queue +limit +(?P<limit_packets>\d+)",
        r"\(?(?:queue +)?depth/total +drops/no-buffer +drops(?:/flowdrops)?\) +"
        r"(?P<depth>\d+)/(?P<queue_drops>\d+)/\d+(?:/(?P<flow_drops>\d+))?",
        r"\(pkts +(?:output|matched)/bytes +(?:output|matched)\) +"
        r"(?P<output_packets>\d+)/(?P<output_bytes>\d+)",
        r"\(total +drops\) +(?P<queue_drops>\d+)",
        r"\(bytes +output\) +(?P<output_bytes>\d+)",
        # Rates; the first is a priority's before 12.4(20)T.
        r"Bandwidth +(?P<priority_kbps>\d+) +\(kbps\) +Burst +(?P<priority_burst_bytes>\d+) +\(Bytes\)",
        r"shape +\((?:average|peak)\) +cir +(?P<shape_cir_bps>\d+), +bc +(?P<shape_bc_bits>\d+), +"
        r"be +(?P<shape_be_bits>\d+)",
        r"target +shape +rate +(?P<shape_target_bps>\d+)",
        r"bandwidth +(?P<bandwidth_percent>\d+)% +\((?P<bandwidth_kbps>\d+) +kbps\)",
        r"bandwidth +(?P<bandwidth_kbps>\d+) +\(?kbps\)?",
        r"bandwidth +remaining +(?P<remaining_percent>\d+) *%",
        r"bandwidth +remaining +ratio +(?P<remaining_ratio>\d+)",
        r"Bandwidth +(?P<bandwidth_percent>\d+) +\(%\)",
        r"Bandwidth +(?P<bandwidth_kbps>\d+) +\(kbps\)(?: *Max +Threshold +(?P<limit_packets>\d+))?",
        r"Fair-queue: +per-flow +queue +limit +(?P<flow_limit_packets>\d+)",
        r"(?:Exp-weight-constant|exponential +weight): *(?P<exponent>\d+)",
        # Priority.
        r"Priority: +(?P<priority_percent>\d+)% +\((?P<priority_kbps>\d+) +kbps\), +"
        r"burst +bytes +(?P<priority_burst_bytes>\d+)(?:, +b/w +exceed +drops: *(?P<exceed_drops>\d+)?)?",
        r"Priority: +(?P<priority_kbps>\d+) +kbps, +burst +bytes +(?P<priority_burst_bytes>\d+)"
        r"(?:, +b/w +exceed +drops: *(?P<exceed_drops>\d+)?)?",
        r"Priority: +Strict, +b/w +exceed +drops: *(?P<exceed_drops>\d+)?",
        r"Priority +Level: +(?P<priority_level>\d+)",
        r"\(total +drops/bytes +drops\) +(?P<exceed_drops>\d+)/\d+",
        # Policers.
        r"(?:police: +)?cir +(?P<police_cir_bps>\d+) +bps, +bc +(?P<police_bc_bytes>\d+) +bytes"
        r"(?:, +be +(?P<police_be_bytes>\d+) +bytes)?",
        r"pir +(?P<police_pir_bps>\d+) +bps, +be +(?P<police_be_bytes>\d+) +bytes",
        r"rate +(?P<police_cir_bps>\d+) +bps, +burst +(?P<police_bc_bytes>\d+) +bytes",
        r"cir +(?P<police_percent>\d+) *%",
        r"rate +(?P<police_percent>\d+) *%",
        r"conformed +(?:(?P<conformed_packets>\d+) +packets, +)?(?P<conformed_bytes>\d+) +bytes;",
        r"exceeded +(?:(?P<exceeded_packets>\d+) +packets, +)?(?P<exceeded_bytes>\d+) +bytes;",
        r"violated +(?:(?P<violated_packets>\d+) +packets, +)?(?P<violated_bytes>\d+) +bytes;",
        r"conformed +(?P<conformed_bps>\d+) +bps, +exceed(?:ed)? +(?P<exceeded_bps>\d+) +bps"
        r"(?:, +violat(?:ed|e) +(?P<violated_bps>\d+) +bps)?",
        r"Packets +marked +(?P<marked_packets>\d+)",
    )
]
#: A row of WRED's table: precedence or codepoint, transmitted, dropped by chance, dropped for certain.
EARLY_DROPS = re.compile(
    r"(?P<value>\w+) +(?P<transmitted>\d+)/\d+ +(?P<random>\d+)/\d+ +(?P<tail>\d+)/\d+ +"
    r"(?P<min>\d+) +(?P<max>\d+) +1/(?P<mark>\d+)$"
)
#: A row of the table of `Traffic Shaping` before 12.4(20)T: target and average rate, limit in bytes, bits in
#: an interval, milliseconds, increment.
OLD_SHAPER = re.compile(
    r"(?P<shape_target_bps>\d+)/(?P<shape_cir_bps>\d+) +\d+ +(?P<shape_bc_bits>\d+) +(?P<shape_be_bits>\d+)"
    r" +\d+ +\d+$"
)
