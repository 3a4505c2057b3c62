"""Programs inside the namespaces of a lab: one sends flows, one counts the packets that pass."""

from __future__ import annotations

#: `SEND JSON`: sends flows of datagrams, each with `source`, `destination`, `ports`, `dscp`, `bytes` (of IP),
#: `start` and `gap` (seconds), and the number of `packets`. It prints how late the latest left, in seconds.
SEND = """
import heapq, json, socket, sys, time
due, latest = [], 0.0
for number, flow in enumerate(json.loads(sys.argv[1])):
    sending = socket.socket(type=socket.SOCK_DGRAM)
    sending.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow["dscp"] << 2)
    sending.bind((flow["source"], flow["ports"][0]))
    sending.connect((flow["destination"], flow["ports"][1]))
    due.append((flow["start"], number, flow["packets"], sending, bytes(flow["bytes"] - 28), flow))
heapq.heapify(due)
begin = time.monotonic()
while due:
    at, number, left, sending, payload, flow = heapq.heappop(due)
    # A late packet is sent at once, so that the flow keeps its number of packets.
    if (wait := begin + at - time.monotonic()) > 0:
        time.sleep(wait)
    sending.send(payload)
    latest = max(latest, time.monotonic() - begin - at)
    if left > 1:
        heapq.heappush(due, (at + flow["gap"], number, left - 1, sending, payload, flow))
print(latest)
"""

#: `COUNT SLOT PORT...`: counts the datagrams that leave or arrive at each device of its namespace until a
#: line arrives on standard input. Then it prints rows: slot of time, device, whether they leave, addresses,
#: ports, DSCP, TTL, packets, IP bytes. It opens the UDP ports, so that the kernel does not refuse their
#: datagrams.
COUNT = """
import collections, json, select, socket, struct, sys
SO_RCVBUFFORCE, SO_TIMESTAMPNS, SOL_PACKET, PACKET_STATISTICS, ETH_P_ALL = 33, 35, 263, 6, 3
slot, *ports = map(float, sys.argv[1:])
opened = [socket.socket(type=socket.SOCK_DGRAM) for _ in ports]
for one, port in zip(opened, ports):
    one.bind(("", int(port)))
listening = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
listening.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 25)
listening.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
print("ready", flush=True)
rows = collections.defaultdict(lambda: [0, 0])
while True:
    ready, _, _ = select.select([listening, sys.stdin], [], [])
    if listening not in ready:
        break
    packet, control, _, (device, protocol, kind, *_) = listening.recvmsg(64, 64)
    if protocol != 0x800 or packet[0] != 0x45 or packet[9] != 17:
        continue
    second, fraction = struct.unpack("qq", control[0][2])
    addresses = socket.inet_ntoa(packet[12:16]), socket.inet_ntoa(packet[16:20])
    ports = struct.unpack("!HH", packet[20:24])
    at = int((second + fraction / 1e9) / slot)
    row = rows[at, device, kind == socket.PACKET_OUTGOING, *addresses, *ports, packet[1] >> 2, packet[8]]
    row[0] += 1
    row[1] += int.from_bytes(packet[2:4], "big")
_, lost = struct.unpack("II", listening.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
print(json.dumps({"lost": lost, "rows": [[*key, *row] for key, row in rows.items()]}))
"""
