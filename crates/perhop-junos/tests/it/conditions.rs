//! Conditions of terms: negations, frames and fragments.

use perhop_device::DeviceModel;
use perhop_lint::LineState;
use serde_json::{Value, json};

use crate::read::{parse, show};

const PORT: &str = "set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.1/30
";

/// Returns a device with a term of one condition.
fn with(family: &str, condition: &str) -> DeviceModel {
    let text = format!(
        "{PORT}set interfaces ge-0/0/0 unit 0 family {family} filter input F
set firewall family {family} filter F term T from {condition}
set firewall family {family} filter F term T then forwarding-class expedited-forwarding
set firewall family {family} filter F term REST then accept
"
    );
    parse(&text, None)
}

/// Returns the condition of the stage of the term.
fn condition(family: &str, condition: &str) -> Value {
    let model = with(family, condition);
    assert_eq!(show(&model), "", "{condition}");
    let stages = &model.router.ports[0].input.conditioners;
    let term = stages.iter().find(|stage| stage.name.as_deref() == Some("F T"));
    json!(term.unwrap_or_else(|| panic!("no term for {condition}")).matches)
}

/// The condition that no packet meets: a source of IPv4 and of IPv6.
fn nothing() -> Value {
    json!({"all": [{"source": "0.0.0.0/0"}, {"source": "::/0"}]})
}

#[test]
fn an_exception_negates_its_condition() {
    let pairs = [
        ("protocol", "udp"),
        ("source-port", "[ 20 21 ]"),
        ("port", "53"),
        ("dscp", "ef"),
        ("forwarding-class", "network-control"),
        ("loss-priority", "high"),
        ("packet-length", "0-100"),
    ];
    for (key, value) in pairs {
        let plain = condition("inet", &format!("{key} {value}"));
        let negated = condition("inet", &format!("{key}-except {value}"));
        assert_eq!(negated, json!({"not": plain}), "{key}");
    }
}

#[test]
fn types_of_frames_select_packets_of_their_protocol() {
    let labels = json!({"mpls-exp": ["0", "1", "2", "3", "4", "5", "6", "7"]});
    let ipv4 = json!({"source": "0.0.0.0/0", "not": labels});
    assert_eq!(condition("bridge", "ether-type ipv4"), ipv4);
    assert_eq!(condition("bridge", "ether-type 0x0800"), ipv4);
    assert_eq!(condition("bridge", "ether-type [ mpls-unicast arp ]"), labels);
    // CPRI over Ethernet has no IP packets.
    assert_eq!(condition("bridge", "ether-type 0xAEFE"), nothing());
    assert!(show(&with("bridge", "ether-type no-such-type")).contains("not a value of `ether-type`"));
}

#[test]
fn addresses_of_groups_select_packets_to_groups() {
    let to = |address: &str| condition("bridge", &format!("destination-mac-address {address}"));
    assert_eq!(to("01:00:5e:00:00:00/25"), json!({"destination": "224.0.0.0/4"}));
    assert_eq!(to("33:33:00:00:00:00/16"), json!({"destination": "ff00::/8"}));
    // Clocks and bridges receive these frames.
    assert_eq!(to("01:1b:19:00:00:00/48"), nothing());
    assert_eq!(to("01:80:c2:00:00:0e"), nothing());
    for open in ["00:11:22:33:44:55/48", "ff:ff:ff:ff:ff:ff/48", "01:00:5e:01:00:00/40"] {
        let model = with("bridge", &format!("destination-mac-address {open}"));
        let is_open = |state| model.lines.iter().any(|line| line.text.contains(open) && line.state == state);
        assert!(is_open(LineState::NotModelled), "{open}");
    }
}

#[test]
fn no_packet_is_a_fragment() {
    for key in ["is-fragment", "first-fragment"] {
        assert_eq!(condition("inet", key), nothing());
    }
    let model = with("inet", "is-fragment");
    let line = model.lines.iter().find(|line| line.text.ends_with("is-fragment")).unwrap();
    let note = "packets in perhop are whole IP packets: none matches this condition";
    assert_eq!((line.state, line.note.as_deref()), (LineState::Modelled, Some(note)));
}

#[test]
fn filters_of_frames_name_the_fields_of_the_ip_header() {
    let pairs = [
        ("ip-source-address 10.1.0.0/16", "source-address 10.1.0.0/16"),
        ("ip-destination-address 10.1.0.0/16", "destination-address 10.1.0.0/16"),
        ("ip-protocol udp", "protocol udp"),
        ("ip-precedence 5", "precedence 5"),
        ("ipv6-traffic-class ef", "dscp ef"),
    ];
    for (of_frames, of_packets) in pairs {
        assert_eq!(condition("bridge", of_frames), condition("inet", of_packets), "{of_frames}");
    }
}
