//! `mls qos` of Catalyst 2960, 3560 and 3750: the lines, the division of memory, trust and queues.

use perhop_device::{
    DeviceModel, FrontEnd, MemoryOptions, ParseOptions, Port, PortMemory, QueueMemory, SrrQueue, SwitchMemory,
};
use perhop_ios::ast::{QueuePlace, QueueThresholds, Trust};
use perhop_ios::{Configuration, Ios, LineState, parse};
use perhop_qos::packet::LinkMark;
use perhop_qos::random::Streams;
use perhop_qos::scheduler::SchedulerConfig;
use perhop_qos::{Dscp, Packet, Rate, Time, Verdict};

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
    assert_eq!(mls.enabled.map(|at| (at.line, at.value)), Some((13, true)));
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
    assert_eq!(configuration.mls.enabled.map(|at| at.value), Some(false));
    assert_eq!(configuration.mls.queue_sets[0].buffers, None);
    assert!(configuration.mls.keeps_dscp.is_some());
    assert_eq!(configuration.lines[4].state, LineState::NotModelled);
}

fn memory_with(text: &str, port_units: Option<u64>) -> SwitchMemory {
    let options = MemoryOptions { port_units, ..MemoryOptions::default() };
    Ios.switch_memory(text, &options).unwrap().expect("it is a Catalyst")
}

fn only_port(text: &str, port_units: Option<u64>) -> PortMemory {
    let [port] = memory_with(text, port_units).ports.try_into().expect("one port");
    port
}

fn srr(queue: &QueueMemory) -> &SrrQueue {
    queue.srr.as_ref().expect("it has weights")
}

/// Returns the number of the queue and of the threshold for packets with a value.
fn place_of(port: &PortMemory, packets: &str) -> (u8, usize) {
    let queues = port.queues.iter();
    let all =
        queues.flat_map(|queue| queue.thresholds.iter().enumerate().map(move |(at, own)| (queue, at, own)));
    let mut own = all.filter(|(_, _, own)| own.packets.iter().any(|marked| marked.to_string() == packets));
    let (queue, at, _) = own.next().unwrap_or_else(|| panic!("no queue takes {packets}"));
    (queue.number, at + 1)
}

/// Cisco, Catalyst 2960, 3560 and 3750 configuration guides: defaults with `mls qos`.
#[test]
fn the_default_queues_of_a_port() {
    let port = only_port("version 12.2\nmls qos\ninterface GigabitEthernet0/1\n", None);
    for (packets, queue) in [
        ("dscp default", 2),
        ("dscp 15", 2),
        ("dscp cs2", 3),
        ("dscp 31", 3),
        ("dscp cs4", 4),
        ("dscp ef", 1),
        ("dscp cs6", 4),
        ("cos 1", 2),
        ("cos 3", 3),
        ("cos 5", 1),
        ("cos 7", 4),
    ] {
        assert_eq!(place_of(&port, packets), (queue, 1), "{packets}");
    }
    let weights: Vec<(u64, u64)> =
        port.queues.iter().map(|queue| (srr(queue).shaped_weight, srr(queue).shared_weight)).collect();
    assert_eq!(weights, [(25, 25), (0, 25), (0, 25), (0, 25)]);
    assert_eq!(srr(&port.queues[0]).ceiling_bps, Some(40_000_000));
    let percents = |queue: &QueueMemory| -> Vec<Option<u64>> {
        queue.thresholds.iter().map(|threshold| threshold.percent).collect()
    };
    assert_eq!(percents(&port.queues[0]), [Some(100), Some(100), Some(400)]);
    assert_eq!(percents(&port.queues[1]), [Some(200), Some(200), Some(400)]);
    assert!(port.queues.iter().all(|queue| srr(queue).buffers_percent == 25));
    // The memory of a port is not published, so no queue has a number of units.
    assert!(port.queues.iter().all(|queue| queue.hard.is_none() && queue.most_units().is_none()));
}

/// Queue 3 has 26 % of 200 units, which are 52. It reserves 100 % of the 52 units. Its maximum is 318 % of
/// them, 165 units.
#[test]
fn a_queue_set_divides_the_memory_that_is_given() {
    let text = AUTO_QOS.replace("queue-set 2", "queue-set 1").replace("limit 80", "limit 90");
    let port = only_port(&text, Some(200));
    let third = &port.queues[2];
    assert_eq!((third.hard, third.soft), (Some(52), Some(165 - 52)));
    let units: Vec<Option<u64>> = third.thresholds.iter().map(|threshold| threshold.units).collect();
    assert_eq!(units, [Some(52 * 36 / 100), Some(52 * 77 / 100), Some(165)]);
    assert_eq!((srr(third).buffers_percent, srr(third).maximum_percent), (26, 318));
    assert_eq!((place_of(&port, "dscp af11"), place_of(&port, "dscp ef")), ((4, 2), (1, 3)));
    let settings = port.srr.as_ref().unwrap();
    assert_eq!((settings.bandwidth_limit_percent, settings.priority_queue_out), (90, true));
    // A queue with priority has no ceiling.
    assert_eq!((srr(&port.queues[0]).ceiling_bps, port.queues[0].priority_level), (None, Some(1)));
}

