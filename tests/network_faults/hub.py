"""Hub and spoke: two hubs, four branches, each with a sub-rate Ethernet circuit to each hub."""

from __future__ import annotations

from network_faults.lines import LAN_MASK, LINK_MASK, block, class_map, ends, policy_map, text

#: The rates of the circuits of a branch, in Mb/s.
RATES = {1: 10, 2: 10, 3: 20, 4: 4}
_HUBS = (1, 2)


def hub_and_spoke() -> dict[str, str]:
    """Return the files of the two hubs and the four branches."""
    files = {f"hub{number}.cfg": text(_hub(number)) for number in _HUBS}
    return files | {f"branch{number}.cfg": text(_branch(number)) for number in RATES}


def _circuit(hub: int, branch: int) -> str:
    """Return the first address of a circuit's network."""
    return f"10.255.{hub}.{4 * (branch - 1)}"


def _head(name: str) -> list[str]:
    return [
        "version 15.7",
        "service timestamps debug datetime msec",
        "service timestamps log datetime msec",
        "service password-encryption",
        "!",
        f"hostname {name}",
        "!",
        "no ip domain lookup",
        "ip domain name example.com",
        "ip cef",
        "!",
    ]


def _classes() -> list[str]:
    return [
        *class_map("VOICE", ["ef"]),
        *class_map("VIDEO", ["af41", "af42"]),
        *class_map("SIGNALING", ["cs3"]),
        *class_map("CRITICAL", ["af31", "af32"]),
        *class_map("BULK", ["af11"]),
        *class_map("ROUTING", ["cs6"]),
        *class_map("LAN-PHONES", ["ef"]),
        *class_map("LAN-CAMERAS", ["af41"]),
        *class_map("LAN-CALLS", ["cs3"]),
        *class_map("LAN-ERP", ["ERP"], "match access-group name"),
        *class_map("LAN-BACKUP", ["BACKUP"], "match access-group name"),
        *class_map("COPP-ROUTING", ["COPP-ROUTING"], "match access-group name"),
        *class_map("COPP-MANAGEMENT", ["COPP-MANAGEMENT"], "match access-group name"),
    ]


def _policies() -> list[str]:
    queues = {
        "VOICE": ["priority percent 20"],
        "VIDEO": ["bandwidth percent 20"],
        "SIGNALING": ["bandwidth percent 5"],
        "CRITICAL": ["bandwidth percent 20", "random-detect dscp-based"],
        "BULK": ["bandwidth percent 5"],
        "ROUTING": ["bandwidth percent 3"],
        "class-default": ["fair-queue"],
    }
    marks = {
        "LAN-PHONES": ["set dscp ef"],
        "LAN-CAMERAS": ["set dscp af41"],
        "LAN-CALLS": ["set dscp cs3"],
        "LAN-ERP": ["set dscp af31"],
        "LAN-BACKUP": ["set dscp af11"],
        "class-default": ["set dscp default"],
    }
    copp = {
        "COPP-ROUTING": ["police 512000 conform-action transmit exceed-action transmit"],
        "COPP-MANAGEMENT": ["police 256000 conform-action transmit exceed-action drop"],
        "class-default": ["police 128000 conform-action transmit exceed-action drop"],
    }
    return [
        *policy_map("WAN-QUEUES", queues),
        *policy_map("LAN-IN", marks),
        *policy_map("CONTROL-PLANE-IN", copp),
    ]


def _shaped(name: str, megabits: int) -> list[str]:
    return policy_map(
        name, {"class-default": [f"shape average {megabits * 1_000_000}", "service-policy WAN-QUEUES"]}
    )


def _wan(port: str, remark: str, tag: int, address: str, megabits: int, cost: int, policy: str) -> list[str]:
    return block(
        f"interface {port}.{tag}",
        f"description {remark}",
        f"bandwidth {megabits * 1000}",
        f"encapsulation dot1Q {tag}",
        f"ip address {address} {LINK_MASK}",
        "ip access-group FROM-WAN in",
        "ip ospf network point-to-point",
        f"ip ospf cost {cost}",
        f"service-policy output {policy}",
    )


