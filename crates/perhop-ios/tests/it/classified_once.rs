//! A packet is classified once at each port, by the codepoint with which it arrives. It waits in the queue of
//! that class, regardless of marks in the policy, and leaves with the mark of the outermost marking class.

use std::fmt::Write as _;

use perhop_device::Port;
use perhop_device::profile::QueueSelection;
use perhop_ios::{Configuration, Platform, Profile, convert, parse};
use perhop_qos::packet::Encapsulation;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Dscp, Packet, Time, Verdict};
use proptest::prelude::*;

/// The codepoints that classes match and write.
const CODEPOINTS: [&str; 5] = ["cs1", "cs2", "cs3", "cs4", "cs5"];

/// A class of a policy: the [`CODEPOINTS`] that it matches, its actions, and its inner classes.
#[derive(Clone, Debug)]
struct Class {
    takes: Vec<bool>,
    marks: Option<usize>,
    is_policed: bool,
    has_queue: bool,
    inside: Vec<Class>,
}

fn class(inside: BoxedStrategy<Vec<Class>>) -> impl Strategy<Value = Class> {
    let takes = prop::collection::vec(any::<bool>(), CODEPOINTS.len());
    let marks = prop::option::of(0..CODEPOINTS.len());
    (takes, marks, any::<bool>(), any::<bool>(), inside).prop_map(
        |(takes, marks, is_policed, has_queue, inside)| Class { takes, marks, is_policed, has_queue, inside },
    )
}

/// The classes of a policy with three levels.
fn classes() -> BoxedStrategy<Vec<Class>> {
    let deepest = prop::collection::vec(class(Just(Vec::new()).boxed()), 0..3).boxed();
    let inner = prop::collection::vec(class(deepest), 0..3).boxed();
    prop::collection::vec(class(inner), 1..4).boxed()
}

/// The class-maps and policy-maps of `classes`, the innermost first.
fn policy(name: &str, classes: &[Class], queues: bool, text: &mut String) {
    for (number, class) in classes.iter().enumerate() {
        let taken = CODEPOINTS.iter().zip(&class.takes).filter(|(_, takes)| **takes).map(|(dscp, _)| *dscp);
        let taken: Vec<&str> = taken.collect();
        let criterion =
            if taken.is_empty() { "dscp cs7".to_owned() } else { format!("dscp {}", taken.join(" ")) };
        writeln!(text, "class-map match-any {name}-{number}\n match {criterion}").unwrap();
        if !class.inside.is_empty() {
            policy(&format!("{name}-{number}"), &class.inside, false, text);
        }
    }
    writeln!(text, "policy-map p-{name}").unwrap();
    for (number, class) in classes.iter().enumerate() {
        writeln!(text, " class {name}-{number}").unwrap();
        if queues && class.has_queue {
            writeln!(text, "  bandwidth percent 10").unwrap();
        }
        if class.is_policed {
            writeln!(text, "  police cir 1000000 bc 100000 conform-action transmit exceed-action drop")
                .unwrap();
        }
        if let Some(mark) = class.marks {
            writeln!(text, "  set dscp {}", CODEPOINTS[mark]).unwrap();
        }
        if !class.inside.is_empty() {
            writeln!(text, "  service-policy p-{name}-{number}").unwrap();
        }
    }
}

/// The number of the class that matches a packet, and the codepoint of the packet after `classes`.
fn expected(classes: &[Class], arrived: usize) -> (Option<usize>, usize) {
    let Some(number) = classes.iter().position(|class| class.takes[arrived]) else { return (None, arrived) };
    let inside = expected(&classes[number].inside, arrived).1;
    (Some(number), classes[number].marks.unwrap_or(inside))
}

fn converted(classes: &[Class], profile: Profile, direction: &str) -> (Configuration, Port) {
    let mut text = String::new();
    policy("c", classes, direction == "output", &mut text);
    write!(text, "interface Ethernet0/0\n bandwidth 10000\n service-policy {direction} p-c\n").unwrap();
    let mut configuration = parse(&text);
    let port = convert(&mut configuration, &Platform::for_profile(profile)).ports.remove(0);
    (configuration, port)
}

fn through(policy: &PolicyConfig, dscp: &str) -> Packet {
    let conditioner = policy.build_conditioner(&["Ethernet0/0".to_owned()], &Streams::new(1, 0)).unwrap();
    let mut conditioner = conditioner.leaving_by(Encapsulation { tag: false, labels: false });
    let mut packet = Packet { dscp: dscp.parse::<Dscp>().unwrap(), length: 1000, ..Packet::default() };
    assert!(
        matches!(conditioner.condition(Time::ZERO, &mut packet), Verdict::Pass),
        "no policer is exceeded"
    );
    packet
}

/// The name of the queue that `packet` enters.
fn queue_of(queueing: &QueueingConfig, packet: &Packet) -> String {
    let takes = |class: &&ClassConfig| {
        class.matches.as_ref().is_none_or(|matches| matches.build(&[]).unwrap().matches(packet))
    };
    let class = queueing.classes.iter().find(takes).expect("a queue for every packet");
    class.queueing.as_ref().map_or_else(|| class.name.clone(), |inner| queue_of(inner, packet))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn marks_and_queues_follow_the_arriving_codepoint(classes in classes()) {
        for profile in [Profile::PreHqf, Profile::Vip7500, Profile::Hqf, Profile::IosXe] {
            let (configuration, port) = converted(&classes, profile, "output");
            // Before HQF, a finding reports the marks of a policy that precede its own queues.
            let is_reported = configuration.diagnostics.iter().any(|diagnostic| diagnostic.rule.id == "marked-then-classified");
            prop_assert!(!is_reported || *profile.rules().queue_selection == QueueSelection::NewMark);
            if is_reported || port.output_policy().is_none() {
                continue;
            }
            let queueing = port.output.queueing.as_ref().unwrap();
            let resolved = port.output_policy().unwrap();
            let is_classified = classes.iter().any(|class| class.has_queue);
            for (arrived, dscp) in CODEPOINTS.iter().enumerate() {
                let (number, leaving) = expected(&classes, arrived);
                let packet = through(&port.output, dscp);
                prop_assert_eq!(packet.dscp.to_string(), CODEPOINTS[leaving], "{:?} {}", profile, dscp);
                if is_classified {
                    let own = number.map(|number| &resolved.classes[number]);
                    let own = own.filter(|class| class.queue_limit.is_some()).map(|class| class.name.clone());
                    let wanted = own.unwrap_or_else(|| "class-default".to_owned());
                    prop_assert_eq!(queue_of(queueing, &packet), wanted, "{:?} {}", profile, dscp);
                }
            }
        }
    }

    #[test]
    fn input_marks_follow_the_arriving_codepoint(classes in classes()) {
        let (configuration, port) = converted(&classes, Profile::Hqf, "input");
        prop_assert!(configuration.diagnostics.iter().all(|diagnostic| diagnostic.rule.id != "marked-then-classified"));
        for (arrived, dscp) in CODEPOINTS.iter().enumerate() {
            let packet = through(&port.input, dscp);
            let leaving = CODEPOINTS[expected(&classes, arrived).1];
            prop_assert_eq!((packet.dscp.to_string(), packet.label), (leaving.to_owned(), 0), "{}", dscp);
        }
    }
}
