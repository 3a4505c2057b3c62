//! Tests that Intent and the lowered policy, which come from one tree, agree on every packet and rate.

use perhop_analysis::{PacketSpace, Set};
use perhop_device::Port;
use perhop_device::intent::{Class, Condition, Guarantee, Meter, Policy, Shape, TrafficRate};
use perhop_device::lower::Links;
use perhop_qos::Rate;
use perhop_qos::meter::MeterConfig;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::scheduler::SchedulerConfig;
use perhop_tc::{convert, parse};
use proptest::prelude::*;

/// A queue's path, and the packets that wait in it.
type Queues = Vec<(Vec<usize>, Set)>;

/// Number of compared parts.
#[derive(Debug, Default)]
struct Seen {
    queues: usize,
    conditioners: usize,
    guarantees: usize,
    maxima: usize,
}

/// Compares Intent and policies of every port of `text`, except conditions that are too complex.
fn compare(text: &str, seen: &mut Seen) {
    let router = convert(&mut parse(text));
    for port in &router.ports {
        let Port { intent, links, input, output, .. } = port;
        for (intent, links, config) in
            [(&intent.input, &links.input, input), (&intent.output, &links.output, output)]
        {
            let asked: usize = usize::from(config.queueing.is_some());
            assert_eq!(intent.iter().filter(|policy| policy.queues).count(), asked, "{text}");
            compare_conditioners(intent, links, config, seen, text);
            if let (Some(policy), Some(queueing)) =
                (intent.iter().find(|policy| policy.queues), &config.queueing)
            {
                compare_queues(policy, links, queueing, seen, text);
            }
        }
    }
}

fn compare_conditioners(
    intent: &[Policy],
    links: &Links,
    config: &PolicyConfig,
    seen: &mut Seen,
    text: &str,
) {
    let classes: Vec<&Class> = intent.iter().flat_map(|policy| &policy.classes).collect();
    for (index, stage) in config.conditioners.iter().enumerate() {
        let found = links.class_of_conditioner(index).unwrap_or_else(|| panic!("{index}: {text}"));
        let class = classes.iter().find(|class| class.id == found.class).expect("a class of Intent");
        assert!(found.lines.contains(&found.line), "{text}");
        let matches = stage.matches.clone().map_or(Condition::Always, Condition::when);
        assert_eq!(class.condition, matches, "{text}");
        let rate = |rate: TrafficRate| match rate {
            TrafficRate::BitsPerSecond(bits) => bits,
            TrafficRate::Percent(_) => panic!("{text}"),
        };
        let held = class.police.as_ref().map(|police| match police.value.meter {
            Meter::Bytes { rate: cir, peak, .. } => (rate(cir), peak.map(rate)),
            Meter::Packets { rate, .. } => (rate, None),
        });
        let runs = stage.meter.as_ref().map(|meter| match meter {
            MeterConfig::TokenBucket(bucket) => (bucket.rate.as_bits_per_second(), None),
            MeterConfig::TwoRateTcm(two) => {
                (two.cir.as_bits_per_second(), Some(two.pir.as_bits_per_second()))
            }
            MeterConfig::PacketRate(packets) => (packets.rate.as_packets_per_second(), None),
            other => panic!("{other:?}"),
        });
        assert_eq!(held, runs, "{text}");
        seen.conditioners += 1;
    }
}

fn compare_queues(policy: &Policy, links: &Links, queueing: &QueueingConfig, seen: &mut Seen, text: &str) {
    compare_rates(policy, links, queueing, seen, text);
    let mut space = PacketSpace::new(&[]);
    let (mut meant, mut runs) = (Queues::new(), Queues::new());
    if meant_queues(&mut space, policy, links, Set::ALL, &mut meant).is_none()
        || running_queues(&mut space, queueing, Set::ALL, &mut Vec::new(), &mut runs).is_none()
    {
        return;
    }
    meant.sort_by(|one, other| one.0.cmp(&other.0));
    runs.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(meant, runs, "{text}");
    seen.queues += meant.len();
}

