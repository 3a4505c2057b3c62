//! NX-OS: lines of its three types of policies, the classes and policies of the system, the memory of the
//! queues, and the refusals of the switch.

use perhop_device::{
    DeviceModel, FrontEnd, MemoryOptions, ParseOptions, Port, PortMemory, QueueMemory, SwitchMemory,
};
use perhop_ios::{Configuration, Ios, LineState, parse};
use perhop_qos::buffer::{BufferConfig, EcnConfig};
use perhop_qos::policy::{ClassConfig, QueueingConfig};

const HEAD: &str = "!Command: show running-config\nversion 9.3(5) Bios:version 05.38\n";
const FX2: &str = "n9k-c93240yc-fx2";

fn read(text: &str) -> Configuration {
    parse(&format!("{HEAD}{text}"))
}

fn state_of(configuration: &Configuration, line: &str) -> (LineState, String) {
    let found = configuration.lines.iter().find(|other| other.text.trim() == line);
    let found = found.unwrap_or_else(|| panic!("no line {line}"));
    (found.state, found.note.clone().unwrap_or_default())
}

fn model_of(text: &str, platform: &str) -> DeviceModel {
    let options = ParseOptions { platform: Some(platform.to_owned()), ..ParseOptions::default() };
    Ios.parse(&format!("{HEAD}{text}"), &options).unwrap()
}

fn port<'m>(model: &'m DeviceModel, name: &str) -> &'m Port {
    model.router.ports.iter().find(|port| port.name == name).unwrap()
}

fn rules_of(model: &DeviceModel) -> Vec<&str> {
    model.diagnostics.iter().map(|concern| concern.diagnostic.rule.id).collect()
}

fn memory_of(text: &str, model: &str) -> SwitchMemory {
    let options = MemoryOptions { model: Some(model.to_owned()), ..MemoryOptions::default() };
    Ios.switch_memory(&format!("{HEAD}{text}"), &options).unwrap().unwrap()
}

fn queue<'m>(port: &'m PortMemory, class: &str) -> &'m QueueMemory {
    port.queues.iter().find(|queue| queue.class == class).unwrap()
}

fn leaves(queueing: &QueueingConfig) -> Vec<&ClassConfig> {
    queueing
        .classes
        .iter()
        .flat_map(|class| class.queueing.as_ref().map_or_else(|| vec![class], leaves))
        .collect()
}

fn leaf<'q>(port: &'q Port, name: &str) -> &'q ClassConfig {
    let queueing = port.output.queueing.as_ref().unwrap();
    leaves(queueing).into_iter().find(|class| class.name == name).unwrap()
}

/// Policies in all forms that `show running-config` of NX-OS writes.
const SWITCH: &str = "ip access-list SERVERS
  10 permit tcp any 192.0.2.0/24 eq 443
  20 permit udp addrgroup HOSTS any range 16384 32767
  statistics per-entry
class-map type qos match-any VOICE
  match dscp 46
  match precedence 5-6
class-map type qos match-all STORAGE
  match cos 3
class-map type qos match-any WEB
  match access-group name SERVERS
policy-map type qos IN
  class VOICE
    set qos-group 7
  class STORAGE
    set qos-group 3
  class WEB
    set qos-group 1
    police cir 1 gbps bc 200 ms conform transmit violate drop
policy-map type queuing OUT
  class type queuing c-out-8q-q7
    priority level 1
    shape min 0 mbps max 2 gbps
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 300 kbytes maximum-threshold 300 kbytes drop-probability 100 weight 0 ecn
  class type queuing c-out-8q-q1
    bandwidth percent 2
    queue-limit dynamic 3
  class type queuing c-out-8q-q-default
    bandwidth remaining percent 48
    queue-limit 416 kbytes
system qos
  service-policy type queuing output OUT
interface Ethernet1/1
  no switchport
  speed 10000
  service-policy type qos input IN
  ip address 10.0.1.1/24
interface Ethernet1/2
  no switchport
  speed 10000
  ip address 10.0.2.1/24
";

