"""`perhop diff OLDDIR NEWDIR` and `perhop prove DIR1 DIR2`: the effects of a change to a network, by pair of
sites."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from network_faults.networks import networks
from network_faults.planting import faults, harmless, plant
from test_answers import faults as schema_faults

Found = dict[str, Any]
NETWORKS = networks()


def branch(number: int, voice: int = 10, further: str = "") -> str:
    return f"""\
version 15.4
hostname B{number}
class-map match-any VOICE
 match dscp ef
class-map match-any WEB
 match access-group name WEB
ip access-list extended WEB
 permit tcp any any eq 443
policy-map WAN
 class VOICE
  priority percent {voice}
 class WEB
  bandwidth percent 20
 class class-default
  fair-queue
interface GigabitEthernet0/0
 bandwidth 10000
 ip address 192.0.2.{4 * number + 2} 255.255.255.252
 service-policy output WAN
interface GigabitEthernet0/1
 ip address 10.{number}.0.1 255.255.255.0
{further}ip route 0.0.0.0 0.0.0.0 192.0.2.{4 * number + 1}
"""


def hub(further: str = "") -> str:
    ports = "".join(
        f"interface GigabitEthernet0/{number}\n ip address 192.0.2.{4 * number + 1} 255.255.255.252\n"
        f"ip route 10.{number}.0.0 255.255.255.0 192.0.2.{4 * number + 2}\n"
        for number in (1, 2, 3)
    )
    return f"version 15.4\nhostname HUB\n{ports}{further}"


STAR = {"b1.cfg": branch(1), "b2.cfg": branch(2), "b3.cfg": branch(3), "hub.cfg": hub()}


@pytest.fixture
def compared(perhop: Command, tmp_path: Path) -> Any:
    """Return the network part of `diff`, the proof of `prove`, and the text of `diff`."""

    def ask(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Found, Found, str]:
        for name, files in (("old", old), ("new", new)):
            (tmp_path / name).mkdir(exist_ok=True)
            for file in (tmp_path / name).iterdir():
                file.unlink()
            for file, text in files.items():
                (tmp_path / name / Path(file).name).write_text(text)
        document = perhop("diff", "old", "new", "--json").json()
        assert schema_faults("diff", document) == []
        network = document["network"]
        ended = perhop("diff", "old", "new", "--strict")
        assert ended.code == (4 if network["differs"] else 0), ended.err
        assert "perhop simulated no queues" in ended.out
        proof = perhop("prove", "old", "new", "--json")
        assert proof.code == {"equal": 0, "differ": 4, "not-decided": 1}[proof.json()["verdict"]]
        assert schema_faults("prove", proof.json()) == []
        return network, proof.json(), ended.out

    return ask


def test_equal_networks_are_proved_equal(compared: Any) -> None:
    found, proof, text = compared(STAR, STAR)
    assert (found["changes"], found["devices"], found["only"]) == ([], [], [])
    assert proof["verdict"] == "equal"
    assert "nothing differs: proved for all packets between all sites" in text


def test_networks_without_a_common_device_have_no_equal_device(compared: Any, perhop: Command) -> None:
    others = {name: text.replace("hostname ", "hostname X") for name, text in STAR.items()}
    _, proof, _ = compared(STAR, others)
    assert not [text for text in proof["compared"] if "same configuration" in text]
    assert {"only old has the device B1", "only new has the device XHUB"} <= set(proof["not_decided"])
    _, proof, _ = compared(STAR, {name: STAR[name] for name in ("b1.cfg", "b2.cfg", "hub.cfg")})
    assert "3 devices have the same configuration in both" in proof["compared"]
    assert "only old has the device B3" in proof["not_decided"]


def test_a_guarantee_changes_for_the_pairs_that_pass_it(compared: Any) -> None:
    found, proof, text = compared(STAR, {**STAR, "b1.cfg": branch(1, voice=20)})
    voice = [change for change in found["changes"] if "ef" in change["codepoints"]]
    assert {tuple(pair) for change in voice for pair in change["pairs"]} == {
        ("B1 10.1.0.0/24", "B2 10.2.0.0/24"),
        ("B1 10.1.0.0/24", "B3 10.3.0.0/24"),
    }
    what = {
        difference["what"]: (difference["first"], difference["second"]) for difference in voice[0]["what"]
    }
    before, after = what["B1 GigabitEthernet0/0 queue VOICE: guarantee"]
    assert "1Mb/s" in before and "2Mb/s" in after
    assert proof["verdict"] == "differ"
    assert proof["place"].startswith("from B1 ")
    lines = found["devices"][0]["difference"]["lines"]
    assert [line["new"]["text"] for line in lines if line["effect"] == "compared"] == ["priority percent 20"]
    # The output fits on one screen.
    assert len(text.splitlines()) < 30, text


def test_a_class_by_ports_has_an_example_packet(compared: Any) -> None:
    changed = branch(1).replace("eq 443", "eq 444")
    found, proof, _ = compared(STAR, {**STAR, "b1.cfg": changed})
    assert proof["verdict"] == "differ"
    assert any(f":{port} dscp" in proof["counterexample"]["packet"] for port in (443, 444))
    assert found["changes"] == []
    assert {tuple(pair) for pair in found["witnesses"][0]["pairs"]} == {
        ("B1 10.1.0.0/24", "B2 10.2.0.0/24"),
        ("B1 10.1.0.0/24", "B3 10.3.0.0/24"),
    }
    assert any("queue" in difference["what"] for difference in found["witnesses"][0]["what"])


def test_a_class_that_no_packet_between_sites_reaches_is_not_a_difference_for_them(compared: Any) -> None:
    """A policy for packets from an address that no site has: the verdict is undecided, not a difference."""
    extra = "ip access-list extended FAR\n permit ip host 203.0.113.9 any\n"
    extra += "class-map FAR\n match access-group name FAR\n"
    policy = "policy-map WAN\n class VOICE\n"
    with_far = branch(1).replace(policy, extra + "policy-map WAN\n class FAR\n  set dscp cs1\n class VOICE\n")
    found, proof, text = compared(STAR, {**STAR, "b1.cfg": with_far})
    assert proof["verdict"] == "not-decided"
    assert "203.0.113.9" in " ".join(proof["not_decided"])
    assert "nothing differs" not in text
    assert found["differs"]


def test_an_unmodeled_line_is_always_reported(compared: Any) -> None:
    changed = branch(1, further=" foo bar\n")
    found, proof, text = compared(STAR, {**STAR, "b1.cfg": changed})
    assert proof["verdict"] == "not-decided"
    assert found["differs"]
    assert "changed, not compared" in text
    assert "nothing differs" not in text


def test_another_name_and_an_irrelevant_line_change_nothing(compared: Any) -> None:
    changed = branch(1).replace("VOICE", "CALLS") + "snmp-server location Ulm\n"
    found, proof, _ = compared(STAR, {**STAR, "b1.cfg": changed})
    assert found["changes"] == []
    assert proof["verdict"] == "equal", proof


def test_a_removed_device_is_named(compared: Any) -> None:
    found, proof, text = compared(STAR, {name: text for name, text in STAR.items() if name != "b3.cfg"})
    assert {"snapshot": "old", "kind": "device", "name": "B3"} in found["only"]
    assert {entry["kind"] for entry in found["only"]} >= {"device", "link", "site"}
    assert proof["verdict"] == "not-decided"
    assert "only old: device B3" in text


def test_a_route_that_drops_packets_ends_the_path(compared: Any) -> None:
    found, proof, _ = compared(STAR, {**STAR, "hub.cfg": hub("ip route 10.2.0.0 255.255.255.128 Null0\n")})
    ends = {
        (difference["first"], difference["second"])
        for c in found["changes"]
        for difference in c["what"]
        if difference["what"] == "end"
    }
    assert ends == {("delivered at B2", "dropped at HUB by a route")}
    assert proof["verdict"] == "differ"


def test_a_cost_of_a_routing_protocol_is_named_in_words(compared: Any) -> None:
    """No packet of this star takes another path, but the cost is not reported as irrelevant."""
    port = "interface GigabitEthernet0/0\n"
    own = branch(1, further="router ospf 1\n network 0.0.0.0 255.255.255.255 area 0\n")
    costly = own.replace(port, f"{port} ip ospf cost 7\n", 1)
    found, proof, text = compared({**STAR, "b1.cfg": own}, {**STAR, "b1.cfg": costly})
    assert (found["changes"], proof["verdict"]) == ([], "not-decided")
    assert any(reason.endswith("cost 10 and cost 7") for reason in proof["not_decided"]), proof
    assert "1 changed line; 1 without an effect on the device itself" in text


def test_a_folder_and_a_file_are_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "b1.cfg").write_text(branch(1))
    for command in ("diff", "prove"):
        ended = perhop(command, "net", "net/b1.cfg")
        assert ended.code == 2
        assert "net/b1.cfg is not a folder" in ended.err
    ended = perhop("diff", "net", "net", "--at", "Gi0/0")
    assert (ended.code, ended.out) == (2, "")
    assert "--at is for two configurations or scenarios" in ended.err


def on_a_slow_line(files: Mapping[str, str]) -> dict[str, str]:
    """Return the star with a line of 10 Mb/s between B1 and the hub."""
    serial = files["b1.cfg"].replace("GigabitEthernet0/0", "Serial0/0")
    center = files["hub.cfg"].replace("GigabitEthernet0/1\n", "Serial0/1\n bandwidth 10000\n")
    return {**files, "b1.cfg": serial, "hub.cfg": center}


def test_a_load_shows_which_pairs_feel_a_change(perhop: Command, tmp_path: Path) -> None:
    """WEB has 20 % of a line that is overloaded; with 2 %, it starves, and voice with priority does not."""
    starved = branch(1).replace("bandwidth percent 20", "bandwidth percent 2")
    for name, files in (("old", STAR), ("new", {**STAR, "b1.cfg": starved})):
        (tmp_path / name).mkdir()
        for file, text in on_a_slow_line(files).items():
            (tmp_path / name / file).write_text(text)
    asked = ("diff", "old", "new", "--simulate", "--load", "overload", "--replications", "5")
    document = perhop(*asked, "--json").json()
    assert schema_faults("diff", document) == []
    felt = document["felt"]
    assert (felt["load"], felt["replications"], felt["reason"]) == ("overload", 5, None)
    changed = {row["name"] for row in felt["classes"] if row["throughput_bps"]["differs"]}
    assert any(name.startswith("B1 ") and name.endswith(": WEB") for name in changed), felt
    assert not any(name.startswith(("B2 ", "B3 ")) or name.endswith(": VOICE") for name in changed), changed
    assert not any("not simulated" in entry for entry in document["not_looked_at"])
    text = perhop(*asked).out
    assert "simulated under the overload load of old, 5 replications" in text
    assert "at B1 Serial0/0" in text


def test_a_matrix_of_traffic_is_simulated_in_both(perhop: Command, tmp_path: Path) -> None:
    for name, files in (
        ("old", STAR),
        ("new", {**STAR, "hub.cfg": hub("ip route 10.2.0.0 255.255.255.128 Null0\n")}),
    ):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
    (tmp_path / "m.csv").write_text(
        "from,to,class,rate\nB1 10.1.0.0/24,B2 10.2.0.0/24,voice,512kb/s\n"
        "B1 10.1.0.0/24,B3 10.3.0.0/24,voice,512kb/s\n"
    )
    document = perhop("diff", "old", "new", "--simulate", "--traffic", "m.csv", "--json").json()
    assert [row["name"] for row in document["felt"]["classes"]] == ["B1 10.1.0.0/24 > B3 10.3.0.0/24: voice"]
    assert "B1 10.1.0.0/24 > B2 10.2.0.0/24: voice: not run in the new network" in document["not_looked_at"]


def test_options_of_a_simulation_need_one(perhop: Command, tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "b1.cfg").write_text(branch(1))
    ended = perhop("diff", "old", "new", "--load", "busy")
    assert (ended.code, ended.out) == (2, "")
    assert "add --simulate" in ended.err
    ended = perhop("diff", "old/b1.cfg", "new/b1.cfg", "--routes", "old")
    assert ended.code == 2
    assert "for two folders of configurations" in ended.err


def test_routes_are_those_of_both(perhop: Command, tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        for file, text in STAR.items():
            (tmp_path / name / file).write_text(text)
    (tmp_path / "r.csv").write_text("device,prefix,next_hop\nHUB,10.1.0.0/16,192.0.2.10\n")
    assert not perhop("diff", "old", "new", "--routes", "r.csv", "--json").json()["network"]["differs"]
    (tmp_path / "r.csv").write_text("device,prefix,next_hop\nNOWHERE,10.1.0.0/16,192.0.2.10\n")
    ended = perhop("diff", "old", "new", "--routes", "r.csv")
    assert ended.code == 2
    assert "NOWHERE" in ended.err


SAMPLE = 6


def sample(changes: Sequence[Any]) -> list[Any]:
    """Return a sample of changes: one for every check, and others of large networks, which last long."""
    few = sorted(changes[:: max(1, len(changes) // SAMPLE)], key=lambda change: len(NETWORKS[change.network]))
    return [
        pytest.param(change, id=change.id, marks=[pytest.mark.touched] if number else [])
        for number, change in enumerate(few)
    ]


@pytest.mark.parametrize("change", sample(faults()))
def test_a_planted_fault_differs(change: Any, compared: Any) -> None:
    files = NETWORKS[change.network]
    found, proof, text = compared(files, plant(change, files).files)
    assert found["differs"]
    assert proof["verdict"] != "equal"
    assert "nothing differs" not in text


@pytest.mark.parametrize("change", sample(harmless()))
def test_a_harmless_change_is_named_line_by_line(change: Any, compared: Any) -> None:
    files = NETWORKS[change.network]
    found, _, _ = compared(files, plant(change, files).files)
    assert found["devices"] or found["only"]
