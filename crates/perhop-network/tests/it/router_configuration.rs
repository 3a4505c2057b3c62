//! Scenarios with router configurations: values from the configuration, refused values, and the positions of
//! diagnostics. The configuration language is a toy: its ports are defined in Rust, and its only diagnostic
//! is about the word `bad`.

use std::net::{IpAddr, Ipv4Addr};

use perhop_device::{
    AddedInterface, Concern, DeviceModel, FrontEnd, FrontEnds, InterfaceAddress, ParseOptions, Port,
    Recognition, RecognizedPlatform, Router, Wire,
};
use perhop_lint::{Diagnostic, Line, LineState, rules};
use perhop_network::Network;
use perhop_qos::classifier::{MatchConfig, OneOrMany};
use perhop_qos::error::ConfigError;
use perhop_qos::framing::Framing;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::ring::RingConfig;
use perhop_qos::units::{ByteSize, Rate};
use perhop_scenario::{Coloring, Document, Loaded, Loader, configuration_text};

struct Toy;

const TOY: Network<'static> = Network(FrontEnds::new(&Toy, &[]));

impl FrontEnd for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }
    fn platforms(&self) -> &'static [&'static str] {
        &[]
    }
    fn recognize(&self, _: &str) -> Option<Recognition> {
        None
    }
    fn parse(&self, text: &str, _: &ParseOptions) -> Result<DeviceModel, ConfigError> {
        let from_lan =
            MatchConfig { input: Some(OneOrMany(vec!["Ethernet0".into()])), ..MatchConfig::default() };
        let classes = vec![
            ClassConfig { name: "lan".into(), matches: Some(from_lan), ..ClassConfig::default() },
            ClassConfig { name: "rest".into(), ..ClassConfig::default() },
        ];
        let queueing = QueueingConfig { classes, ..QueueingConfig::default() };
        let wan = Port {
            name: "ATM1.1".into(),
            output: PolicyConfig { queueing: Some(queueing), ..PolicyConfig::default() },
            wire: Wire {
                rate: Some(Rate::from_bits_per_second(2_000_000)),
                framing: Some(Framing::Aal5Mux),
                ring: Some(RingConfig::Packets(3)),
                mtu: Some(ByteSize::from_bytes(1400)),
                adjust_mss: Some(ByteSize::from_bytes(1360)),
                ..Wire::default()
            },
            ..port("ATM1", [192, 168, 0, 1], 30)
        };
        let line = |(index, text): (usize, &str)| Line {
            number: index + 1,
            state: LineState::Modelled,
            text: text.into(),
            note: None,
            block: None,
        };
        let complaint = |line: &Line| Concern {
            assumable: None,
            diagnostic: Diagnostic::new(
                &rules::SCENARIO_DOUBTFUL,
                line.number,
                "a bad word",
                "say it nicely",
            ),
            interfaces: None,
        };
        let lines: Vec<Line> = text.lines().enumerate().map(line).collect();
        Ok(DeviceModel {
            platform: RecognizedPlatform {
                name: "toy".into(),
                dialect: "toy".into(),
                system: "toy".into(),
                supported: true,
                chosen: false,
                certain: true,
                because: Vec::new(),
                memory_rules: std::collections::BTreeMap::new(),
            },
            diagnostics: lines.iter().filter(|line| line.text.contains("bad")).map(complaint).collect(),
            lines,
            comment: '!',
            open_lines: Vec::new(),
            router: Router { ports: vec![port("Ethernet0", [10, 0, 7, 1], 24), wan], ..Router::default() },
            unsimulated: None,
            memory: None,
        })
    }
    fn interface_name(&self, written: &str) -> String {
        written.replace("eth", "Ethernet")
    }
    fn added_interface(&self, rate: Rate) -> AddedInterface {
        AddedInterface { name: "Ethernet9".into(), command: "Ethernet9".into(), rate }
    }
}

fn port(name: &str, address: [u8; 4], prefix: u8) -> Port {
    let own = InterfaceAddress { line: 1, address: Ipv4Addr::from(address).into(), prefix_length: prefix };
    Port { addresses: vec![own], ..Port::new(name, 1) }
}