#[test]
fn lines_of_the_three_types_of_policies_have_a_state() {
    use LineState::{Irrelevant, Modelled, NotModelled, NotRecognized};
    let queuing = "policy-map type queuing P\n  class type queuing c-out-8q-q1\n    ";
    let network = "policy-map type network-qos P\n  class type network-qos c-8q-nq3\n    ";
    let qos = "policy-map type qos P\n  class class-default\n    ";
    let table =
        "police cir 10 mbps conform transmit exceed set dscp dscp table cir-markdown-map violate drop";
    assert_states(&[
        (queuing, "bandwidth remaining percent 0", Modelled),
        (queuing, "bandwidth percent 2", Modelled),
        (queuing, "bandwidth 100", NotRecognized),
        (queuing, "priority level 3", Modelled),
        (queuing, "priority level 4", NotRecognized),
        (queuing, "shape min 100 kbps max 500 mbps", NotModelled),
        (queuing, "shape min 0 kbps max 500 mbps", Modelled),
        (queuing, "shape max 5000 pps", NotModelled),
        (queuing, "queue-limit dynamic 10", Modelled),
        (queuing, "queue-limit dynamic 11", NotRecognized),
        (queuing, "queue-limit 500 kbytes", Modelled),
        (queuing, "queue-limit 100 packets", NotModelled),
        (queuing, "random-detect threshold burst-optimized ecn", NotModelled),
        (queuing, "afd queue-desired 150 kbytes", NotModelled),
        (network, "mtu 9216", NotModelled),
        (network, "match qos-group 3", Irrelevant),
        (network, "congestion-control random-detect", NotModelled),
        (qos, "set qos-group 7", Modelled),
        (qos, "set dscp 46", Modelled),
        (qos, "police 1000000000", Modelled),
        (
            qos,
            "police cir 10 mbps bc 100 kbytes pir 20 mbps be 200 kbytes conform transmit exceed set-dscp-transmit af12 violate drop",
            Modelled,
        ),
        (qos, "police cir percent 10 conform transmit violate drop", Modelled),
        (qos, table, NotModelled),
        (qos, "police aggregate A", NotModelled),
        ("interface Ethernet1/1\n  ", "switchport mode trunk", NotModelled),
        ("interface Ethernet1/1\n  ", "service-policy type queuing input Q", NotModelled),
        ("interface Ethernet1/1\n  ", "hsrp 10", NotModelled),
        ("interface Ethernet1/1\n  ", "ip policy route-map R", NotModelled),
        ("interface Ethernet1/1\n  ", "spanning-tree port type edge", Irrelevant),
        ("", "hardware qos ns-buffer-profile mesh", NotModelled),
        ("", "hardware access-list tcam region qos 256", Irrelevant),
        ("", "copp profile strict", NotModelled),
        ("", "vrf context management", Modelled),
        ("", "interface Ethernet1/1-16", Modelled),
        ("", "interface Ethernet1/1-1000", NotModelled),
        ("", "switching-mode store-forward", Modelled),
        ("", "hardware profile pfc mmu buffer-reservation 10", NotModelled),
        ("port-profile type ethernet P\n  ", "service-policy type qos input Q", NotModelled),
        ("interface Ethernet1/1\n  ", "inherit port-profile P", NotModelled),
        ("", "frobnicate", NotRecognized),
    ]);
}

/// No attached policy of type network-qos has `pause`.
#[test]
fn lines_of_flow_control_have_a_state() {
    use LineState::{Irrelevant, Modelled, NotModelled, NotRecognized};
    let queuing = "policy-map type queuing P\n  class type queuing c-out-8q-q1\n    ";
    let network = "policy-map type network-qos P\n  class type network-qos c-8q-nq3\n    ";
    assert_states(&[
        (network, "pause pfc-cos 3", NotModelled),
        (network, "pause no-drop", NotModelled),
        (network, "pause pfc-cos 3 receive", NotModelled),
        (network, "pause pfc-cos 8", NotRecognized),
        (
            network,
            "pause no-drop buffer-size 152000 pause-threshold 103360 resume-threshold 83520",
            NotModelled,
        ),
        (network, "pause no-drop buffer-size 100 pause-threshold 200 resume-threshold 50", NotRecognized),
        (queuing, "pause buffer-size 60000 pause-threshold 30000 resume-threshold 20000", NotModelled),
        ("interface Ethernet1/1\n  ", "priority-flow-control mode on", Modelled),
        ("interface Ethernet1/1\n  ", "priority-flow-control mode on send-tlv", Modelled),
        ("interface Ethernet1/1\n  ", "priority-flow-control mode off", Modelled),
        ("interface Ethernet1/1\n  ", "priority-flow-control mode auto", NotModelled),
        ("interface Ethernet1/1\n  ", "priority-flow-control watch-dog-interval on", NotModelled),
        ("interface Ethernet1/1\n  ", "flowcontrol receive on", NotModelled),
        ("interface Ethernet1/1\n  ", "flowcontrol receive off", Irrelevant),
    ]);
}

