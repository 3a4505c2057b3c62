"""A substitute for a forwarder: copies every arriving frame between two devices.

`copier.py SEEN DEVICE=MAC DEVICE=MAC`: MAC is written into frames that leave via DEVICE. The program creates
the file SEEN when the copying starts, and appends a line with the length of each frame, and with a problem if
the checksum of TCP or UDP is wrong. The program ends when its standard input ends.
"""

from __future__ import annotations

import select
import socket
import struct
import sys
from pathlib import Path

ETH_P_ALL = 3
PACKET_OUTGOING = 4


def wrong_checksum(frame: bytes) -> bool:
    """Whether an IPv4 frame carries TCP or UDP with a wrong checksum (RFC 9293 section 3.1)."""
    packet = frame[14:]
    header = (packet[0] & 0xF) * 4
    protocol, total = packet[9], struct.unpack_from("!H", packet, 2)[0]
    if packet[0] >> 4 != 4 or protocol not in (6, 17):
        return False
    segment = packet[header:total]
    data = packet[12:20] + struct.pack("!BBH", 0, protocol, len(segment)) + segment
    data += b"\0" * (len(data) % 2)
    sum_ = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while sum_ >> 16:
        sum_ = (sum_ & 0xFFFF) + (sum_ >> 16)
    return sum_ != 0xFFFF


def main(seen: Path, *ways: str) -> None:
    sockets = {}
    for way in ways:
        device, _, mac = way.partition("=")
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        opened.bind((device, 0))
        sockets[opened] = bytes.fromhex(mac.replace(":", ""))
    first, other = sockets
    with seen.open("w", buffering=1) as log:
        while True:
            ready, _, _ = select.select([sys.stdin, first, other], [], [])
            if sys.stdin in ready:
                return
            for arrived in ready:
                frame, (_, _, kind, *_) = arrived.recvfrom(65536)
                if kind == PACKET_OUTGOING:
                    continue
                log.write(f"{len(frame)}{' wrong checksum' if wrong_checksum(frame) else ''}\n")
                leaving = other if arrived is first else first
                leaving.send(sockets[leaving] + frame[6:])


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
