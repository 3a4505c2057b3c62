//! The assignment of a scenario's ports to processes.

use std::path::Path;

use perhop_live::config::SentFrames;
use perhop_live::lowering::{Plan, check_headers, plan};
use perhop_live::{Forwarder, ForwarderConfig, TestWire};
use perhop_scenario::{Scenario, load_json};
use serde_json::{Value, json};

fn scenario(value: Value) -> Scenario {
    load_json(value, ".").unwrap_or_else(|found| panic!("{found:?}")).resolved
}

/// A network with two hosts behind routers, two hosts on one wire, and a host with two interfaces. Between
/// the routers, the shortest path has one link, and the cheapest path has two.
fn network() -> Value {
    json!({
        "perhop": 1, "name": "lowered", "duration": "1s",
        "hosts": {"alice": {}, "bob": {"address": "192.0.2.7"}, "carol": {}, "dave": {}},
        "routers": {"east": {}, "north": {}, "west": {}},
        "links": [
            {"between": ["alice", "west"], "rate": "10Mb/s", "interfaces": {"west": {"input": "police", "rate": "5Mb/s"}}},
            {"between": ["west", "east"], "rate": "1Mb/s", "delay": "30ms", "cost": 10,
             "interfaces": {"west": {"output": "classes"}, "east": {"input": "police"}}},
            {"between": ["west", "north"], "rate": "1Mb/s", "loss": 0.25},
            {"between": ["north", "east"], "rate": "1Mb/s"},
            {"between": ["east", "bob"], "rate": "10Mb/s", "interfaces": {"bob": {"input": "police"}}},
            {"between": ["carol", "dave"], "rate": "2Mb/s", "delay": "1ms"},
            {"between": ["carol", "north"], "rate": "2Mb/s"},
        ],
        "policies": {
            "police": {"conditioners": [{"name": "drop", "meter": {"token-bucket": {"rate": "1Mb/s", "burst": "3kB"}}, "red": ["drop"]}]},
            "classes": {"conditioners": [{"name": "mark", "actions": [{"mark": "af11"}]}],
                        "queueing": {"scheduler": "priority", "classes": [{"name": "voice", "match": {"dscp": "ef"}}, {"name": "rest"}]}},
        },
        "traffic": [
            {"name": "t", "from": "alice", "to": "bob", "source": {"cbr": {"rate": "1Mb/s", "packet": {"ip": "1000B"}}}},
            {"name": "u", "from": "carol", "to": "dave", "source": {"cbr": {"rate": "1Mb/s", "packet": {"ip": "4000B"}}}},
        ],
    })
}

fn forwarder<'p>(plan: &'p Plan, node: &str) -> &'p ForwarderConfig {
    plan.forwarders.iter().find(|forwarder| forwarder.node == node).unwrap()
}

fn names<'p>(plan: &'p Plan, node: &str) -> Vec<&'p str> {
    forwarder(plan, node).directions.iter().map(|direction| direction.name.as_str()).collect()
}

#[test]
fn every_port_runs_once_in_its_process() {
    let scenario = scenario(network());
    let plan = plan(&scenario, Path::new("."), 3, 0).unwrap();
    let nodes: Vec<_> = plan.forwarders.iter().map(|forwarder| forwarder.node.as_str()).collect();
    assert_eq!(nodes, ["east", "north", "west", "carol--dave"]);
    assert_eq!(names(&plan, "west"), ["alice->west", "west->alice", "west->east", "west->north"]);
    assert_eq!(names(&plan, "east"), ["east->west", "east->north", "east->bob", "bob->east"]);
    assert_eq!(names(&plan, "carol--dave"), ["carol->dave", "dave->carol"]);
    let count: usize = plan.forwarders.iter().map(|forwarder| forwarder.directions.len()).sum();
    assert_eq!(count, 2 * scenario.links.len());
    for forwarder in &plan.forwarders {
        assert_eq!((forwarder.seed, forwarder.replication), (3, 0));
        Forwarder::build(forwarder, TestWire::default(), ()).unwrap();
        let text = serde_json::to_string(forwarder).unwrap();
        assert_eq!(serde_json::from_str::<ForwarderConfig>(&text).unwrap(), *forwarder);
    }
}