/// Asserts the states of lines. Each row has the preceding lines of the block, the line and its state.
fn assert_states(rows: &[(&str, &str, LineState)]) {
    for (before, line, expected) in rows {
        let found = state_of(&read(&format!("{before}{line}\n")), line);
        assert_eq!(found.0, *expected, "{line}: {}", found.1);
        assert!(*expected != LineState::NotModelled || !found.1.is_empty(), "{line}");
    }
}

#[test]
fn the_queue_of_a_packet_is_its_group() {
    let model = model_of(SWITCH, FX2);
    let output = port(&model, "Ethernet1/2");
    let names: Vec<&str> =
        leaves(output.output.queueing.as_ref().unwrap()).iter().map(|class| class.name.as_str()).collect();
    // The attached policy is the system policy. It also has queues for which the text has no line.
    let expected =
        ["q7", "q3", "q1", "q6", "q5", "q4", "q2", "q-default"].map(|queue| format!("c-out-8q-{queue}"));
    assert_eq!(names, expected);
    let of_group = leaf(output, "c-out-8q-q3").matches.as_ref().unwrap();
    assert_eq!(of_group.label, Some(3.into()));
    // One class has 2 % of the port. The other 98 % are shared in the ratio 50 to 48.
    let rate = |name: &str| leaf(output, name).share.bandwidth.unwrap().as_bits_per_second();
    assert_eq!(rate("c-out-8q-q1"), 200_000_000);
    assert_eq!(rate("c-out-8q-q3"), 5_000_000_000);
    assert_eq!(rate("c-out-8q-q-default"), 4_800_000_000);
    assert_eq!(rate("c-out-8q-q5"), 10_000);
    assert!(leaf(output, "c-out-8q-q7").shape.is_some());
}

#[test]
fn a_policy_at_an_interface_takes_precedence() {
    let own = "policy-map type queuing OWN\n  class type queuing c-out-8q-q-default\n    bandwidth remaining \
               percent 100\ninterface Ethernet1/3\n  service-policy type queuing output OWN\n";
    let model = model_of(&format!("{SWITCH}{own}"), FX2);
    let policy =
        |name| port(&model, name).attachments.as_ref().unwrap().output.as_ref().unwrap().name.clone();
    assert_eq!((policy("Ethernet1/2").as_str(), policy("Ethernet1/3").as_str()), ("OUT", "OWN"));
}

#[test]
fn a_port_without_a_policy_has_that_of_the_system() {
    let interface = "interface Ethernet1/1\n  no switchport\n";
    for (product, queues) in [(FX2, 8), ("n3k-c3064pq", 4)] {
        let model = model_of(interface, product);
        let output = port(&model, "Ethernet1/1").output.queueing.as_ref().unwrap();
        assert_eq!(leaves(output).len(), queues, "{product}");
        assert_eq!(rules_of(&model), ["speed-assumed"], "{product}");
    }
}

