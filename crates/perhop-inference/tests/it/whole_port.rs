//! Tests of the policies of tunnels and sub-interfaces together, at the port that they share.

use perhop_front_ends::{FRONT_ENDS, loader};
use perhop_inference::{Failure, Inferred, Request, infer};
use perhop_network::Devices;
use perhop_qos::Packet;
use perhop_qos::packet::Protocol;
use perhop_qos::policy::PolicyConfig;
use perhop_qos::port::PortClassifier;
use perhop_scenario::Document;

use crate::work::request;

const POLICIES: &str = "version 15.4\nhostname hub\n\
    class-map VOICE\n match dscp ef\n\
    policy-map CLASSES\n class VOICE\n  priority percent 20\n\
    policy-map SITE\n class class-default\n  shape average 6000000\n  service-policy CLASSES\n\
    policy-map POLICED\n class VOICE\n  police 500000\n\
    interface FastEthernet0/1\n ip address 10.20.0.1 255.255.255.0\n";
const PORT: &str = "interface Ethernet0/0\n ip address 203.0.113.2 255.255.255.252\n";

fn subinterface(number: u8, policy: &str) -> String {
    format!(
        "interface Ethernet0/0.{number}\n encapsulation dot1Q {number}\n \
         ip address 10.1.{number}.1 255.255.255.252\n {policy}\n"
    )
}

fn tunnel(number: u8, address: &str) -> String {
    format!(
        "interface Tunnel{number}\n{address} tunnel source Ethernet0/0\n \
         tunnel destination 198.51.100.{number}\n service-policy output SITE\n"
    )
}

fn whole(text: &str, port: &str) -> Result<Inferred, Failure> {
    let request = Request { whole_port: Some(port.into()), ..request(text) };
    infer(&Devices::new(FRONT_ENDS), &request, None)
}

/// Returns the output policy of the port in the resolved scenario.
fn policy(inferred: &Inferred) -> PolicyConfig {
    let document = Document::from_json(inferred.scenario.clone());
    let loaded = loader().load_document(&document, std::path::Path::new(".")).unwrap();
    loaded.resolved.policies["hub Ethernet0/0 output"].clone()
}

/// Returns the queue in which a packet to `destination` waits.
fn queue_to(policy: &PolicyConfig, destination: &str) -> Option<String> {
    let queueing = policy.queueing.as_ref().unwrap();
    let classifier = PortClassifier::build(queueing, &[]).unwrap();
    let destination: std::net::IpAddr = destination.parse().unwrap();
    let packet = Packet { destination: destination.into(), protocol: Protocol::UDP, ..Packet::default() };
    let queue = classifier.classify(&packet)?;
    Some(queueing.queue_names()[usize::from(queue.0)].clone())
}

#[test]
fn sub_interfaces_share_the_rate_of_their_port_with_all_their_classes() {
    let sites: String = (1..=3).map(|number| subinterface(number, "service-policy output SITE")).collect();
    let found = whole(&format!("{POLICIES}{PORT}{sites}"), "e0/0").unwrap();
    assert_eq!(found.leaving.as_deref(), Some("Ethernet0/0"));
    assert_eq!((found.wire, &found.not_looked_at), (10_000_000, &Vec::new()));
    let offered: Vec<(&str, f64)> =
        found.offered.iter().map(|offer| (offer.class.as_str(), offer.load.round())).collect();
    // A third of the port is 3333 kb/s, which is below the 6000 kb/s of the shaper. Voice has 1200 kb/s,
    // which is 20 % of the shaper's rate. For each packet, the port counts 18 bytes in addition to IP.
    let ip_part = |packet: f64| packet / (packet + 18.0);
    let voice = (0.9 * 1_200_000.0 * ip_part(200.0)).round();
    let rest = (0.9 * (10_000_000.0 / 3.0 - 1_200_000.0) * ip_part(1500.0)).round();
    for number in 1..=3 {
        for (class, load) in [("VOICE", voice), ("class-default", rest)] {
            let name = format!("Ethernet0/0.{number}/{class}");
            assert!(offered.contains(&(name.as_str(), load)), "{name} {load}: {offered:?}");
        }
    }
    assert_eq!(offered.len(), 6);
    assert!(
        found.assumed[0].contains("get equal parts of its rate while the port is full"),
        "{:?}",
        found.assumed
    );
}