#[test]
fn a_direction_has_the_settings_of_both_ends() {
    let plan = plan(&scenario(network()), Path::new("."), 3, 0).unwrap();
    let find = |node: &str, name: &str| {
        forwarder(&plan, node).directions.iter().find(|direction| direction.name == name).unwrap().clone()
    };
    let access = find("west", "alice->west");
    assert_eq!((access.receives_on.as_deref(), access.sends_on.as_deref()), (Some("alice"), None));
    assert_eq!(access.rate.as_bits_per_second(), 10_000_000);
    assert_eq!(
        access.input.unwrap()[0].name.as_deref(),
        Some("drop"),
        "the router conditions behind the host's port"
    );
    let back = find("west", "west->alice");
    assert_eq!((back.receives_on, back.sends_on.as_deref()), (None, Some("alice")));
    assert_eq!(back.rate.as_bits_per_second(), 5_000_000, "the router's own end");
    assert_eq!(back.input, Some(Vec::new()), "the host's end is emulated here");

    let trunk = find("west", "west->east");
    assert_eq!(trunk.output[0].name.as_deref(), Some("mark"));
    assert_eq!(trunk.queueing.unwrap().classes.len(), 2);
    assert_eq!(trunk.output_interfaces, ["alice", "east", "north"]);
    assert_eq!(trunk.input, None, "the other router conditions packets from here");
    let input = forwarder(&plan, "east").inputs.iter().find(|input| input.name == "west->east").unwrap();
    assert_eq!((input.device.as_str(), input.far_interface), ("west", 0));
    assert_eq!(input.input[0].name.as_deref(), Some("drop"));
    assert_eq!(find("west", "west->north").loss, 0.25);
    assert_eq!(find("east", "east->bob").input.unwrap().len(), 1, "a host conditions too");
    let wire = find("carol--dave", "carol->dave");
    assert_eq!((wire.receives_on.as_deref(), wire.sends_on.as_deref()), (Some("carol"), Some("dave")));
}

#[test]
fn routes_match_the_simulation() {
    let plan = plan(&scenario(network()), Path::new("."), 3, 0).unwrap();
    let routes = |node: &str| -> Vec<(String, &str)> {
        forwarder(&plan, node)
            .routes
            .iter()
            .map(|route| (route.to.to_string(), route.direction.as_str()))
            .collect()
    };
    // Addresses follow the order of names: alice .1, carol .2, dave .3. The host carol does not forward
    // packets to dave.
    assert_eq!(
        routes("west"),
        [
            ("10.0.0.1/32".to_owned(), "west->alice"),
            ("192.0.2.7/32".to_owned(), "west->north"),
            ("10.0.0.2/32".to_owned(), "west->north")
        ]
    );
    assert_eq!(routes("carol--dave"), []);
    let carol = plan.hosts.iter().find(|host| host.name == "carol").unwrap();
    assert_eq!(carol.devices, ["dave", "north"]);
    let by = |to: &str| {
        let route = carol.routes.iter().find(|route| route.to.to_string() == to);
        route.map(|route| route.device.as_str())
    };
    assert_eq!((by("10.0.0.3/32"), by("192.0.2.7/32")), (Some("dave"), Some("north")));
    let alice = plan.hosts.iter().find(|host| host.name == "alice").unwrap();
    assert!(alice.routes.is_empty(), "one device leads everywhere");
}

#[test]
fn cables_connect_existing_devices() {
    let plan = plan(&scenario(network()), Path::new("."), 3, 0).unwrap();
    let mut ends: Vec<(String, String)> = Vec::new();
    for end in plan.cables.iter().flat_map(|cable| &cable.ends) {
        ends.push((end.node.clone(), end.device.clone()));
    }
    let mut devices: Vec<(String, String)> = Vec::new();
    for forwarder in &plan.forwarders {
        devices
            .extend(forwarder.devices().iter().map(|device| (forwarder.node.clone(), (*device).to_owned())));
    }
    for host in &plan.hosts {
        devices.extend(host.devices.iter().map(|device| (host.name.clone(), device.clone())));
    }
    ends.sort();
    devices.sort();
    assert_eq!(ends, devices, "every device has one cable, every end of a cable is a device");
    assert_eq!(plan.mtu, 4000);
    assert!(plan.forwarders.iter().all(|forwarder| forwarder.longest_frame >= 4014));
}

