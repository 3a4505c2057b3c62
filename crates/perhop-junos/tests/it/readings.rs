//! Compares documented shares and printed buffers with the lowered policies.

use std::fmt::Write;

use perhop_qos::buffer::{BufferConfig, TailDropConfig};
use perhop_qos::policy::ClassConfig;
use perhop_qos::{QueueSize, Rate};

use crate::read::{parse, show};

/// Returns the queues of the port with a scheduler map of `queues`: name, number, and statements.
fn queues(platform: &str, port: &str, queues: &[(&str, u8, &[&str])]) -> Vec<ClassConfig> {
    let mut text = format!("set interfaces {port} unit 0 family inet\n");
    for (name, number, statements) in queues {
        writeln!(text, "set class-of-service forwarding-classes class {name} queue-num {number}").unwrap();
        writeln!(text, "set class-of-service scheduler-maps m forwarding-class {name} scheduler {name}")
            .unwrap();
        for statement in *statements {
            writeln!(text, "set class-of-service schedulers {name} {statement}").unwrap();
        }
    }
    writeln!(text, "set class-of-service interfaces {port} scheduler-map m").unwrap();
    let model = parse(&text, Some(platform));
    assert_eq!(show(&model).lines().filter(|line| !line.contains("note:")).count(), 0, "{}", show(&model));
    let queueing = model.router.ports[0].output.queueing.clone().unwrap();
    queueing.classes[0].queueing.clone().unwrap().classes
}

fn named<'c>(classes: &'c [ClassConfig], name: &str) -> &'c ClassConfig {
    classes.iter().find(|class| class.name == name).unwrap()
}

fn megabits(class: &ClassConfig) -> f64 {
    class.share.rate.map_or(0.0, |rate| rate.as_bits_per_second() as f64 / 1e6)
}

fn limit(class: &ClassConfig) -> u64 {
    match &class.buffer {
        Some(BufferConfig::TailDrop(TailDropConfig { limit: QueueSize::Bytes(bytes) })) => *bytes,
        other => panic!("{other:?}"),
    }
}

/// The topic `bw-sharing-excess-examples-cos-config-guide`, table 1: excess high before excess low.
#[test]
fn guarantees_and_excess_levels_of_the_documented_example() {
    let classes = queues(
        "junos-mx",
        "ge-0/0/0",
        &[
            ("q0", 0, &["transmit-rate percent 20", "priority high", "excess-priority high"]),
            ("q1", 1, &["transmit-rate percent 10", "priority high", "excess-priority high"]),
            ("q2", 2, &["transmit-rate percent 10", "priority low", "excess-priority low"]),
            ("q3", 3, &["transmit-rate percent 5", "priority low", "excess-priority low"]),
        ],
    );
    let rates: Vec<f64> = ["q0", "q1", "q2", "q3"].map(|name| megabits(named(&classes, name))).to_vec();
    assert_eq!(rates, [200.0, 100.0, 100.0, 50.0]);
    let levels = ["q0", "q1", "q2", "q3"].map(|name| {
        let share = &named(&classes, name).share;
        (share.level.unwrap(), share.excess_level.unwrap())
    });
    assert_eq!(levels, [(0, 0), (0, 0), (3, 1), (3, 1)]);
    // Excess in the ratio 20 : 10.
    let weight = |name| named(&classes, name).share.weight.unwrap();
    assert!((weight("q0") - 2.0 * weight("q1")).abs() < 1e-9);
}

/// `show interfaces extensive` of genieparser: a port without class of service has 95 % and 5 %. At 1 Gb/s,
/// an MX960 prints a buffer of 12 124 160 bytes.
#[test]
fn a_port_without_class_of_service_has_the_default_schedulers() {
    let model = parse("set interfaces ge-0/0/0 unit 0 family inet\n", Some("junos-mx"));
    let queueing = model.router.ports[0].output.queueing.clone().unwrap();
    let classes = queueing.classes[0].queueing.clone().unwrap().classes;
    assert_eq!(megabits(named(&classes, "best-effort")), 950.0);
    assert_eq!(megabits(named(&classes, "network-control")), 50.0);
    assert_eq!(limit(named(&classes, "best-effort")), 12_124_160);
    assert_eq!(limit(named(&classes, "assured-forwarding")), 32_768);
}

/// Output of an MX with 10 Gb/s: 4 % of the buffer are 5 111 808 bytes.
#[test]
fn a_percentage_of_the_delay_buffer_is_rounded_as_printed() {
    let own: &[&str] = &["transmit-rate percent 4", "buffer-size percent 4"];
    let classes = queues("junos-mx", "xe-0/2/0", &[("best-effort", 0, own)]);
    assert_eq!(limit(named(&classes, "best-effort")), 5_111_808);
    assert_eq!(megabits(named(&classes, "best-effort")), 400.0);
}

/// The topic `cos-configuring-delay-buffer-size`: four queues without a transmit rate have 4 s at 100 Mb/s.
#[test]
fn srx_gives_queues_without_a_rate_equal_parts() {
    let own: &[&str] = &["buffer-size temporal 4m"];
    let all = [("a", 0, own), ("b", 1, own), ("c", 5, own), ("d", 7, own)];
    let classes = queues("junos-srx", "fe-0/0/0", &all);
    for class in &classes {
        assert_eq!((megabits(class), limit(class)), (25.0, 12_500_000), "{}", class.name);
    }
}