/// Cisco, Catalyst 3750 command reference: the maximum length of a queue is 400 %.
#[test]
fn a_3750_holds_at_most_400_percent() {
    let text = "mls qos\nmls qos queue-set output 1 threshold 1 3200 3200 100 3200\n\
                mls qos queue-set output 1 buffers 15 45 20 20\ninterface GigabitEthernet1/0/1\n";
    let holds = |product: &str| {
        let port = only_port(&format!("switch 1 provision {product}\n{text}"), Some(200));
        port.queues[0].most_units()
    };
    assert_eq!((holds("ws-c3750x-24t"), holds("ws-c2960s-24ts-s")), (Some(30 * 4), Some(30 * 32)));
    let memory = memory_with(&format!("switch 1 provision ws-c3750x-24t\n{text}"), None);
    let published: Vec<(&str, u64)> =
        memory.egress_memory.iter().map(|memory| (memory.ports, memory.megabytes)).collect();
    assert_eq!(published, [("each 24 downlinks", 2), ("the uplinks", 2)]);
    // 100 % of 15 %.
    assert_eq!(srr(&memory.ports[0].queues[0]).reserved_port_percent.0, 1500);
}

fn model(text: &str) -> DeviceModel {
    Ios.parse(text, &ParseOptions::default()).unwrap()
}

fn port<'a>(model: &'a DeviceModel, name: &str) -> &'a Port {
    model.router.ports.iter().find(|port| port.name == name).unwrap()
}

/// Returns the codepoint and the class of service of a packet after the input of a port.
fn behind(text: &str, dscp: u8, cos: Option<u8>) -> (u8, Option<u8>) {
    let model = model(text);
    let port = port(&model, "GigabitEthernet0/1");
    let mut conditioner = port.input.build_conditioner(&[], &Streams::new(1, 0)).unwrap();
    let mut packet = Packet { length: 1500, dscp: Dscp::new(dscp).unwrap(), ..Packet::default() };
    if let Some(cos) = cos.and_then(LinkMark::new) {
        packet.set_cos(cos);
    }
    let verdict = conditioner.condition(Time::ZERO, &mut packet);
    assert_eq!(verdict, Verdict::Pass);
    (packet.dscp.value(), packet.cos().map(LinkMark::value))
}

#[test]
fn the_trust_of_a_port_decides_the_codepoint() {
    let with = |lines: &str| {
        format!(
            "mls qos map cos-dscp 0 8 16 26 32 46 48 56\nmls qos map dscp-mutation M 46 to 34\n\
             mls qos map ip-prec-dscp 0 8 16 24 32 46 48 56\nmls qos\ninterface GigabitEthernet0/1\n{lines}"
        )
    };
    for (lines, (dscp, cos), expected) in [
        ("", (46, Some(5)), (0, Some(5))),
        (" mls qos trust dscp\n", (46, Some(1)), (46, Some(1))),
        (" mls qos trust cos\n", (46, Some(3)), (26, Some(3))),
        (" mls qos trust cos\n mls qos cos 5\n", (10, None), (46, None)),
        (" mls qos trust cos\n", (10, None), (0, None)),
        (" mls qos trust ip-precedence\n", (44, None), (46, None)),
        (" mls qos trust dscp\n mls qos dscp-mutation M\n", (46, None), (34, None)),
        (" mls qos trust dscp\n mls qos cos 5\n mls qos cos override\n", (10, Some(1)), (46, Some(1))),
    ] {
        assert_eq!(behind(&with(lines), dscp, cos), expected, "{lines}");
    }
    let without = with("").replace("mls qos\n", "no mls qos\n");
    assert_eq!(behind(&without, 46, Some(5)), (46, Some(5)), "without mls qos");
}

#[test]
fn an_input_policy_replaces_the_trust_of_the_port() {
    let text = "mls qos map policed-dscp 46 to 8\nmls qos\nclass-map VOICE\n match ip dscp ef\n\
                class-map VIDEO\n match ip dscp af41\nclass-map DATA\n match ip dscp af21\npolicy-map IN\n \
                class VOICE\n  trust dscp\n class VIDEO\n  set ip dscp cs4\n class DATA\n  \
                police 1000000 8000 exceed-action policed-dscp-transmit\n\
                interface GigabitEthernet0/1\n priority-queue out\n service-policy input IN\n";
    for (dscp, expected) in [(46, 46), (34, 32), (18, 0), (10, 0)] {
        assert_eq!(behind(text, dscp, None).0, expected, "{dscp}");
    }
    let model = model(text);
    let states: Vec<LineState> = model.lines.iter().map(|line| line.state).collect();
    assert!(states.iter().all(|state| *state == LineState::Modelled), "{:?}", model.lines);
}