const SCENARIO: &str = "\
perhop: 1
name: configured
duration: 1s
hosts: { pc: {}, server: {} }
routers:
  edge: { configuration: { text: fine, add: [also fine] } }
  core: {}
links:
  - { between: [pc, edge], rate: 10Mb/s, interfaces: { edge: { name: eth0 } } }
  - { between: [edge, core], rate: 155Mb/s, interfaces: { edge: { name: ATM1 } } }
  - { between: [core, server], rate: 10Mb/s }
traffic:
  - { name: data, from: pc, to: server, source: { cbr: { rate: 1Mb/s, packet: { ip: 1000B } } } }
";

fn load(source: &str) -> Result<Loaded, String> {
    let document = Document::parse(source, "scenario.yaml").unwrap();
    Loader::with(&TOY).load_document(&document, ".").map_err(|found| found.render(Coloring::Plain))
}

fn refused(old: &str, new: &str) -> String {
    assert!(SCENARIO.contains(old), "{old}");
    load(&SCENARIO.replacen(old, new, 1)).expect_err(new)
}

#[test]
fn a_configuration_applies_to_the_interfaces_of_links() {
    let loaded = load(SCENARIO).unwrap();
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    let [lan, wan, _] = &loaded.resolved.links[..] else { panic!("three links") };
    assert_eq!(lan.framing, None);
    assert_eq!(wan.framing, Some(Framing::Aal5Mux));
    let interface = &wan.interfaces["edge"];
    assert_eq!(interface.rate, Some(Rate::from_bits_per_second(2_000_000)));
    assert_eq!(interface.ring, RingConfig::Packets(3));
    let sizes = [interface.mtu, interface.adjust_mss].map(|size| size.map(ByteSize::as_bytes));
    assert_eq!(sizes, [Some(1400), Some(1360)]);
    let policy = &loaded.resolved.policies[interface.output.as_ref().unwrap()];
    let condition = policy.queueing.as_ref().unwrap().classes[0].matches.as_ref().unwrap();
    assert_eq!(
        condition.input,
        Some(OneOrMany(vec!["pc".into()])),
        "interfaces are called by their neighbors"
    );
    assert_eq!(
        loaded.resolved.hosts["pc"].address,
        Some(IpAddr::from([10, 0, 7, 2])),
        "of the router's subnet"
    );
    assert!(loaded.scenario.policies.is_empty(), "written values are unchanged");
    // Results contain the scenario. Loading it again gives the same resolved scenario.
    let again = serde_json::to_value(loaded.embedded()).unwrap();
    let again = Loader::with(&TOY).load_document(&Document::from_json(again), ".").unwrap();
    assert_eq!(again.resolved, Loaded { scenario: loaded.embedded(), ..loaded.clone() }.resolved);
}

#[test]
fn duplicate_settings_are_refused() {
    let name = "{ name: ATM1 }";
    for (written, said) in [
        ("{ name: ATM1, rate: 1Mb/s }", "`rate` of `ATM1.1` is set twice"),
        ("{ name: ATM1, ring: { packets: 5 } }", "`ring` of `ATM1.1` is set twice"),
        ("{ name: ATM1, mtu: 1500B }", "`mtu` of `ATM1.1` is set twice"),
        ("{ name: ATM1, output: other }", "`output` of `ATM1.1` is set twice"),
    ] {
        assert!(refused(name, written).contains(said), "{}", refused(name, written));
    }
    let framed = refused("rate: 155Mb/s", "rate: 155Mb/s, framing: ppp");
    assert!(framed.contains("the framing is ppp here and aal5-mux in line 1"), "{framed}");
    assert!(
        refused("rate: 155Mb/s", "rate: 1Mb/s").contains("2Mb/s in line 1"),
        "a circuit is part of a line"
    );
    assert!(refused("text: fine", "text: fine, file: x.cfg").contains("`file` and `text` are both set"));
}

