"""Healthy networks whose settings look like faults, but are intended or complete elsewhere."""

from __future__ import annotations

from network_warnings import Files

OSPF = "router ospf 1\n network 10.0.0.0 0.255.255.255 area 0\n"


def _pair(first: str, second: str, address: str = " ip address 10.0.0.{0} 255.255.255.252\n") -> Files:
    """Return two routers on a link, each with additional lines."""
    head = "hostname r{0}\ninterface GigabitEthernet0/0\n" + address
    return {"r1.cfg": head.format(1) + first, "r2.cfg": head.format(2) + second}


def _listed(process: str) -> str:
    """Return a router with IOS XR whose process lists its ports."""
    return (
        "!! IOS XR Configuration 7.5.2\nhostname r2\n"
        "interface GigabitEthernet0/0/0/0\n ipv4 address 10.0.0.2 255.255.255.252\n"
        f"interface GigabitEthernet0/0/0/1\n ipv4 address 10.0.1.1 255.255.255.0\n{process}"
    )


def _snooping(first: str, far: str, port: str = "") -> Files:
    """Return a switch that checks packets of VLAN 10, and the switch with the gateway."""
    return {
        "sw1.cfg": "hostname sw1\nvlan 10\n name OFFICE\n" + first + "interface GigabitEthernet0/1\n"
        " description to sw2 GigabitEthernet0/2\n switchport trunk allowed vlan 10\n"
        f" switchport mode trunk\n{port}"
        "interface GigabitEthernet0/3\n switchport access vlan 10\n switchport mode access\n",
        "sw2.cfg": "hostname sw2\nvlan 10\n name OFFICE\ninterface GigabitEthernet0/2\n"
        " description to sw1 GigabitEthernet0/1\n switchport trunk allowed vlan 10\n switchport mode trunk\n"
        f"interface Vlan10\n ip address 192.0.2.1 255.255.255.0\n{far}",
    }


def _point(address: str, entries: str = "", session: str = "") -> str:
    """Return the lines of a router with a rendezvous point of some groups."""
    return f"ip multicast-routing\nip pim rp-address {address}\n{OSPF}{entries}{session}"


def _leaf(site: int, number: int, group: str) -> str:
    """Return a switch of the fabric of a site."""
    return f"""hostname leaf{site}{number}
feature nv overlay
nv overlay evpn
vlan 5
  vn-segment 7005
interface nve1
  no shutdown
  host-reachability protocol bgp
  source-interface loopback0
  member vni 7005
    mcast-group {group}
interface loopback0
  ip address 10.255.{site}.{number}/32
interface Ethernet1/1
  no switchport
  ip address 10.{site}.{number}.1/30
"""


def _spine(site: int) -> str:
    ports = "".join(
        f"interface Ethernet1/{number}\n  no switchport\n  ip address 10.{site}.{number}.2/30\n"
        for number in (1, 2)
    )
    return f"hostname spine{site}\nfeature bgp\nnv overlay evpn\n{ports}"


def _fabrics(*groups: str) -> Files:
    """Return fabrics with two leaves and a spine each."""
    files = {f"spine{site}.cfg": _spine(site) for site in range(1, len(groups) + 1)}
    for site, group in enumerate(groups, 1):
        files.update({f"leaf{site}{number}.cfg": _leaf(site, number, group) for number in (1, 2)})
    return files


def _keepalives(line: str, *ports: str) -> Files:
    """Return the two switches of a vPC domain, each with the lines of its port for management."""
    return {
        f"n{number}.cfg": f"hostname n{number}\nfeature vpc\nvpc domain 3\n  {line.format(3 - number)}\n"
        f"interface mgmt0\n  vrf member management\n{port}"
        for number, port in enumerate(ports, 1)
    }


def _tags(number: int, kept: str, ignored: str) -> str:
    """Return one of two routers between two protocols. It sets a tag, and denies the tag of the other."""
    return f"""router ospf 1
 redistribute eigrp 1 subnets route-map IN
 network 10.0.0.0 0.0.0.3 area 0
router eigrp 1
 network 10.{number}0.0.0
route-map IN deny 5
 {ignored}
route-map IN permit 10
 set tag {kept}
"""


def _announced(first: str, second: str, lists: str = "") -> Files:
    """Return a customer with two networks, and its provider with a list of wanted networks."""
    return _pair(
        "interface GigabitEthernet0/1\n ip address 10.1.1.1 255.255.255.0\ninterface GigabitEthernet0/2\n"
        " ip address 10.1.2.1 255.255.255.0\nrouter bgp 65001\n network 10.1.1.0 mask 255.255.255.0\n"
        f" network 10.1.2.0 mask 255.255.255.0\n neighbor 192.0.2.2 remote-as 65002\n{first}",
        "router bgp 65002\n neighbor 192.0.2.1 remote-as 65001\n neighbor 192.0.2.1 prefix-list WANTED in\n"
        f"{second}ip prefix-list WANTED seq 10 permit 10.1.1.0/24\n{lists}"
        "ip prefix-list WANTED seq 90 permit 10.1.3.0/24\n",
        " ip address 192.0.2.{0} 255.255.255.252\n",
    )