#[test]
fn queues_have_their_service() {
    let model = model(&AUTO_QOS.replace("limit 80", "limit 50"));
    let queueing = port(&model, "GigabitEthernet0/1").output.queueing.clone().unwrap();
    let [limit] = queueing.classes.as_slice() else { panic!("{queueing:?}") };
    let rate = |megabits: u64| Some(Rate::from_bits_per_second(megabits * 1_000_000));
    assert_eq!((limit.share.rate, limit.share.ceil), (rate(500), rate(500)));
    let inner = limit.queueing.as_ref().unwrap();
    assert_eq!(inner.scheduler, SchedulerConfig::GuaranteeExcess);
    let expected = [
        ("queue 1", rate(1000), 10.0, 0),
        ("queue 2", None, 10.0, 1),
        ("queue 3", None, 60.0, 1),
        ("queue 4", None, 20.0, 1),
    ];
    for (class, (name, rate, weight, level)) in inner.classes.iter().zip(expected) {
        let share = &class.share;
        let own = (class.name.as_str(), share.rate, share.weight, share.level);
        assert_eq!(own, (name, rate, Some(weight), Some(level)));
    }
    // The memory of a port is not published, so a run does not have its limits.
    assert!(port(&model, "GigabitEthernet0/1").unmodeled_queues.is_some());
}

#[test]
fn lines_of_a_switch_are_modeled_on_a_switch_only() {
    let on_switch = model(AUTO_QOS);
    let count =
        |model: &DeviceModel, state: LineState| model.lines.iter().filter(|line| line.state == state).count();
    // All ports together are slower than the ring.
    assert_eq!(count(&on_switch, LineState::NotModelled), 0);
    let options = ParseOptions { platform: Some("hqf".to_owned()), ..ParseOptions::default() };
    let on_router = Ios.parse(AUTO_QOS, &options).unwrap();
    assert_eq!(count(&on_router, LineState::Modelled), 1, "the interface");
}

#[test]
fn one_class_has_its_aggregate_policer() {
    let text = "mls qos aggregate-policer A 1000000 8000 exceed-action drop\nmls qos\nclass-map A\n \
                match ip dscp ef\nclass-map B\n match ip dscp af41\npolicy-map IN\n class A\n  trust dscp\n  \
                police aggregate A\n class B\n  trust dscp\ninterface GigabitEthernet0/1\n \
                service-policy input IN\n";
    let alone = model(text);
    let meters = |model: &DeviceModel| {
        let input = &port(model, "GigabitEthernet0/1").input;
        input.conditioners.iter().filter(|stage| stage.meter.is_some()).count()
    };
    assert_eq!((meters(&alone), alone.lines[0].state), (1, LineState::Modelled));
    let shared = model(&text.replace("class B\n  trust dscp", "class B\n  police aggregate A"));
    assert_eq!((meters(&shared), shared.lines[0].state), (0, LineState::NotModelled));
}

#[test]
fn other_catalysts_are_named_and_refused() {
    for (line, dialect) in [
        ("interface GigabitEthernet1/1\n wrr-queue bandwidth 20 80", "catalyst-6500"),
        ("interface TenGigabitEthernet5/4\n mls qos trust dscp", "catalyst-6500"),
        ("policy-map type lan-queuing P", "catalyst-6500"),
        ("policy-map P\n class class-default\n  dbl", "catalyst-4500"),
        ("boot system bootflash:cat4500-entservicesk9-mz.122-54.SG1.bin", "catalyst-4500"),
    ] {
        let model = model(&format!("version 12.2\nmls qos\n{line}\n"));
        assert_eq!((model.platform.dialect.as_str(), model.platform.supported), (dialect, false), "{line}");
    }
}

/// A fragment with only a queue-set, as in documents, belongs to a switch with `mls qos`. In a complete
/// configuration without the line `mls qos`, a port has one queue.
#[test]
fn a_fragment_has_its_queues() {
    let text = "mls qos queue-set output 1 buffers 15 45 20 20\ninterface GigabitEthernet1/0/1\n";
    let port = only_port(text, None);
    assert_eq!((port.queues.len(), srr(&port.queues[1]).buffers_percent), (4, 45));
    assert!(port.assumed.iter().any(|text| text.contains("has other lines of mls qos")));
    let whole = only_port(&format!("version 15.0\n{text}"), None);
    assert_eq!((whole.queues.len(), whole.srr.map(|settings| settings.has_qos)), (1, Some(false)));
}

/// The queues in front of the ring drop no packet if all ports together are slower than the ring.
#[test]
fn input_queues_matter_on_fast_switches() {
    let text = |ports: usize| {
        let ports = (1..=ports).map(|port| format!("interface GigabitEthernet1/0/{port}\n"));
        let ports: String = ports.collect();
        format!("version 12.2\nhostname S\nmls qos\nmls qos srr-queue input buffers 67 33\n{ports}")
    };
    let state = |ports: usize| {
        let options = ParseOptions { platform: Some("catalyst-mls".to_owned()), ..ParseOptions::default() };
        let model = Ios.parse(&text(ports), &options).unwrap();
        model.lines.iter().find(|line| line.text.contains("input buffers")).unwrap().state
    };
    assert_eq!((state(16), state(17)), (LineState::Modelled, LineState::NotModelled));
}
