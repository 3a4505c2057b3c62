//! Rules of single families: levels, weights, default classes, and the memory of switches.

use std::fmt::Write;

use perhop_device::Port;
use perhop_qos::Dscp;
use perhop_qos::buffer::{BufferConfig, SharedMemoryConfig};
use perhop_qos::policy::ClassConfig;

use crate::read::{parse, show};

const PRIORITIES: [&str; 5] = ["low", "medium-low", "medium-high", "high", "strict-high"];

fn port(platform: &str, text: &str) -> Port {
    let model = parse(text, Some(platform));
    let findings =
        show(&model).lines().filter(|line| line.starts_with("line") && !line.contains("note:")).count();
    assert_eq!(findings, 0, "{}", show(&model));
    model.router.ports[0].clone()
}

fn classes(port: &Port) -> Vec<ClassConfig> {
    let queueing = port.output.queueing.clone().unwrap();
    queueing.classes[0].queueing.clone().unwrap().classes
}

/// The levels of queues with each priority, low first.
fn levels(platform: &str) -> Vec<u16> {
    let mut text = "set interfaces ge-0/0/0 unit 0 family inet\n".to_owned();
    for (queue, priority) in PRIORITIES.iter().enumerate() {
        for statement in [
            format!("forwarding-classes class {priority} queue-num {queue}"),
            format!("schedulers {priority} priority {priority} transmit-rate percent 10"),
            format!("scheduler-maps m forwarding-class {priority} scheduler {priority}"),
        ] {
            writeln!(text, "set class-of-service {statement}").unwrap();
        }
    }
    text.push_str("set class-of-service interfaces ge-0/0/0 scheduler-map m\n");
    let classes = classes(&port(platform, &text));
    let level = |name: &&str| classes.iter().find(|class| class.name == **name).unwrap().share.level.unwrap();
    PRIORITIES.iter().map(level).collect()
}

/// The topic `schedulers-priority-platforms` has the hardware levels 0 0 1 1 1, 0 1 1 2 2 and 0 1 2 3 3, low
/// first. perhop counts from the highest level. IQE PICs have one round robin.
#[test]
fn priorities_have_the_levels_of_the_hardware() {
    assert_eq!(levels("junos-m"), [1, 1, 0, 0, 0]);
    assert_eq!(levels("junos-t"), [2, 1, 1, 0, 0]);
    assert_eq!(levels("junos-m120"), [3, 2, 1, 0, 0]);
    assert_eq!(levels("junos-iqe"), [0; 5]);
    assert_eq!(levels("junos-mx"), [3, 2, 2, 0, 0]);
}

/// An EX2200 with 12.3 prints DSCP 48 to 63 in network-control on queue 7, and all other codepoints in
/// best-effort.
#[test]
fn switches_have_two_default_classes_and_no_runs_without_known_buffers() {
    let port = port("junos-ex", "set interfaces ge-0/0/0 unit 0 family inet\n");
    let class = |point: u8| {
        let dscp = Dscp::new(point).unwrap();
        let is_own = |stage: &&perhop_qos::conditioner::ConditionerConfig| {
            let points = stage.matches.as_ref().and_then(|own| own.dscp.clone());
            points.is_some_and(|points| points.0.contains(&dscp))
        };
        port.input.conditioners.iter().find(is_own).and_then(|stage| stage.name.clone()).unwrap()
    };
    assert!(class(46).contains("best-effort"), "{}", class(46));
    assert!(class(50).contains("network-control") && class(48).contains("network-control"));
    assert!(port.unmodeled_queues.is_some());
    let names: Vec<String> = classes(&port).into_iter().map(|class| class.name).collect();
    assert_eq!(names, ["assured-forwarding", "expedited-forwarding", "network-control", "best-effort"]);
}

/// Juniper techpost, QFX5K packet buffers: α of index 7 is 1, and α of index 9 is 4. The memory is 31 % of 27
/// 396 KB in cells of 256 bytes. A packet has 64 bytes of metadata.
#[test]
fn queues_of_a_chip_share_its_memory() {
    let text = "set interfaces xe-0/0/0 unit 0 family inet\n\
                set class-of-service schedulers be transmit-rate percent 50 buffer-dynamic-threshold 9\n\
                set class-of-service scheduler-maps m forwarding-class best-effort scheduler be\n\
                set class-of-service interfaces xe-0/0/0 scheduler-map m\n";
    let port = port("junos-qfx5120", text);
    let memory = port.output.queueing.clone().unwrap().memory.unwrap();
    assert_eq!((memory.unit_bytes, memory.overhead), (256, 82));
    assert_eq!(u64::from(memory.shared), 27_396 * 1024 * 31 / 100 / 256);
    let classes = classes(&port);
    let alpha = |name: &str| match &classes.iter().find(|class| class.name == name).unwrap().buffer {
        Some(BufferConfig::SharedMemory(SharedMemoryConfig { alpha, .. })) => *alpha,
        _ => None,
    };
    assert_eq!((alpha("best-effort"), alpha("network-control")), (Some(4.0), Some(1.0)));
    // A lossless queue has separate memory.
    assert_eq!(alpha("no-loss"), None);
    let refused = parse(text, Some("junos-qfx"));
    assert!(!refused.platform.supported && show(&refused).contains("junos-qfx5120"), "{}", show(&refused));
}

/// Junos Routing Policies and Firewall Filters User Guide: a color-aware policer treats medium-high as yellow
/// and high as red. A color-blind policer does not read the loss priority.
#[test]
fn a_color_aware_policer_reads_the_loss_priority() {
    let stages = |mode: &str| -> Vec<String> {
        let text = format!(
            "set firewall three-color-policer t two-rate {mode}\n\
             set firewall three-color-policer t two-rate committed-information-rate 10m\n\
             set firewall three-color-policer t two-rate committed-burst-size 30k\n\
             set firewall three-color-policer t two-rate peak-information-rate 20m\n\
             set firewall three-color-policer t two-rate peak-burst-size 60k\n\
             set firewall family inet filter f term a then three-color-policer two-rate t\n\
             set interfaces ge-0/0/0 unit 0 family inet filter input f\n"
        );
        let stages = port("junos-mx", &text).input.conditioners;
        let own = stages.iter().filter(|one| one.name.as_deref().unwrap_or_default().starts_with("f a"));
        own.map(|one| one.name.clone().unwrap()).collect()
    };
    assert_eq!(stages("color-aware"), ["f a from medium-high", "f a from high", "f a"]);
    assert_eq!(stages("color-blind"), ["f a"]);
}

/// The topic `egress-shaping-overhead-edit-chassis`: the value replaces the default of 24 and is added to the
/// 14 bytes of the frame.
#[test]
fn queues_count_the_overhead_of_their_card() {
    let text = "set interfaces ge-1/0/3 unit 0 family inet\n\
                set chassis fpc 1 pic 0 traffic-manager egress-shaping-overhead 0\n";
    assert_eq!(port("junos-mx", text).counted_bytes.unwrap().queues, 14);
    assert_eq!(port("junos-mx", &text.replace("fpc 1", "fpc 2")).counted_bytes.unwrap().queues, 38);
}
