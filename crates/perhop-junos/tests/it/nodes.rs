//! Nodes of ports, sets and units: their rates, and the rates that their queues refer to.

use perhop_device::Port;
use perhop_lint::LineState;
use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::policy::ClassConfig;
use perhop_qos::scheduler::{Cells, ShareConfig};
use perhop_qos::{QueueSize, Rate};

use crate::read::{parse, show};

/// Two classes, and a port of 1 Gb/s whose units have tags.
const PORT: &str = "set interfaces ge-0/0/0 hierarchical-scheduler\n\
    set interfaces ge-0/0/0 flexible-vlan-tagging\n\
    set interfaces ge-0/0/0 unit 1 vlan-id 1\n\
    set interfaces ge-0/0/0 unit 2 vlan-id 2\n\
    set class-of-service forwarding-classes class be queue-num 0\n\
    set class-of-service forwarding-classes class ef queue-num 1\n\
    set class-of-service schedulers be transmit-rate remainder\n\
    set class-of-service schedulers be buffer-size percent 50\n\
    set class-of-service schedulers ef transmit-rate percent 50 rate-limit\n\
    set class-of-service schedulers ef priority strict-high\n\
    set class-of-service scheduler-maps m forwarding-class be scheduler be\n\
    set class-of-service scheduler-maps m forwarding-class ef scheduler ef\n\
    set class-of-service traffic-control-profiles t scheduler-map m\n";

fn cos(statements: &[&str]) -> String {
    statements.iter().fold(PORT.to_owned(), |text, one| text + "set class-of-service " + one + "\n")
}

/// Returns the port called `name`.
fn port(text: &str, name: &str) -> Port {
    let model = parse(text, Some("junos-mx"));
    assert_eq!(show(&model), "");
    model.router.ports.into_iter().find(|port| port.name == name).unwrap()
}

/// Returns the class along a path of names.
fn class(port: &Port, path: &[&str]) -> ClassConfig {
    let mut queueing = port.output.queueing.clone();
    let mut found = None;
    for name in path {
        let class = queueing.take().unwrap().classes.into_iter().find(|class| class.name == *name).unwrap();
        queueing.clone_from(&class.queueing);
        found = Some(class);
    }
    found.unwrap()
}

fn bits(rate: Option<Rate>) -> u64 {
    rate.map_or(0, Rate::as_bits_per_second)
}

#[test]
fn a_unit_is_a_node_with_the_rates_of_its_profile() {
    let text = cos(&[
        "traffic-control-profiles t shaping-rate 100m burst-size 50k",
        "traffic-control-profiles t guaranteed-rate 50m",
        "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t",
    ]);
    let port = port(&text, "ge-0/0/0.1");
    let ShareConfig { rate, ceil, ceil_burst, weight, .. } = class(&port, &["unit 1"]).share;
    assert_eq!((bits(rate), bits(ceil)), (50_000_000, 100_000_000));
    assert_eq!((ceil_burst.unwrap().as_bytes(), weight), (50_000, Some(50.0)));
    let be = class(&port, &["unit 1", "be"]);
    // The queue has the rest of 100 Mb/s. Its buffer refers to 50 Mb/s (vMX: 1 564 672 bytes).
    assert_eq!(bits(be.share.rate), 50_000_000);
    let limit = QueueSize::Bytes(1_564_672);
    assert_eq!(be.buffer, Some(BufferConfig::TailDrop(TailDropConfig { limit })));
    let ef = class(&port, &["unit 1", "ef"]);
    assert_eq!(ef.share.level, Some(0));
    // 50 % of the port.
    assert_eq!(ef.police.unwrap().rate.as_bits_per_second(), 500_000_000);
}

/// Junos CoS User Guide, "Providing a Guaranteed Minimum Rate": guarantees are scaled down to the rate of the
/// port. A node without a guarantee gets nearly none if another node has one.
#[test]
fn guarantees_of_nodes_fit_into_the_port() {
    let rates = |first: &str, second: &str| {
        let text = cos(&[
            &format!("traffic-control-profiles t {first}"),
            &format!("traffic-control-profiles u {second}"),
            "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t",
            "interfaces ge-0/0/0 unit 2 output-traffic-control-profile u",
        ]);
        [("ge-0/0/0.1", "unit 1"), ("ge-0/0/0.2", "unit 2")]
            .map(|(name, node)| bits(class(&port(&text, name), &[node]).share.rate))
    };
    assert_eq!(rates("guaranteed-rate 800m", "guaranteed-rate 1200m"), [444_444_444, 555_555_555]);
    assert_eq!(rates("guaranteed-rate 30m", "shaping-rate 200m"), [30_000_000, 1000]);
    assert_eq!(rates("shaping-rate 300m", "shaping-rate 200m"), [0, 0]);
}