/// Returns the packets of each queue by Intent: the first matching class of each policy, from the outermost
/// policy inwards.
fn meant_queues(
    space: &mut PacketSpace,
    policy: &Policy,
    links: &Links,
    arriving: Set,
    found: &mut Queues,
) -> Option<()> {
    let mut left = arriving;
    for class in &policy.classes {
        let own = match &class.condition {
            Condition::Always => Set::ALL,
            Condition::Never => Set::NONE,
            Condition::When(config) => space.taken_by(config).ok()?,
        };
        let own = space.and(left, own).ok()?;
        left = space.minus(left, own).ok()?;
        if let Some(inside) = class.children() {
            meant_queues(space, inside, links, own, found)?;
        } else {
            // A class without a queue drops its packets.
            let path = links.of_class(class.id).and_then(|links| links.queue.clone());
            found.extend(path.map(|path| (path, own)));
        }
    }
    Some(())
}

/// Returns the packets of each queue according to the lowered classifier.
fn running_queues(
    space: &mut PacketSpace,
    queueing: &QueueingConfig,
    arriving: Set,
    path: &mut Vec<usize>,
    found: &mut Queues,
) -> Option<()> {
    let mut left = arriving;
    for (index, class) in queueing.classes.iter().enumerate() {
        let own = match &class.matches {
            None => Set::ALL,
            Some(config) => space.taken_by(config).ok()?,
        };
        let own = space.and(left, own).ok()?;
        left = space.minus(left, own).ok()?;
        path.push(index);
        match &class.queueing {
            Some(inside) => running_queues(space, inside, own, path, found)?,
            None => found.push((path.clone(), own)),
        }
        path.pop();
    }
    Some(())
}

/// Compares guarantee and maximum of each class.
fn compare_rates(policy: &Policy, links: &Links, queueing: &QueueingConfig, seen: &mut Seen, text: &str) {
    for class in &policy.classes {
        let Some(path) = links.of_class(class.id).and_then(|links| links.node.as_ref()) else {
            assert_eq!((class.guarantee, class.shape), (None, None), "{text}");
            continue;
        };
        let (scheduler, config) = at(queueing, path);
        assert_eq!(config.name, class.name, "{text}");
        assert_eq!(class.guarantee.and_then(|at| promised(at.value)), guarantee(scheduler, config), "{text}");
        assert_eq!(class.shape.map(|at| most(at.value)), maximum(scheduler, config), "{text}");
        seen.guarantees += usize::from(class.guarantee.is_some());
        seen.maxima += usize::from(class.shape.is_some());
        if let Some(inside) = class.children() {
            compare_rates(inside, links, queueing, seen, text);
        }
    }
}

/// The class at `path`, and the scheduler around it.
fn at<'a>(queueing: &'a QueueingConfig, path: &[usize]) -> (SchedulerConfig, &'a ClassConfig) {
    let class = &queueing.classes[path[0]];
    if path.len() == 1 {
        return (queueing.scheduler, class);
    }
    at(class.queueing.as_ref().expect("classes inside"), &path[1..])
}

fn promised(guarantee: Guarantee) -> Option<u64> {
    match guarantee {
        Guarantee::BitsPerSecond(bits) => Some(bits),
        _ => None,
    }
}

fn most(shape: Shape) -> u64 {
    match shape.rate {
        TrafficRate::BitsPerSecond(bits) => bits,
        TrafficRate::Percent(percent) => panic!("{percent}"),
    }
}

fn guarantee(scheduler: SchedulerConfig, config: &ClassConfig) -> Option<u64> {
    let rate = match scheduler {
        SchedulerConfig::Htb => config.share.rate,
        SchedulerConfig::Hfsc => config.share.real_time.map(|curve| curve.m2),
        _ => None,
    };
    rate.map(Rate::as_bits_per_second)
}

fn maximum(scheduler: SchedulerConfig, config: &ClassConfig) -> Option<u64> {
    let of_class = match scheduler {
        SchedulerConfig::Htb => config.share.ceil.or(config.share.rate),
        SchedulerConfig::Hfsc => config.share.upper_limit.map(|curve| curve.m2),
        _ => None,
    };
    let rate = config.shape.map(|shape| shape.rate).into_iter().chain(of_class).min();
    rate.map(Rate::as_bits_per_second)
}

/// Files that contain every discipline that Intent can represent.
const FILES: [&str; 5] = [
    include_str!("../../../../vectors/tc/router.sh"),
    include_str!("../../../../vectors/tc/shown.txt"),
    include_str!("../../../../vectors/tc/batch.tc"),
    include_str!("../../../../vectors/tc/shown.json"),
    include_str!("../../../../vectors/tc/shown-in-lines.json"),
];