#[test]
fn interfaces_are_named_and_exist() {
    assert!(
        refused("{ edge: { name: eth0 } }", "{}").contains("the interface of `edge` to `pc` has no `name`")
    );
    let misspelled = refused("name: eth0", "name: eth1");
    assert!(misspelled.contains("no interface `eth1`"), "{misspelled}");
    assert!(misspelled.contains("did you mean `Ethernet0`"), "{misspelled}");
    assert!(refused("name: ATM1", "name: eth0").contains("two links use interface `Ethernet0`"));
    let plain = refused(
        "interfaces: { edge: { name: ATM1 } }",
        "interfaces: { edge: { name: ATM1 }, core: { name: x } }",
    );
    assert!(plain.contains("`core` has no configuration"), "{plain}");
    assert!(refused("text: fine", "file: missing.cfg").contains("there is no file `./missing.cfg`"));
}

#[test]
fn carried_interfaces_are_named_and_have_destinations() {
    let carrying = |carries: &str| format!("{{ name: eth0, carries: {carries} }}");
    let loaded = load(&SCENARIO.replace("{ name: eth0 }", &carrying("{ ATM1.1: [10.9.0.0/16, 10.9.9.9] }")))
        .map(|loaded| loaded.resolved.policies["edge Ethernet0 output"].clone());
    // The link between `edge` and `core` already uses ATM1.1.
    assert!(loaded.unwrap_err().contains("two links use interface `ATM1.1`"));
    let alone = SCENARIO.replace("{ edge: { name: ATM1 } }", "{}").replace("[edge, core]", "[pc, core]");
    let loaded =
        load(&alone.replace("{ name: eth0 }", &carrying("{ ATM1.1: [10.9.0.0/16, 10.9.9.9] }"))).unwrap();
    let policy = &loaded.resolved.policies["edge Ethernet0 output"];
    let names = policy.queueing.as_ref().unwrap().queue_names();
    assert_eq!(names, ["ATM1.1/lan", "ATM1.1/rest"]);
    for (carries, words) in [
        ("{ ATM1.1: [] }", "no packet leaves via `ATM1.1`: it has no destinations"),
        ("{ ATM2: [10.9.0.0/16] }", "no interface `ATM2`"),
        ("{ ATM1.1: [10.9.0.1/16] }", "has bits set after the first 16"),
    ] {
        let found = load(&alone.replace("{ name: eth0 }", &carrying(carries))).unwrap_err();
        assert!(found.contains(words), "{found}");
    }
    let plain = "interfaces: { edge: { name: ATM1 }, core: { carries: { x: [10.0.0.0/8] } } }";
    let plain = refused("interfaces: { edge: { name: ATM1 } }", plain);
    assert!(plain.contains("`core` has no configuration") && plain.contains("remove `carries`"), "{plain}");
}

#[test]
fn findings_are_shown_at_their_lines() {
    let loaded = load(&SCENARIO.replace("text: fine", "text: \"fine\\nbad\"")).unwrap();
    let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
    assert_eq!((warning.path.as_str(), warning.line), ("routers.edge.configuration.text", Some(6)));
    assert_eq!(warning.message, "line 2: a bad word");
    let loaded = load(&SCENARIO.replace("[also fine]", "[also fine, bad, good]")).unwrap();
    let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
    assert_eq!(warning.path, "routers.edge.configuration.add.1");
    assert_eq!(warning.help.as_deref(), Some("say it nicely"));
}

#[test]
fn a_host_outside_the_subnet_is_pointed_out() {
    let loaded = load(&SCENARIO.replace("pc: {}", "pc: { address: 10.0.8.2 }")).unwrap();
    let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
    assert!(
        warning.message.contains("10.0.8.2 is outside the subnets of `Ethernet0`"),
        "{}",
        warning.message
    );
}

#[test]
fn without_a_language_nothing_is_guessed() {
    let document = Document::parse(SCENARIO, "scenario.yaml").unwrap();
    let refused = Loader::default().load_document(&document, ".").unwrap_err().render(Coloring::Plain);
    assert!(refused.contains("router configurations are not supported here"), "{refused}");
}

#[test]
fn windows_line_ends_are_read() {
    let written = "\u{feff}! café 😀\r\nhostname branch\r\n";
    let little: Vec<u8> = written.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = written.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [written.as_bytes(), &little, &big] {
        assert_eq!(configuration_text(bytes), written);
    }
    assert_eq!(configuration_text(b"! caf\xe9"), "! caf\u{fffd}", "Latin-1");
    assert_eq!(configuration_text(b"\xff\xfe!\0h"), "\u{feff}!", "half a unit at the end is none");
}