#[test]
fn sets_of_units_are_nodes_around_them() {
    let text = cos(&[
        "traffic-control-profiles t shaping-rate 100m",
        "traffic-control-profiles s shaping-rate 150m",
        "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t",
        "interfaces interface-set both output-traffic-control-profile s",
    ]) + "set interfaces interface-set both interface ge-0/0/0 unit 1\n";
    let port = port(&text, "ge-0/0/0.1");
    assert_eq!(bits(class(&port, &["both"]).share.ceil), 150_000_000);
    assert_eq!(bits(class(&port, &["both", "unit 1"]).share.ceil), 100_000_000);
    assert!(class(&port, &["both", "unit 1", "ef"]).queueing.is_none());
}

#[test]
fn the_remaining_units_have_a_profile_of_their_own() {
    let text = cos(&[
        "traffic-control-profiles t shaping-rate 100m",
        "traffic-control-profiles p shaping-rate 500m",
        "interfaces ge-0/0/0 output-traffic-control-profile p",
        "interfaces ge-0/0/0 output-traffic-control-profile-remaining t",
    ]);
    let port = port(&text, "ge-0/0/0");
    assert_eq!(bits(class(&port, &["port"]).share.ceil), 500_000_000);
    assert_eq!(bits(class(&port, &["port", "remaining"]).share.ceil), 100_000_000);
    assert_eq!(port.bandwidth, Some(Rate::from_bits_per_second(500_000_000)));
}

#[test]
fn a_profile_of_the_port_shapes_it() {
    let text = "set interfaces ge-0/0/1 unit 0 family inet\n\
                set class-of-service traffic-control-profiles t shaping-rate percent 10\n\
                set class-of-service traffic-control-profiles t overhead-accounting frame-mode bytes -10\n\
                set class-of-service interfaces ge-0/0/1 output-traffic-control-profile t\n";
    let port = port(text, "ge-0/0/1.0");
    assert_eq!(bits(class(&port, &["port"]).share.ceil), 100_000_000);
    let best_effort = class(&port, &["port", "best-effort"]).share;
    assert_eq!((bits(best_effort.rate), best_effort.link_layer.unwrap().overhead), (95_000_000, 30));
    let cells =
        class(&self::port(&text.replace("frame-mode bytes -10", "cell-mode"), "ge-0/0/1.0"), &["port"]);
    assert_eq!(cells.share.link_layer.unwrap().cells, Cells::Atm);
}

#[test]
fn statements_that_have_no_effect_are_reported() {
    let state = |text: &str| parse(text, Some("junos-mx")).lines.last().unwrap().state;
    let unit = "interfaces ge-0/0/0 unit 1 scheduler-map m";
    assert_eq!(state(&cos(&[unit])), LineState::Suspicious);
    let per_unit = |text: &str| text.replace("hierarchical-scheduler", "per-unit-scheduler");
    assert_eq!(state(&per_unit(&cos(&[unit]))), LineState::Modelled);
    let flat = cos(&[unit]).replace("set interfaces ge-0/0/0 hierarchical-scheduler\n", "");
    assert_eq!(state(&flat), LineState::Suspicious);
    assert_eq!(
        state(&cos(&["traffic-control-profiles t excess-rate-high percent 5"])),
        LineState::NotModelled
    );
    let few = "traffic-control-profiles t overhead-accounting frame-mode bytes -120";
    let attached = "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t";
    let model = parse(&cos(&[attached, few]), Some("junos-mx"));
    assert_eq!(model.lines.last().unwrap().state, LineState::NotModelled);
    let undefined = parse(&cos(&["interfaces ge-0/0/0 output-traffic-control-profile x"]), Some("junos-mx"));
    assert!(show(&undefined).contains("there is no traffic-control profile `x`"));
}

/// A number behind `burst-size` is not a rate.
#[test]
fn shapers_have_bursts() {
    let text = cos(&[
        "schedulers be shaping-rate 50m burst-size 64k",
        "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t",
    ]);
    let share = class(&port(&text, "ge-0/0/0.1"), &["unit 1", "be"]).share;
    assert_eq!((bits(share.ceil), share.ceil_burst.unwrap().as_bytes()), (50_000_000, 64_000));
}

