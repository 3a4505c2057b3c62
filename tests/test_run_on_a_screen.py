"""`perhop run` of a configuration on a terminal: its length with warnings."""

from __future__ import annotations

from pathlib import Path

from conftest import Command

WARNED = """\
version 15.4
class-map match-any VOICE
 match dscp ef
class-map match-any DATA
 match access-group name ERP
policy-map WAN
 class VOICE
  priority 500
 class DATA
  bandwidth 800
interface Tunnel5
 ip address 172.16.5.1 255.255.255.252
 tunnel source GigabitEthernet0/1
 tunnel destination 198.51.100.20
interface GigabitEthernet0/1
 bandwidth 2000
 ip address 198.51.100.2 255.255.255.0
 ip nat outside
 service-policy output WAN
ip access-list extended ERP
 permit tcp any host 10.77.1.10 eq 8443
"""


def test_a_warning_about_a_configuration_is_one_line(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "router.cfg"
    file.write_text(WARNED)
    ended = perhop("run", file, "--replications", "1")
    warnings = [line for line in ended.err.splitlines() if line.startswith("warning[")]
    assert [line.split("]")[0] for line in warnings] == [
        "warning[command-not-modelled",
        "warning[classification-behind-encryption",
    ]
    assert warnings[0].endswith("`ip nat outside`: not simulated (line 18)")
    assert len(ended.err.splitlines()) + len(ended.out.splitlines()) <= 30
    assert "-->" not in ended.err
    # `check` shows the lines themselves, and corrections.
    assert "`qos pre-classify` under Tunnel5" in perhop("check", file).out


def test_many_warnings_are_counted(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "router.cfg"
    missing = "".join(f" match access-group name LIST-{number}\n" for number in range(6))
    file.write_text(WARNED.replace(" match access-group name ERP\n", missing))
    ended = perhop("run", file, "--replications", "1")
    warnings = [line for line in ended.err.splitlines() if line.startswith("warning[")]
    assert len(warnings) == 4
    assert "more warnings: `perhop check` lists all, with corrections" in ended.err