def _tail() -> list[str]:
    return [
        *block("ip access-list extended ERP", "permit tcp any any eq 3200", "permit tcp any eq 3200 any"),
        *block("ip access-list extended BACKUP", "permit tcp any any eq 873", "permit tcp any eq 873 any"),
        *block("ip access-list extended COPP-ROUTING", "permit ospf any any"),
        *block(
            "ip access-list extended COPP-MANAGEMENT",
            "permit tcp 10.0.0.0 0.255.255.255 any eq 22",
            "permit udp 10.0.0.0 0.255.255.255 any eq snmp",
            "permit icmp 10.0.0.0 0.255.255.255 any",
        ),
        *block(
            "ip access-list extended FROM-WAN",
            "permit ospf any any",
            "permit udp 10.0.0.0 0.255.255.255 10.0.0.0 0.255.255.255 range 16384 32767",
            "permit tcp 10.0.0.0 0.255.255.255 10.0.0.0 0.255.255.255 eq 5060",
            "permit ip 10.0.0.0 0.255.255.255 10.0.0.0 0.255.255.255",
            "deny   ip any any log",
        ),
        *block("control-plane", "service-policy input CONTROL-PLANE-IN"),
        "logging host 10.1.1.50",
        "snmp-server location example",
        "ntp server 10.1.1.51",
        "!",
        *block("line vty 0 4", "transport input ssh"),
    ]


def _hub(number: int) -> list[str]:
    cost = 10 if number == 1 else 100
    ours = ends("10.255.0.0/30")[number - 1]
    lines = [*_head(f"hub{number}"), *_classes(), *_policies()]
    for branch, rate in RATES.items():
        lines += _shaped(f"TO-BRANCH{branch}", rate)
    lines += block("interface Loopback0", f"ip address 10.254.0.{number} 255.255.255.255")
    lines += block(
        "interface GigabitEthernet0/0/0",
        "description servers and call manager",
        f"ip address 10.1.{number}.1 {LAN_MASK}",
        "service-policy input LAN-IN",
    )
    lines += block("interface GigabitEthernet0/0/1", "description circuits to the branches", "no ip address")
    for branch, rate in RATES.items():
        address = ends(f"{_circuit(number, branch)}/30")[0]
        tag = 100 * number + branch
        port = "GigabitEthernet0/0/1"
        lines += _wan(port, f"to branch{branch}", tag, address, rate, cost, f"TO-BRANCH{branch}")
    lines += block(
        "interface GigabitEthernet0/0/2",
        f"description to hub{3 - number}",
        "mtu 1600",
        f"ip address {ours} {LINK_MASK}",
        "ip ospf network point-to-point",
        "service-policy output WAN-QUEUES",
    )
    networks = [f"{_circuit(number, branch)} 0.0.0.3" for branch in RATES]
    addresses = [f"10.254.0.{number} 0.0.0.0", f"10.1.{number}.0 0.0.0.255", "10.255.0.0 0.0.0.3", *networks]
    lines += block(
        "router ospf 1",
        f"router-id 10.254.0.{number}",
        "passive-interface GigabitEthernet0/0/0",
        *(f"network {address} area 0" for address in addresses),
    )
    return lines + _tail()


def _branch(number: int) -> list[str]:
    lines = [*_head(f"branch{number}"), *_classes(), *_policies(), *_shaped("TO-HUB", RATES[number])]
    lines += block("interface Loopback0", f"ip address 10.254.0.{10 + number} 255.255.255.255")
    for hub in _HUBS:
        port = f"GigabitEthernet0/0/{hub - 1}"
        lines += block(f"interface {port}", f"description circuit to hub{hub}", "no ip address")
        address = ends(f"{_circuit(hub, number)}/30")[1]
        cost = 10 if hub == 1 else 100
        lines += _wan(port, f"to hub{hub}", 100 * hub + number, address, RATES[number], cost, "TO-HUB")
    lines += block("interface GigabitEthernet0/0/2", "description floor switch", "no ip address")
    for tag, remark in ((10, "data"), (20, "telephones")):
        lines += block(
            f"interface GigabitEthernet0/0/2.{tag}",
            f"description {remark}",
            f"encapsulation dot1Q {tag}",
            f"ip address 10.{10 + number}.{tag}.1 {LAN_MASK}",
            "ip helper-address 10.1.1.52",
            "service-policy input LAN-IN",
        )
    lans = [f"10.{10 + number}.{tag}.0 0.0.0.255" for tag in (10, 20)]
    wans = [f"{_circuit(hub, number)} 0.0.0.3" for hub in _HUBS]
    lines += block(
        "router ospf 1",
        f"router-id 10.254.0.{10 + number}",
        *(f"passive-interface GigabitEthernet0/0/2.{tag}" for tag in (10, 20)),
        *(f"network {address} area 0" for address in (f"10.254.0.{10 + number} 0.0.0.0", *lans, *wans)),
    )
    return lines + _tail()