/// With a factor α, a single congested queue gets α / (1 + α) of the memory. This gives 5.3 MB on a Nexus
/// 3064 (people.ucsc.edu/~warner/Bufs), and the percentages of Cisco's table of factors.
#[test]
fn limits_are_factors_of_the_free_memory() {
    let alone = |number: usize| {
        let policy = "policy-map type queuing P\n  class type queuing c-out-8q-q-default\n    bandwidth remaining \
                      percent 100\n";
        let port = "interface Ethernet1/1\n  service-policy type queuing output P\n";
        let memory = memory_of(&format!("{policy}    queue-limit dynamic {number}\n{port}"), FX2);
        let [only] = memory.ports.as_slice() else { panic!("one port") };
        let soft = queue(only, "c-out-8q-q-default").soft.unwrap() as f64;
        (100.0 * soft / memory.shared_units.unwrap() as f64).round()
    };
    let percentages = [11.0, 20.0, 33.0, 43.0, 53.0, 64.0, 75.0, 83.0, 89.0, 93.0, 95.0];
    assert_eq!((0..=10).map(alone).collect::<Vec<_>>(), percentages);
    let memory = memory_of("interface Ethernet1/1\n", "n3k-c3064pq");
    let soft = memory.ports[0].queues[0].soft.unwrap() * memory.unit_bytes;
    assert!((5_200_000..5_300_000).contains(&soft), "{soft}");
}

#[test]
fn memory_that_is_not_published_is_given_by_the_user() {
    let text = "interface Ethernet1/1\n";
    let unknown = memory_of(text, "n9k-c93180yc-fx");
    assert!(unknown.ports.is_empty() && unknown.unknown[0].reason.contains("shared-units"));
    let given = memory_of(text, "n9k-c93180yc-fx,shared-units=1000");
    assert_eq!((given.shared_units, given.ports.len()), (Some(1000), 1));
    let model = model_of(SWITCH, "n9k-c93180yc-fx");
    assert!(port(&model, "Ethernet1/2").unmodeled_queues.is_some());
}

#[test]
fn queues_run_with_the_limits_of_the_table() {
    let model = model_of(SWITCH, FX2);
    let memory = model.memory.as_ref().unwrap();
    let own = memory.port("Ethernet1/2").unwrap();
    let output = port(&model, "Ethernet1/2");
    let config = output.output.queueing.as_ref().unwrap().memory.as_ref().unwrap();
    assert_eq!((u64::from(config.unit_bytes), Some(u64::from(config.shared))), (416, memory.shared_units));
    let alpha = |name: &str| match leaf(output, name).buffer.as_ref().unwrap() {
        BufferConfig::SharedMemory(shared) => (shared.alpha, shared.limit),
        other => panic!("{other:?}"),
    };
    // `queue-limit dynamic 3` is a factor of 3/4. Without a line the number is 9, a factor of 14. 416 kB are
    // 1000 units.
    assert_eq!(alpha("c-out-8q-q1"), (Some(0.75), None));
    assert_eq!(alpha("c-out-8q-q7"), (Some(14.0), None));
    assert_eq!(alpha("c-out-8q-q-default"), (None, Some(1000)));
    // WRED marks packets above 300 kB, up to the limit of the queue while all other queues are empty.
    let BufferConfig::Wred(wred) = leaf(output, "c-out-8q-q3").buffer.as_ref().unwrap() else {
        panic!("WRED")
    };
    assert_eq!(wred.ecn, EcnConfig::MarkAll);
    assert_eq!(wred.limit.unwrap().count(), queue(own, "c-out-8q-q3").soft.unwrap() * 416);
}

/// A slice of a 9300-FX2 has 12 banks of its own, or 6 of its own and 12 that both slices share.
#[test]
fn slices_may_share_their_memory() {
    let units = |line: &str| memory_of(&format!("{line}interface Ethernet1/1\n"), FX2).shared_units;
    assert_eq!(units(""), Some(12 * 4096));
    assert_eq!(units("hardware qos dynamic-buffer-sharing\n"), Some(18 * 4096));
}

/// The switch converts `police 1000000000` to `police cir 1000000000 bps bc 200 ms conform transmit violate
/// drop`.
#[test]
fn a_policer_has_the_defaults_of_the_switch() {
    let policer = |line: &str| {
        let text = format!(
            "policy-map type qos P\n  class class-default\n    {line}\ninterface Ethernet1/1\n  service-policy type \
             qos input P\n"
        );
        let model = model_of(&text, FX2);
        let attached = port(&model, "Ethernet1/1").attachments.clone().unwrap().input.unwrap();
        attached.classes[0].police.clone().unwrap()
    };
    let short = policer("police 1000000000");
    assert_eq!((short.cir_bps, short.bc_bytes, short.colors), (1_000_000_000, 25_000_000, 2));
    assert_eq!(short, policer("police cir 1000000000 bps bc 200 ms conform transmit violate drop"));
}

