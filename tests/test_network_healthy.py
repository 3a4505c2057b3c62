"""Healthy networks have no warnings between their devices, and one fault has one warning at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from network_healthy import NETWORKS
from network_warnings import found
from perhop.network.findings import between_devices


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]) == set()


def test_a_network_of_bgp_without_a_route_has_one_warning(tmp_path: Path) -> None:
    files = {
        f"r{number}.cfg": f"""hostname r{number}
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
router bgp {65000 + number}
 network 10.{number}.0.0 mask 255.255.255.0
"""
        for number in range(1, 9)
    }
    files["r3.cfg"] += " network 10.3.0.0 mask 255.255.0.0\n network 10.44.0.0 mask 255.255.0.0\n"
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    named = between_devices([tmp_path], [tmp_path / name for name in files]).findings
    lines = [
        finding.line for finding in named[tmp_path / "r3.cfg"] if finding.rule == "network-route-missing"
    ]
    assert lines == [8, 9]


def test_a_list_that_lacks_a_customer_is_named(tmp_path: Path) -> None:
    files = dict(NETWORKS["one name for the lists of two customers"])
    entry = "ip prefix-list CUSTOMER-IN seq 10 permit 10.1.{}.0/24\n"
    files["pe1.cfg"] += entry.format(2)
    expected = ("pe2.cfg", "ip prefix-list CUSTOMER-IN seq 5 permit 10.1.2.0/24", "network-route-missing")
    assert expected in found(tmp_path, files)
    files["pe2.cfg"] += entry.format(1)
    assert found(tmp_path, files) == set()


def test_a_key_of_an_area_is_compared(tmp_path: Path) -> None:
    files = dict(NETWORKS["authentication in one of two areas"])
    files["r2.cfg"] = files["r2.cfg"].replace(" area 0.0.0.0 authentication message-digest\n", "")
    at = ("r1.cfg", "area 0 authentication message-digest", "network-key-differs")
    assert at in found(tmp_path, files)


def test_both_vrfs_are_compared(tmp_path: Path) -> None:
    files = dict(NETWORKS["equal addresses in VRFs"])
    files["ce2.cfg"] = files["ce2.cfg"].replace("remote-as 65000", "remote-as 65009")
    at = ("ce2.cfg", "neighbor 192.168.1.1 remote-as 65009", "network-session-differs")
    assert at in found(tmp_path, files)


def test_messages_show_no_secrets(tmp_path: Path) -> None:
    secrets = {number: f"Plain{'Odd' if number == 3 else 'Usual'}" for number in range(1, 6)}
    for number, secret in secrets.items():
        (tmp_path / f"r{number}.cfg").write_text(f"""hostname r{number}
key chain K
 key 1
  key-string {secret}
crypto isakmp key {secret} address 0.0.0.0
interface GigabitEthernet0/0
 ip address 10.0.0.{number} 255.255.255.0
 ppp chap password 0 {secret}
 standby 1 ip 10.0.0.254
 standby 1 authentication md5 key-string {secret}
router bgp 65000
 neighbor 10.9.9.9 remote-as 65000
 neighbor 10.9.9.9 password {secret}
""")
    paths = [tmp_path / f"r{number}.cfg" for number in secrets]
    named = between_devices([tmp_path], paths).findings
    messages = [finding.message for finding in named[tmp_path / "r3.cfg"]]
    assert sum("(secret)" in message for message in messages) >= 4
    assert not any("Plain" in message for message in messages)