#[test]
fn intent_and_policy_of_files_are_the_same() {
    let mut seen = Seen::default();
    for text in FILES {
        compare(text, &mut seen);
    }
    assert!(
        seen.queues > 20 && seen.conditioners > 3 && seen.guarantees >= 10 && seen.maxima >= 7,
        "{seen:?}"
    );
}

/// A tree of HTB, HFSC or DRR: the parents of its classes, their rates, and the filters that lead to them.
fn tree() -> impl Strategy<Value = String> {
    let class = (0..4_usize, 1..50_u32, 0..3_u32);
    let filter = (0..6_usize, 0..64_u32, any::<bool>());
    let classes = prop::collection::vec(class, 1..6);
    let filters = prop::collection::vec(filter, 0..6);
    (0..3_usize, classes, filters, 0..7_u32, 0..4_usize).prop_map(written)
}

type Tree = (usize, Vec<(usize, u32, u32)>, Vec<(usize, u32, bool)>, u32, usize);

fn written((kind, classes, filters, default, leaf): Tree) -> String {
    let kind = ["htb", "hfsc", "drr"][kind];
    let default = if kind == "drr" || default == 6 { String::new() } else { format!(" default {default}") };
    let mut lines = vec![format!("tc qdisc add dev eth0 root handle 1: {kind}{default}")];
    for (index, (parent, rate, more)) in classes.iter().enumerate() {
        let parent = if kind == "drr" || *parent == 0 || *parent > index { 0 } else { *parent };
        let parent = if parent == 0 { "1:".to_owned() } else { format!("1:{parent}") };
        let share = match kind {
            "htb" => format!("rate {rate}mbit ceil {}mbit", rate + more),
            "hfsc" if *more == 0 => format!("sc rate {rate}mbit"),
            "hfsc" => format!("ls rate {rate}mbit ul rate {}mbit", rate + more),
            _ => format!("quantum {}", 100 * rate),
        };
        lines.push(format!("tc class add dev eth0 parent {parent} classid 1:{} {kind} {share}", index + 1));
    }
    let leaf = ["sfq", "fq_codel", "prio", "red limit 60k min 10k max 20k avpkt 1000"][leaf];
    lines.push(format!("tc qdisc add dev eth0 parent 1:{} handle 9: {leaf}", classes.len()));
    for (preference, (class, dscp, is_six)) in filters.iter().enumerate() {
        let protocol = if *is_six { "ipv6" } else { "ip" };
        lines.push(format!(
            "tc filter add dev eth0 parent 1: protocol {protocol} pref {} flower ip_tos {}/0xe0 classid 1:{}",
            preference + 1,
            dscp << 2,
            class + 1
        ));
    }
    lines.join("\n") + "\n"
}

proptest! {
    #[test]
    fn intent_and_policy_of_random_trees_are_the_same(text in tree()) {
        compare(&text, &mut Seen::default());
    }
}

#[test]
fn links_lead_from_lines_to_queues_shapers_and_conditioners() {
    let text = "tc qdisc add dev eth0 clsact\n\
                tc filter add dev eth0 egress protocol ip pref 1 flower ip_proto udp action police rate 1mbit \
                burst 10k drop\n\
                tc qdisc add dev eth0 root handle 1: htb default 20\n\
                tc class add dev eth0 parent 1: classid 1:1 htb rate 5mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1mbit ceil 5mbit\n\
                tc class add dev eth0 parent 1:1 classid 1:20 htb rate 4mbit\n\
                tc qdisc add dev eth0 parent 1:10 handle 10: pfifo limit 30\n\
                tc filter add dev eth0 parent 1: protocol ip pref 1 flower ip_tos 0xb8/0xfc classid 1:10\n";
    let router = convert(&mut parse(text));
    let links = &router.ports[0].links.output;
    let policer = links.class_of_conditioner(0).expect("the policer");
    assert_eq!((policer.line, &policer.lines), (2, &vec![2]));
    let voice = links.class_of_queue(&[0, 0]).expect("the queue of 1:10");
    assert_eq!((voice.line, &voice.lines, &voice.shaper), (5, &vec![5, 7, 8], &Some(vec![0, 0])));
    let around = links.of_class(voice.parent.expect("a class around")).expect("1:1");
    assert_eq!((around.line, &around.node, &around.queue), (4, &Some(vec![0]), &None));
    let at: Vec<usize> = links.classes_at_line(8).map(|class| class.line).collect();
    assert_eq!(at, [5]);
}