/// Without schedulers of units, the packets of every unit use the queues of the port.
#[test]
fn units_have_the_queues_of_a_port_without_nodes() {
    let flat = |text: &str| text.replace("set interfaces ge-0/0/0 hierarchical-scheduler\n", "");
    let text = flat(&cos(&["interfaces ge-0/0/0 scheduler-map m", "interfaces ge-0/0/0 shaping-rate 100m"]));
    let (whole, unit) = (port(&text, "ge-0/0/0"), port(&text, "ge-0/0/0.1"));
    assert_eq!(unit.bandwidth, Some(Rate::from_bits_per_second(100_000_000)));
    assert_eq!((unit.bandwidth, unit.wire), (whole.bandwidth, whole.wire));
    assert_eq!(unit.forwarding.output_line, whole.forwarding.output_line);
    assert_eq!(unit.output.queueing, whole.output.queueing);
    assert!(port(&flat(PORT), "ge-0/0/0.1").output.queueing.is_none());
}

#[test]
fn units_without_a_profile_are_in_the_node_of_the_remaining_ones() {
    let text = cos(&[
        "traffic-control-profiles t shaping-rate 100m",
        "traffic-control-profiles u shaping-rate 20m",
        "interfaces ge-0/0/0 unit 1 output-traffic-control-profile u",
        "interfaces ge-0/0/0 output-traffic-control-profile-remaining t",
    ]);
    assert_eq!(bits(class(&port(&text, "ge-0/0/0.1"), &["unit 1"]).share.ceil), 20_000_000);
    let unit = port(&text, "ge-0/0/0.2");
    // Equal output lines show a run of the whole port that the unit uses the queues of the port.
    assert_eq!(unit.forwarding.output_line, port(&text, "ge-0/0/0").forwarding.output_line);
    assert!(unit.forwarding.output_line.is_some());
    assert_eq!(bits(class(&unit, &["remaining"]).share.ceil), 100_000_000);
    assert_eq!(bits(class(&unit, &["remaining", "be"]).share.rate), 50_000_000);
}

/// Junos CoS User Guide, "transmit-rate": percentages refer to the shaper of the port.
#[test]
fn a_rate_limit_refers_to_the_shaper_of_a_port_without_nodes() {
    let flat = PORT.replace("set interfaces ge-0/0/0 hierarchical-scheduler\n", "");
    let text = flat
        + "set class-of-service interfaces ge-0/0/0 scheduler-map m\n\
           set class-of-service interfaces ge-0/0/0 shaping-rate 100m\n";
    let ef = class(&port(&text, "ge-0/0/0"), &["port", "ef"]);
    assert_eq!(ef.police.unwrap().rate.as_bits_per_second(), 50_000_000);
}

/// Junos CoS User Guide, "Providing a Guaranteed Minimum Rate": guarantees
/// and percentages refer to the shaper of the parent.
#[test]
fn guarantees_and_percentages_fit_into_the_shaper_of_the_port() {
    let text = cos(&[
        "traffic-control-profiles p shaping-rate 100m",
        "traffic-control-profiles t guaranteed-rate 80m",
        "traffic-control-profiles u guaranteed-rate percent 80",
        "traffic-control-profiles u scheduler-map m",
        "interfaces ge-0/0/0 output-traffic-control-profile p",
        "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t",
        "interfaces ge-0/0/0 unit 2 output-traffic-control-profile u",
    ]);
    for (name, node) in [("ge-0/0/0.1", "unit 1"), ("ge-0/0/0.2", "unit 2")] {
        let port = port(&text, name);
        assert_eq!(bits(class(&port, &[node]).share.rate), 50_000_000);
        // The rest of 100 Mb/s behind a rate limit of 50 %.
        assert_eq!(bits(class(&port, &[node, "be"]).share.rate), 50_000_000);
    }
}

/// A guarantee inside a node without a guarantee also counts.
#[test]
fn guarantees_of_units_count_in_sets_without_one() {
    let text = cos(&[
        "traffic-control-profiles s shaping-rate 80m",
        "traffic-control-profiles t guaranteed-rate 80m",
        "traffic-control-profiles u guaranteed-rate 20m",
        "traffic-control-profiles u scheduler-map m",
        "interfaces interface-set both output-traffic-control-profile s",
        "interfaces ge-0/0/0 unit 1 output-traffic-control-profile t",
        "interfaces ge-0/0/0 unit 2 output-traffic-control-profile u",
    ]) + "set interfaces interface-set both interface ge-0/0/0 unit 1\n\
          set interfaces interface-set both interface ge-0/0/0 unit 2\n";
    let rates = [("ge-0/0/0.1", "unit 1"), ("ge-0/0/0.2", "unit 2")].map(|(name, node)| {
        let port = port(&text, name);
        assert_eq!(bits(class(&port, &["both"]).share.rate), 1000);
        bits(class(&port, &["both", node]).share.rate)
    });
    assert_eq!(rates, [64_000_000, 16_000_000]);
}