#[test]
fn the_switch_refuses_queuing_policies() {
    let attached = "interface Ethernet1/1\n  service-policy type queuing output P\n";
    let policy = |lines: &str| format!("policy-map type queuing P\n{lines}");
    let default = "  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 100\n";
    let own = "class-map type queuing match-any V\n  match qos-group 5\n";
    for (text, product, rule) in [
        (
            format!(
                "{}{attached}",
                policy(&format!("  class type queuing c-out-8q-q1\n    bandwidth percent 10\n{default}"))
            ),
            FX2,
            "bandwidth-sum",
        ),
        (
            format!("{own}{}{attached}", policy(&format!("  class type queuing V\n    priority\n{default}"))),
            FX2,
            "queuing-class-unknown",
        ),
        (format!("{}{attached}", policy(default)), "n9k-9000v", "output-classes"),
        (
            format!(
                "{}{attached}",
                policy(&format!(
                    "  class type queuing c-out-8q-q7\n    priority\n  class type queuing c-out-8q-q5\n    priority \
                     level 2\n{default}"
                ))
            ),
            FX2,
            "priority-queue-order",
        ),
        (
            format!("{}{attached}  switchport mode private-vlan host\n", policy(default)),
            FX2,
            "private-vlan-queues",
        ),
        (
            "interface Ethernet1/1\n  service-policy type network-qos N\n".to_owned(),
            FX2,
            "network-policy-refused",
        ),
    ] {
        let model = model_of(&text, product);
        assert!(rules_of(&model).contains(&rule), "{rule}: {:?}", rules_of(&model));
        // A refused policy has no queues, and perhop does not assume the default queues of the switch.
        let is_refused = rule != "network-policy-refused";
        assert_eq!(port(&model, "Ethernet1/1").unmodeled_queues.is_some(), is_refused, "{rule}");
    }
}

/// The percentages of a document of Azure Local for ports of 25 Gb/s.
#[test]
fn percentages_may_add_up_to_less_than_100() {
    let text = "policy-map type queuing P\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 50\n  \
                class type queuing c-out-8q-q-default\n    bandwidth remaining percent 48\n  class type queuing \
                c-out-8q-q7\n    bandwidth percent 1\ninterface Ethernet1/1\n  service-policy type queuing output \
                P\n  speed 25000\n";
    let model = model_of(text, FX2);
    assert!(!rules_of(&model).contains(&"bandwidth-sum"));
    let share = |name: &str| {
        let leaf = leaf(port(&model, "Ethernet1/1"), name);
        leaf.share.bandwidth.unwrap().as_bits_per_second()
    };
    // One class has 1 % of the port. The other 99 % are shared in the ratio 50 to 48.
    assert_eq!(share("c-out-8q-q7"), 250_000_000);
    assert_eq!(share("c-out-8q-q3"), 24_750_000_000 * 50 / 98);
    assert_eq!(share("c-out-8q-q-default"), 24_750_000_000 * 48 / 98);
}

#[test]
fn a_copy_of_a_policy_of_the_system_is_edited() {
    let text = "qos copy policy-map type queuing default-8q-out-policy prefix TAC-5\npolicy-map type queuing \
                TAC-58q-out\n  class type queuing c-out-8q-q-default\n    bandwidth remaining percent 50\n  class \
                type queuing c-out-8q-q5\n    bandwidth remaining percent 50\ninterface Ethernet1/2\n  \
                service-policy type queuing output TAC-58q-out\n  speed 10000\n";
    let model = model_of(text, FX2);
    let output = port(&model, "Ethernet1/2");
    assert_eq!(leaf(output, "c-out-8q-q5").share.bandwidth.unwrap().as_bits_per_second(), 5_000_000_000);
    assert!(!rules_of(&model).contains(&"bandwidth-sum"), "{:?}", rules_of(&model));
}

