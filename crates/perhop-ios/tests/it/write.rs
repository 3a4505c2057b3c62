//! A policy that is written as a configuration and read again does not change, except for the differences
//! that the notes list.

use perhop_device::intent::{Class, Direction, Policy};
use perhop_device::{
    DeviceModel, FrontEnd, ParseOptions, PoliciesToWrite, PolicyToWrite, Port, SourceConfiguration, Written,
    codepoints, same_packets,
};
use perhop_ios::Ios;
use perhop_qos::buffer::BufferConfig;
use perhop_qos::classifier::MatchConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::queue::PrecedenceSource;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;

/// Match lines of classes. No class contains another class.
const MATCHES: [&str; 7] = [
    "match dscp ef",
    "match dscp af31 af32 af33",
    "match precedence 2",
    "match access-group name WEB",
    "match not dscp default",
    "match packet length max 200",
    "match protocol udp",
];
const LIST: &str = "ip access-list extended WEB\n\
                    \x20deny tcp host 10.1.1.1 any eq 80\n\
                    \x20permit tcp 10.1.0.0 0.0.255.255 any eq 80\n\
                    \x20permit tcp any range 8000 8010 192.0.2.0 0.0.0.255\n";
/// Lines that mark and police the packets of a class.
const MARKS: [&str; 5] = [
    "",
    "  set dscp af11\n",
    "  set qos-group 7\n",
    "  police cir 200000 bc 8000\n   conform-action transmit\n   exceed-action set-dscp-transmit af13\n",
    "  police cir 300000 bc 8000 be 16000\n   conform-action transmit\n   exceed-action set-dscp-transmit cs1\n   \
     violate-action drop\n",
];
/// The queue of a class; `{}` is its share.
const QUEUES: [&str; 7] = [
    "{}",
    "{}  queue-limit 20\n",
    "{}  random-detect dscp-based\n  random-detect dscp 26 20 40 20\n",
    "{}  fair-queue\n",
    "{}  shape average 1000000 8000 0\n",
    "  shape average 2000000\n  service-policy INNER\n",
    "",
];
const INNER: &str = "policy-map INNER\n class PART\n  bandwidth 300\n class class-default\n  fair-queue\n";

#[derive(Clone, Debug)]
struct Drawn {
    mark: &'static str,
    queue: &'static str,
    share: u64,
}

fn configuration() -> impl Strategy<Value = String> {
    let class = (select(MARKS.to_vec()), select(QUEUES.to_vec()), 1_u64..12)
        .prop_map(|(mark, queue, share)| Drawn { mark, queue, share });
    let unit = select(vec!["bandwidth {}00", "bandwidth percent {}", "bandwidth remaining ratio {}"]);
    let parts = (subsequence(MATCHES.to_vec(), 1..5), prop::collection::vec(class, 5), unit, any::<bool>());
    parts.prop_map(|(matches, classes, unit, has_priority)| written(&matches, &classes, unit, has_priority))
}

fn written(matches: &[&str], classes: &[Drawn], unit: &str, has_priority: bool) -> String {
    let mut parts = vec![format!("version 15.2\n{LIST}class-map match-all PART\n match dscp af41\n")];
    for (number, line) in matches.iter().enumerate() {
        parts.push(format!("class-map match-all C{number}\n {line}\n"));
    }
    parts.push(format!("{INNER}policy-map OUT\n"));
    for (number, class) in classes.iter().enumerate().take(matches.len()) {
        let share = unit.replace("{}", &class.share.to_string());
        let queue = if has_priority && number == 0 {
            "  priority 500\n".to_owned()
        } else {
            class.queue.replace("{}", &format!("  {share}\n"))
        };
        // A class has one policer, and a priority class already has one.
        let mark = if queue.contains("priority") && class.mark.contains("police") { "" } else { class.mark };
        parts.push(format!(" class C{number}\n{queue}{mark}"));
    }
    let interface = "interface GigabitEthernet0/0\n bandwidth 10000\n service-policy output OUT\nend\n";
    parts.push(interface.to_owned());
    parts.concat()
}

fn read(text: &str) -> DeviceModel {
    let options = ParseOptions { platform: Some("hqf".to_owned()), ..ParseOptions::default() };
    Ios.parse(text, &options).expect("a known platform")
}

/// The origin of a policy: a router with its Intent, or a scenario, which has only the lowered policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Router,
    Scenario,
}

fn write(text: &str, port: &Port, source: Source) -> Written {
    let is_router = source == Source::Router;
    let configuration = SourceConfiguration { text: text.to_owned(), platform: "hqf".to_owned() };
    let policies = PoliciesToWrite {
        file: "test.cfg".to_owned(),
        policies: vec![PolicyToWrite {
            name: "OUT".to_owned(),
            interface: is_router.then(|| port.name.clone()),
            direction: Some(Direction::Output),
            rate: port.bandwidth,
            policy: port.output.clone(),
        }],
        configuration: is_router.then_some(configuration),
        platform: None,
    };
    let (_, writer) = Ios.writer().expect("a writer");
    writer.write(&policies).expect("a known platform")
}