def _clock(number: int, domain: int, first: str = "", port: str = "  ptp\n") -> str:
    return f"""hostname n{number}
feature ptp
ptp source 192.0.2.{number}
ptp domain {domain}
{first}interface Ethernet1/1
  no switchport
  ip address 10.0.0.{number}/30
{port}"""


# The files of each network.
NETWORKS: dict[str, Files] = {
    "ports of OSPF in a process": {
        **_pair(OSPF, ""),
        "r2.cfg": _listed(
            "router ospf 1\n area 0\n  interface GigabitEthernet0/0/0/0\n  interface GigabitEthernet0/0/0/1\n"
        ),
    },
    "ports of EIGRP in a process": {
        **_pair("router eigrp 7\n network 10.0.0.0\n", ""),
        "r2.cfg": _listed(
            "router eigrp 7\n address-family ipv4\n  interface GigabitEthernet0/0/0/0\n"
            "  interface GigabitEthernet0/0/0/1\n"
        ),
    },
    "snooping that is off": _snooping("ip dhcp snooping vlan 10\n", " ip helper-address 192.0.2.99\n"),
    "filter of ARP": _snooping(
        "ip arp inspection vlan 10\narp access-list GATEWAY\n permit ip host 192.0.2.1 mac any\n"
        "ip arp inspection filter GATEWAY vlan 10\n",
        "",
    ),
    "static binding": _snooping(
        "ip arp inspection vlan 10\n"
        "ip source binding 0000.5e00.5301 vlan 10 192.0.2.1 interface GigabitEthernet0/1\n",
        "",
    ),
    "points of two systems": _pair(
        _point("10.255.0.1", "", "router bgp 65001\n neighbor 10.0.0.2 remote-as 65002\n"),
        _point("10.255.0.2", "", "router bgp 65002\n neighbor 10.0.0.1 remote-as 65001\n"),
    ),
    "points that exchange their sources": _pair(
        _point("10.255.0.1", "", "ip msdp peer 10.255.0.2\n"), _point("10.255.0.2")
    ),
    "groups in lists of one name": _pair(
        _point("10.255.0.1 10", "access-list 10 permit 239.1.0.0 0.0.255.255\n"),
        _point("10.255.0.2 10", "access-list 10 permit 239.2.0.0 0.0.255.255\n"),
    ),
    "groups in lists of two names": _pair(
        _point("10.255.0.1 10", "access-list 10 permit 239.1.0.0 0.0.255.255\n"),
        _point("10.255.0.1 GROUPS", "ip access-list standard GROUPS\n 10 permit 239.1.0.0 0.0.255.255\n"),
    ),
    "two fabrics": _fabrics("239.1.0.5", "239.2.0.5"),
    "one fabric": _fabrics("239.1.0.5"),
    "keepalives with IPv6": _keepalives(
        "peer-keepalive destination 2001:db8::{0} vrf management",
        "  ip address 192.0.2.1/24\n  ipv6 address 2001:DB8::0001/64\n",
        "  ip address 192.0.2.2/24\n  ipv6 address 2001:DB8::0002/64\n",
    ),
    "keepalives to a leased address": _keepalives(
        "peer-keepalive destination 192.0.2.{0} vrf management",
        *["  ip address dhcp\ninterface loopback0\n  ip address 10.255.0.1/32\n"] * 2,
    ),
    "keepalives": _keepalives(
        "peer-keepalive destination 192.0.2.{0} vrf management",
        "  ip address 192.0.2.1/24\n",
        "  ip address 192.0.2.2/24\n",
    ),
    "lists of tags": _pair(
        "route-tag list OTHERS seq 5 permit 200\n" + _tags(1, "100", "match tag list OTHERS"), OSPF
    ),
    "tag of another domain": _pair(_tags(1, "100", "match tag 300"), _tags(2, "200", "match tag 100")),
    "tags of one router": _pair(_tags(1, "100", "match tag 100"), OSPF),
    "networks that are not announced": _announced(
        " neighbor 192.0.2.2 prefix-list OWN out\nip prefix-list OWN seq 5 permit 10.1.1.0/24\n", ""
    ),
    "networks from elsewhere": _announced(
        " redistribute ospf 1\nrouter ospf 1\n network 10.1.0.0 0.0.255.255 area 0\n", ""
    ),
    "all wanted networks": _announced("", "", "ip prefix-list WANTED seq 20 permit 10.1.2.0/24\n"),
    "clocks of two domains at a port": {
        "n1.cfg": _clock(1, 0, "ptp multi-domain\n", "  ptp\n  ptp domain 5\n"),
        "n2.cfg": _clock(2, 5),
    },
    "clocks": {"n1.cfg": _clock(1, 5), "n2.cfg": _clock(2, 5)},
    "routed port with an old VLAN": {
        "sw1.cfg": "hostname sw1\nvlan 10,20\ninterface GigabitEthernet0/1\n switchport access vlan 10\n"
        "interface GigabitEthernet0/2\n no switchport\n switchport access vlan 99\n"
        " ip address 10.0.0.1 255.255.255.0\n"
        "interface Vlan10\n ip address 10.1.0.1 255.255.255.0\n",
        "r2.cfg": "hostname r2\ninterface GigabitEthernet0/0\n ip address 10.0.0.2 255.255.255.0\n",
    },
}