/// The topic `schedulers-cos-ae-example-cos-config-guide`: 10 %, 20 %, 80 Mb/s and 30 % of 100 Mb/s are
/// scaled to 7, 14, 57 and 21 %. They fit into 200 Mb/s of two links without scaling.
#[test]
fn rates_above_the_port_are_scaled_down() {
    let text = |links: &[&str]| {
        let mut text = String::new();
        for link in links {
            writeln!(text, "set interfaces {link} gigether-options 802.3ad ae0").unwrap();
        }
        for (name, queue, rate) in
            [("be", 0, "percent 10"), ("af", 2, "percent 20"), ("ef", 1, "80m"), ("nc", 3, "percent 30")]
        {
            write!(
                text,
                "set class-of-service forwarding-classes class {name} queue-num {queue}\n\
                 set class-of-service schedulers {name} transmit-rate {rate}\n\
                 set class-of-service scheduler-maps m forwarding-class {name} scheduler {name}\n"
            )
            .unwrap();
        }
        text + "set interfaces ae0 unit 0 family inet\nset class-of-service interfaces ae0 scheduler-map m\n"
    };
    let shares = |links: &[&str]| {
        let model = parse(&text(links), Some("junos-mx"));
        let port = model.router.ports.iter().find(|port| port.interface == "ae0").unwrap();
        let total = port.bandwidth.map(Rate::as_bits_per_second).unwrap() as f64 / 1e8;
        let queueing = port.output.queueing.clone().unwrap();
        let classes = queueing.classes[0].queueing.clone().unwrap().classes;
        ["be", "af", "ef", "nc"].map(|name| (megabits(named(&classes, name)) / total).floor() as u32)
    };
    assert_eq!(shares(&["fe-0/0/0"]), [7, 14, 57, 21]);
    assert_eq!(shares(&["fe-0/0/0", "fe-0/0/1"]), [10, 20, 40, 30]);
}

/// Junos CoS User Guide, "transmit-rate" and "excess-priority": a queue with excess priority `none` gets
/// nothing above its guarantee, even if the guarantee is 0.
#[test]
fn a_queue_without_guarantee_and_excess_gets_nothing() {
    let found = queues(
        "junos-mx",
        "ge-0/0/0",
        &[
            ("be", 0, &["transmit-rate percent 50"]),
            ("exact", 1, &["transmit-rate percent 0 exact"]),
            ("none", 2, &["transmit-rate percent 0", "excess-priority none"]),
            ("strict", 3, &["priority strict-high", "excess-priority none"]),
        ],
    );
    let most = |name: &str| named(&found, name).share.ceil.map(Rate::as_bits_per_second);
    assert_eq!((most("exact"), most("none")), (Some(8), Some(8)));
    assert_eq!((most("be"), most("strict")), (None, Some(1_000_000_000)));
}

/// Each tag adds four bytes, also on a port with several units.
#[test]
fn tags_count() {
    let overhead = |units: &str| {
        let text = format!("set interfaces ge-0/0/0 flexible-vlan-tagging\n{units}");
        let model = parse(&text, Some("junos-mx"));
        assert_eq!(show(&model), "");
        let queueing = model.router.ports[0].output.queueing.clone().unwrap();
        queueing.classes[0].share.link_layer.unwrap().overhead
    };
    assert_eq!(overhead("set interfaces ge-0/0/0 unit 1 vlan-tags outer 0x88a8.100 inner 200\n"), 46);
    let two = "set interfaces ge-0/0/0 unit 1 vlan-id 1\nset interfaces ge-0/0/0 unit 2 vlan-id 2\n";
    assert_eq!(overhead(two), 42);
    assert_eq!(overhead("set interfaces ge-0/0/0 unit 0 family inet\n"), 38);
}

/// The topic `hw-cos-trio-scheduler-delay-buffering`: sizes up to 256 MB.
#[test]
fn the_buffer_of_a_queue_is_limited() {
    let speed = "set interfaces et-0/0/0 speed 100g\nset interfaces et-0/0/0 unit 0 family inet\n";
    let with_buffer_size = |statement: &str| {
        let text = format!(
            "{speed}set class-of-service schedulers be transmit-rate percent 90\n\
             set class-of-service schedulers be buffer-size {statement}\n\
             set class-of-service scheduler-maps m forwarding-class best-effort scheduler be\n\
             set class-of-service interfaces et-0/0/0 scheduler-map m\n"
        );
        let model = parse(&text, Some("junos-mx"));
        let queueing = model.router.ports[0].output.queueing.clone().unwrap();
        limit(named(&queueing.classes[0].queueing.clone().unwrap().classes, "best-effort"))
    };
    assert_eq!(
        (with_buffer_size("percent 90"), with_buffer_size("temporal 100000")),
        (268_435_456, 268_435_456)
    );
    assert_eq!(with_buffer_size("temporal 1000"), 11_250_000);
}

/// ITU-T G.703.
#[test]
fn serial_lines_have_fixed_rates() {
    let rate = |name: &str| {
        let model = parse(&format!("set interfaces {name} unit 0 family inet\n"), Some("junos-mx"));
        model.router.ports[0].wire.rate.map(Rate::as_bits_per_second)
    };
    assert_eq!((rate("t1-0/0/0"), rate("t3-0/0/0")), (Some(1_544_000), Some(44_736_000)));
}
