//! `mls qos` of Catalyst 2960, 3560 and 3750: the lines, the division of memory, trust and queues.

use perhop_ios::ast::{QueuePlace, QueueThresholds, Trust};
use perhop_ios::{Configuration, LineState, parse};

fn note(configuration: &Configuration, number: usize) -> &str {
    configuration.lines[number - 1].note.as_deref().unwrap_or_default()
}

/// The commands of an `AutoQoS` template, as switches print them.
const AUTO_QOS: &str = "mls qos map policed-dscp  24 26 46 to 0
mls qos map cos-dscp 0 8 16 24 32 46 48 56
mls qos srr-queue input bandwidth 90 10
mls qos srr-queue input threshold 1 8 16
mls qos srr-queue input buffers 67 33
mls qos srr-queue input priority-queue 2 bandwidth 30
mls qos srr-queue input dscp-map queue 2 threshold 3 40 41 42 43 44 45 46 47
mls qos srr-queue output cos-map queue 1 threshold 3  5
mls qos srr-queue output dscp-map queue 1 threshold 3  40 41 42 43 44 45 46 47
mls qos srr-queue output dscp-map queue 4 threshold 2  10 12 14
mls qos queue-set output 1 threshold 3 36 77 100 318
mls qos queue-set output 1 buffers 10 10 26 54
mls qos
interface GigabitEthernet0/1
 srr-queue bandwidth share 10 10 60 20
 srr-queue bandwidth shape 10 0 0 0
 srr-queue bandwidth limit 80
 queue-set 2
 priority-queue out
 mls qos trust device cisco-phone
 mls qos trust cos
 mls qos cos 3
";

#[test]
fn the_lines_of_a_template_are_read() {
    let configuration = parse(AUTO_QOS);
    let mls = &configuration.mls;
    assert_eq!(mls.enabled.map(|at| at.line), Some(13));
    assert_eq!(mls.cos_dscp.map(|at| at.value), Some([0, 8, 16, 24, 32, 46, 48, 56]));
    assert_eq!(mls.policed_dscp.keys().copied().collect::<Vec<_>>(), [24, 26, 46]);
    let place = |queue, threshold| QueuePlace { queue, threshold };
    assert_eq!(mls.output_dscp[&46].value, place(1, 3));
    assert_eq!(mls.output_dscp[&10].value, place(4, 2));
    assert_eq!(mls.output_cos[&5].value, place(1, 3));
    assert_eq!(mls.input_dscp[&47].value, place(2, 3));
    assert_eq!(mls.input.priority[&2].value, 30);
    let set = &mls.queue_sets[0];
    assert_eq!(set.buffers.map(|at| at.value), Some([10, 10, 26, 54]));
    let third = QueueThresholds { drop: [36, 77], reserved: 100, maximum: 318 };
    assert_eq!(set.thresholds[2].map(|at| at.value), Some(third));
    let port = &configuration.interfaces.get("GigabitEthernet0/1").unwrap().mls;
    assert_eq!(port.share.map(|at| at.value), Some([10, 10, 60, 20]));
    assert_eq!(port.shape.map(|at| at.value), Some([10, 0, 0, 0]));
    assert_eq!((port.limit.map(|at| at.value), port.queue_set.map(|at| at.value)), (Some(80), Some(2)));
    assert_eq!((port.trust.map(|at| at.value), port.cos.map(|at| at.value)), (Some(Trust::Cos), Some(3)));
    assert!(port.expedite.is_some() && port.device.is_some());
    let unknown = configuration.lines.iter().find(|line| line.state == LineState::NotRecognized);
    assert_eq!(unknown, None);
}

#[test]
fn wrong_values_are_refused_with_the_reason() {
    for (line, reason) in [
        ("mls qos queue-set output 3 buffers 25 25 25 25", "a queue-set is 3: the router accepts 1 to 2"),
        ("mls qos queue-set output 1 buffers 25 25 25 20", "the parts sum to 95 %: the switch accepts 100 %"),
        ("mls qos queue-set output 1 threshold 5 100 100 50 400", "a queue is 5: the router accepts 1 to 4"),
        ("mls qos queue-set output 1 threshold 2 100 100 0 400", "accepts 1 to 100"),
        ("mls qos queue-set output 1 threshold 2 100 100 50", "a maximum in percent at the end of the line"),
        ("mls qos srr-queue output dscp-map queue 4 threshold 4 10", "a threshold is 4"),
        (
            "mls qos srr-queue output dscp-map queue 4 threshold 2 64",
            "a DSCP (0 to 63 or a name), found `64`",
        ),
        ("mls qos srr-queue output cos-map queue 4 threshold 2 8", "a value is 8: the router accepts 0 to 7"),
        ("mls qos srr-queue input priority-queue 2 bandwidth 41", "accepts 0 to 40"),
        ("mls qos map cos-dscp 0 8 16 24 32 40 48", "a DSCP (0 to 63 or a name) at the end of the line"),
        ("mls qos map policed-dscp 24 26", "at the end of the line"),
        ("mls qos aggregate-policer A 1000000 8000 exceed-action set", "expected drop"),
        ("interface Gi0/1\n srr-queue bandwidth share 10 10 60", "a weight at the end of the line"),
        ("interface Gi0/1\n srr-queue bandwidth limit 95", "a percentage is 95: the router accepts 10 to 90"),
        ("interface Gi0/1\n queue-set 3", "accepts 1 to 2"),
        ("interface Gi0/1\n mls qos trust exp", "expected cos, dscp, ip-precedence, found `exp`"),
        ("interface Gi0/1\n mls qos cos 9", "accepts 0 to 7"),
    ] {
        let configuration = parse(line);
        let number = configuration.lines.len();
        assert_eq!(configuration.lines[number - 1].state, LineState::NotRecognized, "{line}");
        assert!(note(&configuration, number).contains(reason), "{line}: {}", note(&configuration, number));
    }
}

#[test]
fn no_restores_the_default() {
    let text = "mls qos\nno mls qos\nmls qos queue-set output 1 buffers 10 10 26 54\n\
                no mls qos queue-set output 1 buffers\nno mls qos rewrite ip dscp\n";
    let configuration = parse(text);
    assert_eq!((configuration.mls.enabled, configuration.mls.queue_sets[0].buffers), (None, None));
    assert!(configuration.mls.keeps_dscp.is_some());
    assert_eq!(configuration.lines[4].state, LineState::NotModelled);
}