#[test]
fn the_longest_prefix_chooses_the_tunnel() {
    let routes = "ip route 10.50.0.0 255.255.0.0 10.2.1.2\nip route 10.50.60.0 255.255.255.0 Tunnel2\n\
                  ip route 10.50.60.7 255.255.255.255 Tunnel1\n";
    let tunnels = [
        tunnel(1, " ip address 10.2.1.1 255.255.255.252\n"),
        tunnel(2, " ip unnumbered FastEthernet0/1\n"),
        tunnel(3, " ip unnumbered FastEthernet0/1\n"),
    ];
    let found = whole(&format!("{POLICIES}{PORT}{}{routes}", tunnels.concat()), "Ethernet0/0").unwrap();
    let policy = policy(&found);
    for (destination, tunnel) in [
        ("10.50.1.1", Some("Tunnel1")),
        ("10.2.1.2", Some("Tunnel1")),
        ("10.50.60.1", Some("Tunnel2")),
        ("10.50.60.7", Some("Tunnel1")),
        // Tunnel3 has neither an address nor a route, so perhop assigns a destination to it.
        ("198.18.0.9", Some("Tunnel3")),
        ("203.0.113.1", None),
    ] {
        let queue = queue_to(&policy, destination);
        let found = queue.as_deref().map(|queue| queue.split('/').next().unwrap());
        assert_eq!(found, tunnel, "{destination}");
    }
    assert!(
        found
            .assumed
            .iter()
            .any(|assumption| assumption.starts_with("packets to 198.18.0.0/24 leave via Tunnel3"))
    );
}

#[test]
fn a_policer_of_one_interface_has_no_part_in_the_packets_of_another() {
    let sites =
        [subinterface(1, "service-policy output POLICED"), subinterface(2, "service-policy output POLICED")];
    let found = whole(&format!("{POLICIES}{PORT}{}", sites.concat()), "Ethernet0/0").unwrap();
    let names: Vec<&str> = found.offered.iter().map(|offer| offer.class.as_str()).collect();
    for name in ["Ethernet0/0.1/VOICE", "Ethernet0/0.2/VOICE"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let policy = policy(&found);
    let stages = policy.conditioners.iter().filter_map(|stage| stage.name.as_deref());
    let policers: Vec<&str> = stages.filter(|name| name.ends_with("VOICE")).collect();
    assert_eq!(policers, ["Ethernet0/0.1.VOICE", "Ethernet0/0.2.VOICE"]);
    assert!(policy.conditioners.iter().all(|stage| stage.matches.is_some()));
}

#[test]
fn unapplied_parts_of_the_port_are_described() {
    let sites = [tunnel(1, ""), subinterface(2, "service-policy output SITE"), subinterface(3, "")].concat();
    let found = whole(&format!("{POLICIES}{PORT}{sites}"), "Ethernet0/0").unwrap();
    let left_out = found.not_looked_at.join("\n");
    for words in [
        "packets of Ethernet0/0.3, which share the port and have no output policy",
        "different headers of the interfaces of Ethernet0/0",
    ] {
        assert!(left_out.contains(words), "{words}: {left_out}");
    }
}

#[test]
fn shares_of_ports_in_the_rest_are_named_as_not_applied() {
    let ratio =
        "policy-map RATIO\n class class-default\n  shape average 6000000\n  bandwidth remaining ratio 3\n";
    let sites = [2, 3].map(|number| subinterface(number, "service-policy output RATIO")).concat();
    let found = whole(&format!("{POLICIES}{ratio}{PORT}{sites}"), "Ethernet0/0").unwrap();
    let left_out = "the bandwidth remaining of Ethernet0/0.2, Ethernet0/0.3: its share of the rate \
                    that the other interfaces of Ethernet0/0 leave";
    assert_eq!(found.not_looked_at, [left_out]);
    // A share among the classes of one port is applied.
    let inner = "policy-map SITE3\n class VOICE\n  bandwidth remaining ratio 3\n class class-default\n";
    let site = subinterface(2, "service-policy output SITE3");
    let found = whole(&format!("{POLICIES}{inner}{PORT}{site}"), "Ethernet0/0").unwrap();
    assert_eq!(found.not_looked_at, Vec::<String>::new());
}

#[test]
fn a_policy_of_the_port_applies_to_sub_interfaces_without_a_policy() {
    let port = format!("{PORT} service-policy output CLASSES\n");
    let found = whole(&format!("{POLICIES}{port}{}{}", tunnel(1, ""), subinterface(2, "")), "e0/0").unwrap();
    let left_out = "the output policy of Ethernet0/0, which also applies to packets of Tunnel1".to_owned();
    assert_eq!(found.not_looked_at, [left_out]);
    let policy = policy(&found);
    for destination in ["192.0.2.1", "10.1.2.2"] {
        let queue = queue_to(&policy, destination);
        assert_eq!(queue.as_deref(), Some("Ethernet0/0/others/class-default"), "{destination}");
    }
}

#[test]
fn a_port_that_carries_no_policy_is_refused() {
    let text = format!("{POLICIES}{PORT}{}", subinterface(1, ""));
    for (port, words) in
        [("Ethernet0/0", "no tunnel or sub-interface with an output policy"), ("e0/9", "has no interface")]
    {
        match whole(&text, port).unwrap_err() {
            Failure::Invalid { message, .. } => assert!(message.contains(words), "{message}"),
            other => panic!("{other:?}"),
        }
    }
}
