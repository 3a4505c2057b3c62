"""The reported platform, whose rules apply to a router configuration."""

from __future__ import annotations

from typing import Any

import pytest

from perhop.configuration import checked, examined, examined_as, is_supported, platform_words
from perhop.core_types import RecognizedPlatform
from perhop.errors import InvalidInputError
from perhop.schema_types import PlatformConfig


def platform(**changes: Any) -> RecognizedPlatform:
    found: RecognizedPlatform = {
        "profile": "hqf",
        "dialect": "ios",
        "system": "IOS",
        "supported": True,
        "chosen": False,
        "certain": True,
        "because": [{"line": 3, "text": "version 15.1", "says": "IOS 15: HQF"}],
    }
    return {**found, **changes}  # type: ignore[typeddict-item]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "platform: hqf (line 3: version 15.1)"),
        ({"chosen": True}, "platform: hqf (--platform)"),
        (
            {"certain": False, "because": []},
            "platform: hqf (assumed, because no line has the version; --platform sets it)",
        ),
        ({"certain": False}, "platform: hqf (likely from line 3: version 15.1; --platform sets it)"),
        (
            {
                "dialect": "nx-os",
                "system": "NX-OS",
                "supported": False,
                "because": [{"line": 1, "text": "!Command: show running-config", "says": ""}],
            },
            "platform: NX-OS, not supported (line 1: !Command: show running-config)",
        ),
    ],
)
def test_the_platform_is_shown_with_its_reason(changes: dict[str, Any], words: str) -> None:
    assert platform_words(platform(**changes)) == words


def test_a_platform_that_is_not_known_is_not_mentioned() -> None:
    assert platform_words(None) is None


#: For each system, a line that identifies it, and its name.
SYSTEMS = {
    "!! IOS XR Configuration 7.5.2\nPID: 8201-SYS, VID: V01": "Cisco 8000",
    "mls qos\ninterface GigabitEthernet1/1\n wrr-queue bandwidth 20 80": "Catalyst 6500 (WRR)",
    "switch 1 provision ws-c4500x-32": "Catalyst 4500",
    "interface GigabitEthernet1/0/1\n switchport mode access": "Catalyst (switchport)",
    "license udi pid ASR-903 sn X": "ASR 900",
}


@pytest.mark.parametrize("lines", SYSTEMS)
def test_a_system_that_is_not_simulated_is_refused(lines: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        checked(f"hostname a\n{lines}\n")
    assert str(caught.value).startswith(
        f"this is a configuration of {SYSTEMS[lines]}, which perhop does not simulate (line "
    )
    assert caught.value.help is not None and "--platform" in caught.value.help
    report = examined(f"hostname a\n{lines}\n")
    assert not is_supported(report)
    assert [diagnostic["rule"] for diagnostic in report["diagnostics"]] == ["platform-not-supported"]
    assert report["router"]["ports"] == [], "no question has an answer by rules of other hardware"
    assert report["counts"]["modelled"] == 0


@pytest.mark.parametrize(
    "lines",
    [
        "qos queue-softmax-multiplier 1200",
        "policy-map p\n class class-default\n  queue-buffers ratio 10",
        "switch 1 provision c9300",
    ],
)
def test_a_switch_without_a_product_asks_for_it(lines: str) -> None:
    is_named = "provision" in lines
    report = examined(f"hostname a\n{lines}\n")
    assert report["platform"]["system"] == "Catalyst (UADP)"
    assert is_supported(report) == is_named
    if not is_named:
        with pytest.raises(InvalidInputError, match="does not name the product") as caught:
            checked(f"hostname a\n{lines}\n")
        assert caught.value.help is not None and "--platform c3650" in caught.value.help
        assert report["router"]["ports"] == [] and report["counts"]["modelled"] == 0


def test_the_chosen_platform_applies() -> None:
    text = "feature interface-vlan\ninterface Ethernet1/1\n ip address 192.0.2.1 255.255.255.0\n"
    report = checked(text, "ios-xe")
    assert report["platform"]["profile"] == "ios-xe"
    assert platform_words(report["platform"]) == "platform: ios-xe (--platform)"
    assert [port["name"] for port in report["router"]["ports"]] == ["Ethernet1/1"]


def test_a_report_has_the_hardware_that_a_scenario_sets() -> None:
    text = (
        "policy-map p\n class class-default\n  bandwidth 100\ninterface Serial0/0\n service-policy output p\n"
    )
    cases: list[tuple[PlatformConfig, int]] = [({}, 64), ({"profile": "pre-hqf", "queue-limit": 7}, 7)]
    for platform, limit in cases:
        report = examined_as(text, {"text": text, "platform": platform})
        policy = report["router"]["ports"][0]["policies"]["output"]
        assert policy is not None and policy["classes"][0]["queue_limit"] is not None
        assert policy["classes"][0]["queue_limit"]["value"] == limit
    with pytest.raises(InvalidInputError, match="there is no setting `depth`"):
        examined_as(text, {"text": text, "platform": {"settings": {"depth": 1}}})


ASR_920 = """version 16.9
license udi pid ASR-920-24SZ-M sn X
class-map match-all VOICE
 match dscp ef
policy-map IN
 class class-default
  set cos 5
policy-map OUT
 class VOICE
  priority percent 10
 class class-default
interface GigabitEthernet0/0/1
 ip address 10.0.0.1 255.255.255.0
 service-policy input IN
 service-policy output OUT
interface TenGigabitEthernet0/0/25
 ip address 10.0.1.1 255.255.255.0
 service-policy output OUT
interface GigabitEthernet0/0/2
 ip address 10.0.2.1 255.255.255.0
"""


def test_queues_of_an_asr_920_have_limits_in_bytes_by_port() -> None:
    """Cisco TAC 218310: 48 kB at 1 Gb/s, 120 kB at 10 Gb/s; outputs print 49,152 and 122,880 bytes."""
    report: Any = checked(ASR_920)
    assert is_supported(report) and report["platform"]["profile"] == "asr-920"
    assert [
        diagnostic["rule"] for diagnostic in report["diagnostics"] if diagnostic["severity"] != "note"
    ] == []
    limits = {port["name"]: _limits(port["output"]["queueing"]) for port in report["router"]["ports"]}
    assert limits == {
        "GigabitEthernet0/0/1": {"48KiB"},
        "TenGigabitEthernet0/0/25": {"120KiB"},
        "GigabitEthernet0/0/2": {"48KiB"},
    }


def _limits(queueing: dict[str, Any]) -> set[str]:
    found: set[str] = set()
    for queue in queueing["classes"]:
        if "queueing" in queue:
            found |= _limits(queue["queueing"])
        else:
            found.add(queue["buffer"]["tail-drop"]["limit"])
    return found