/// Returns the demands of each class of a policy, without lines and names of inner policies.
fn demands(policy: &Policy) -> Vec<String> {
    let of_class = |class: &Class| {
        let queue = (
            class.queue_limit.map(|at| at.value),
            class.fair_queue.map(|at| at.value),
            class.value_limits.as_ref().map(|at| &at.value),
            class.drop_profile.as_ref().map(|at| &at.value.basis),
        );
        let rates = (
            class.guarantee.map(|at| at.value),
            class.priority.map(|at| at.value),
            class.shape.map(|at| at.value),
            class.police.as_ref().map(|at| at.value.meter),
        );
        let marks: Vec<_> = class.all_marks().map(|mark| &mark.written).collect();
        let own = format!("{} {queue:?} {rates:?} {marks:?} {:?}", class.name, class.then);
        std::iter::once(own).chain(class.children().map(demands).unwrap_or_default()).collect::<Vec<_>>()
    };
    policy.classes.iter().flat_map(of_class).collect()
}

/// Replaces groups of codepoints by the thresholds of each codepoint, because groups can have any order.
fn by_codepoint(class: &mut ClassConfig) {
    if let (PrecedenceSource::ByDscp(groups), Some(BufferConfig::Wred(wred))) =
        (&class.precedence, &mut class.buffer)
    {
        let row = |dscp: u8| {
            let group = groups.iter().position(|group| group.0.iter().any(|own| own.value() == dscp));
            wred.precedences[group.unwrap_or(groups.len() - 1)].clone()
        };
        let held = codepoints(class.matches.as_ref());
        wred.precedences = held.into_iter().map(|dscp| row(dscp.value())).collect();
        class.precedence = PrecedenceSource::Dscp;
    }
}

/// Splits a policy: returns it without the conditions of its stages and classes, and returns these
/// conditions.
fn apart(policy: &PolicyConfig) -> (PolicyConfig, Vec<Option<MatchConfig>>) {
    fn of_classes(queueing: &mut QueueingConfig, found: &mut Vec<Option<MatchConfig>>) {
        for class in &mut queueing.classes {
            by_codepoint(class);
            let ClassConfig { matches, queueing, .. } = class;
            found.push(matches.take());
            if let Some(inner) = queueing {
                of_classes(inner, found);
            }
        }
    }
    let mut policy = policy.clone();
    let mut found: Vec<_> = policy.conditioners.iter_mut().map(|stage| stage.matches.take()).collect();
    policy.queueing.iter_mut().for_each(|queueing| of_classes(queueing, &mut found));
    (policy, found)
}

/// Compares a policy with the policy that is read again. Returns whether IOS can express the whole policy.
fn compare(text: &str, source: Source) -> bool {
    let before = read(text);
    let port = before.router.ports.first().expect("an interface");
    let written = write(text, port, source);
    if !written.not_expressed.is_empty() {
        return false;
    }
    let after = read(&written.text);
    let again = after.router.port(&port.name).expect("the interface");
    let both = format!("{text}\n{}", written.text);
    let ((one, conditions), (other, others)) = (apart(&port.output), apart(&again.output));
    assert_eq!(one, other, "{both}");
    assert_eq!(conditions.len(), others.len(), "{both}");
    for (one, other) in conditions.iter().zip(&others) {
        assert!(same_packets(one.as_ref(), other.as_ref()), "{one:?}\n{other:?}\n{both}");
    }
    if source == Source::Router {
        let [one, other] =
            [port, again].map(|port| port.intent.output.iter().flat_map(demands).collect::<Vec<_>>());
        assert_eq!(one, other, "{both}");
    }
    // The second output is the same text.
    assert_eq!(write(&written.text, again, source).text, written.text, "{both}");
    true
}

proptest! {
    #[test]
    fn a_routers_policy_written_and_read_again_is_the_same(text in configuration()) {
        prop_assert!(compare(&text, Source::Router), "{}", text);
    }

    #[test]
    fn a_scenarios_policy_written_and_read_again_is_the_same_or_a_loss_is_named(text in configuration()) {
        compare(&text, Source::Scenario);
    }
}

#[test]
fn half_of_all_policies_of_scenarios_lose_nothing() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let draw = configuration();
    let mut text = || draw.new_tree(&mut runner).expect("no filter").current();
    let kept = (0..60).filter(|_| compare(&text(), Source::Scenario)).count();
    assert!(kept >= 30, "{kept} of 60");
}