#[test]
fn frames_between_forwarders_have_the_tags_and_labels_of_the_link() {
    let mut value = network();
    value["links"][1]["framing"] = json!("ethernet-wire");
    value["links"][1]["headers"] = json!([{"mpls": {"labels": 3}}, "vlan"]);
    value["links"][4]["framing"] = json!("ethernet-wire");
    value["links"][4]["headers"] = json!([{"mpls": {"labels": 8}}]);
    let scenario = scenario(value);
    let plan = plan(&scenario, Path::new("."), 3, 0).unwrap();
    check_headers(&scenario).unwrap();
    let sent = |node: &str, name: &str| {
        let found = forwarder(&plan, node).directions.iter().find(|direction| direction.name == name);
        found.unwrap().sent_frames
    };
    assert_eq!(sent("west", "west->east"), SentFrames::OfLink);
    assert_eq!(sent("west", "west->north"), SentFrames::OfLink, "tagged packets leave untagged");
    assert_eq!(sent("east", "east->bob"), SentFrames::Plain, "the host's kernel knows nothing of it");
    assert_eq!(plan.envelope, 16, "three labels and a tag");
    assert!(plan.forwarders.iter().all(|forwarder| forwarder.longest_frame >= 4030));
}

#[test]
fn headers_that_live_frames_cannot_have_are_named() {
    for (framing, headers, expected) in [
        (
            "ethernet-wire",
            json!([{"esp": {"cipher": "aes-gcm"}}]),
            "0: the frames of a live run cannot have the header `esp`",
        ),
        (
            "ethernet-wire",
            json!(["gre", {"esp": {"cipher": "aes-gcm", "mode": "transport"}}]),
            "1: the frames of a live run cannot have the header `esp`",
        ),
        (
            "ethernet-wire",
            json!(["pppoe", "vlan"]),
            "0: the frames of a live run cannot have the header `pppoe`",
        ),
        ("ppp", json!(["mlppp"]), "0: the frames of a live run cannot have the header `mlppp`"),
        ("aal5-mux", json!(["ppp"]), "0: the frames of a live run cannot have the header `ppp`"),
        ("raw", json!(["frame-relay"]), "0: the frames of a live run cannot have the header `frame-relay`"),
        ("ethernet-wire", json!(["l2tp"]), "0: the frames of a live run cannot have the header `l2tp`"),
        ("aal5-snap", json!(["bridged"]), "0: the frames of a live run cannot have the header `bridged`"),
        ("ethernet-wire", json!(["vlan", "vlan", "vlan", "vlan", "vlan"]), " 5 tags and 0 labels"),
        (
            "ethernet-wire",
            json!([{"mpls": {"labels": 8}}, {"mpls": {"labels": 8}}, "mpls"]),
            " 0 tags and 17 labels",
        ),
    ] {
        let mut value = network();
        value["links"][2]["framing"] = json!(framing);
        value["links"][2]["headers"] = headers;
        let error = check_headers(&scenario(value)).unwrap_err().to_string();
        let expected = format!("links.2.headers.{expected}").replace(". ", ": ");
        assert!(error.starts_with(&expected), "{error}\nexpected: {expected}");
    }
}

#[test]
fn a_path_has_one_version_of_ip() {
    let mut value = network();
    value["hosts"]["bob"] = json!({"address": "2001:db8::7"});
    let error = plan(&scenario(value), Path::new("."), 3, 0).unwrap_err().to_string();
    assert!(error.starts_with("traffic.0.to: 10.0.0.1 and 2001:db8::7"), "{error}");
}

#[test]
fn an_invalid_scenario_is_reported_with_its_place() {
    let plan = plan(&scenario(network()), Path::new("."), 3, 0).unwrap();
    let refused = |change: &dyn Fn(&mut ForwarderConfig)| {
        let mut config = plan.forwarders[2].clone();
        change(&mut config);
        Forwarder::build(&config, TestWire::default(), ()).unwrap_err().to_string()
    };
    for (error, expected) in [
        (refused(&|config| config.slots = 0), "slots: there is no room"),
        (refused(&|config| config.longest_frame = 20), "longest-frame: no IP packet fits"),
        (
            refused(&|config| config.routes[0].direction = "up".into()),
            "routes.0.direction: there is no direction",
        ),
        (refused(&|config| config.directions[1].loss = 1.5), "directions.1.loss: 1.5 is not a probability"),
        (
            refused(&|config| config.directions[1].name = "alice->west".into()),
            "directions.1.name: an earlier direction already",
        ),
        (
            refused(&|config| config.inputs[0].device = "alice".into()),
            "inputs.0.device: direction alice already",
        ),
        (
            refused(&|config| config.directions[0].rate = "0b/s".parse().unwrap()),
            "directions.0.rate: a rate of 0",
        ),
    ] {
        assert!(error.starts_with(expected), "{error}\nexpected: {expected}");
    }
}