#[test]
fn a_switch_without_a_product_asks_for_it() {
    for (line, message) in [
        ("", "does not name the product"),
        ("PID: N7K-C7010\n", "queues by other rules"),
        ("PID: N9K-X9636C-R\n", "is not known to perhop"),
    ] {
        let model = Ios.parse(&format!("{HEAD}{line}{SWITCH}"), &ParseOptions::default()).unwrap();
        assert!(model.refusal().is_some());
        assert!(model.diagnostics[0].diagnostic.message.contains(message), "{line}");
    }
    for line in ["PID: N9K-C93240YC-FX2 , VID: V01\n", "cisco Nexus9000 C93240YC-FX2 chassis\n"] {
        let model = Ios.parse(&format!("{line}{HEAD}{SWITCH}"), &ParseOptions::default()).unwrap();
        assert!(model.platform.supported, "{line}");
    }
}

/// A queue with 0 percent has the least weight on every platform that a user may choose.
#[test]
fn policies_can_be_built_by_the_rules_of_each_platform() {
    // The length of the text selects the profile and the product.
    for lines in 0..40 {
        crate::accounted::check(&format!("{HEAD}{SWITCH}{}", "!".repeat(lines)));
    }
}

/// A class of type network-qos drops frames longer than its `mtu`. It drops no frame if no interface sends
/// longer frames.
#[test]
fn lengths_of_the_system_matter_below_those_of_interfaces() {
    let text = |length: &str, pause: &str| {
        format!(
            "policy-map type network-qos P\n  class type network-qos c-8q-nq3\n    mtu 4000\n{pause}system \
             qos\n  service-policy type network-qos P\ninterface Ethernet1/1\n  mtu {length}\n  \
             priority-flow-control mode on\n"
        )
    };
    let state = |text: &str, line: &str| {
        let model = model_of(text, FX2);
        model.lines.iter().find(|other| other.text.trim() == line).unwrap().state
    };
    assert_eq!(state(&text("1500", ""), "mtu 4000"), LineState::Modelled);
    assert_eq!(state(&text("9216", ""), "mtu 4000"), LineState::NotModelled);
    let line = "priority-flow-control mode on";
    assert_eq!(state(&text("1500", ""), line), LineState::Irrelevant);
    assert_eq!(state(&text("1500", "    pause pfc-cos 3\n"), line), LineState::Modelled);
    assert_eq!(state(&text("1500", ""), "service-policy type network-qos P"), LineState::Modelled);
}

#[test]
fn a_speed_that_no_line_sets_is_assumed() {
    let text = "interface Ethernet1/1\n  no switchport\ninterface Ethernet1/2\n  speed 25000\ninterface \
                Ethernet1/3\n  channel-group 10 mode active\ninterface port-channel10\n  no switchport\n";
    let model = model_of(text, FX2);
    let rates = |name: &str| {
        let port = port(&model, name);
        (port.wire.rate.map(|rate| rate.to_string()), port.assumed_rate.map(|rate| rate.to_string()))
    };
    assert_eq!(rates("Ethernet1/1"), (None, Some("10Gb/s".to_owned())));
    assert_eq!(rates("Ethernet1/2"), (Some("25Gb/s".to_owned()), None));
    assert_eq!(rates("Port-channel10"), (None, Some("10Gb/s".to_owned())));
    let notes = model.diagnostics.iter().filter(|concern| concern.diagnostic.rule.id == "speed-assumed");
    let notes: Vec<&str> = notes.map(|concern| concern.diagnostic.message.as_str()).collect();
    assert_eq!(notes, ["no line sets the speed of Ethernet1/1 and of 1 other port: 10 Gb/s are assumed"]);
}

#[test]
fn ports_of_unknown_memory_are_reported_once_for_each_attachment() {
    let text = "policy-map type queuing OUT\n  class type queuing c-out-8q-q-default\n    bandwidth remaining \
                percent 100\ninterface Ethernet1/1\n  no switchport\ninterface Ethernet1/2\n  no \
                switchport\ninterface Ethernet1/3\n  service-policy type queuing output OUT\n";
    let model = model_of(text, "n9k-c93180yc-fx");
    let found =
        model.diagnostics.iter().filter(|concern| concern.diagnostic.rule.id == "switch-memory-unknown");
    let places: Vec<&str> = found
        .filter_map(|concern| concern.diagnostic.message.split_once(" on "))
        .map(|(_, places)| places)
        .collect();
    assert_eq!(places, ["Ethernet1/1 and 1 other port", "Ethernet1/3"]);
}
