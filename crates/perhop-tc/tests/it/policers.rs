//! Policers and drops at the filters of classes are conditioners, which packets pass before their class.

use perhop_analysis::{PacketSpace, Set};
use perhop_device::{FrontEnd, ParseOptions, Port};
use perhop_lint::LineState;
use perhop_qos::classifier::MatchConfig;
use perhop_tc::{Configuration, Tc, convert, parse};
use proptest::prelude::*;
use serde_json::{Value, json};

const CLASSES: &str = "tc qdisc add dev eth0 root handle 1: htb default 20\n\
                       tc class add dev eth0 parent 1: classid 1:10 htb rate 5mbit\n\
                       tc class add dev eth0 parent 1: classid 1:20 htb rate 5mbit\n";
const FILTER: &str = "tc filter add dev eth0 parent 1: protocol ip";

fn read(filters: &str) -> (Configuration, Port) {
    let mut configuration = parse(&format!("{CLASSES}{filters}"));
    let port = convert(&mut configuration).ports.remove(0);
    (configuration, port)
}

fn stages(port: &Port) -> Value {
    serde_json::to_value(&port.output.conditioners).expect("serializable")
}

/// The packets of a condition.
fn packets(space: &mut PacketSpace, condition: Option<&MatchConfig>) -> Set {
    condition.map_or(Set::ALL, |condition| space.taken_by(condition).expect("a small set"))
}

fn all_are_modeled(configuration: &Configuration) {
    let lines = configuration.lines.iter();
    let left_out: Vec<_> = lines.filter(|line| line.state == LineState::NotModelled).collect();
    assert!(left_out.is_empty(), "{left_out:?}");
}

#[test]
fn excess_of_a_filter_policer_is_dropped_before_the_class() {
    for exceed in ["drop", "conform-exceed drop/pass", ""] {
        let police =
            format!("{FILTER} pref 1 flower ip_proto udp action police rate 1mbit burst 10k {exceed}");
        let (configuration, port) = read(&format!("{police} classid 1:10\n"));
        all_are_modeled(&configuration);
        assert_eq!(
            stages(&port),
            json!([{
                "name": "1:10", "match": {"protocol": "udp", "source": "0.0.0.0/0"},
                "meter": {"token-bucket": {"rate": "1Mb/s", "burst": "10KiB"}},
                "green": ["continue"], "red": ["drop"],
            }]),
            "{exceed}"
        );
        let class = port.links.output.class_of_conditioner(0).expect("a class");
        assert_eq!((class.line, &class.lines), (4, &vec![4]));
    }
}

/// A burst of half a millisecond at 250 Mb/s: TCP reached 3 to 11 Mb/s.
#[test]
fn a_small_burst_at_a_filter_is_reported_on_its_line() {
    let filters = format!("{FILTER} pref 1 flower action police rate 250mbit burst 15k drop classid 1:10\n");
    let (configuration, _) = read(&filters);
    let found =
        configuration.diagnostics.iter().find(|diagnostic| diagnostic.rule.id == "police-burst-small");
    let found = found.expect("a finding");
    assert!(found.line == 4 && found.message.contains(", 0.49 ms of its rate 250Mb/s"), "{}", found.message);
}

#[test]
fn a_policer_meters_packets_that_no_earlier_filter_takes() {
    let filters = format!(
        "{FILTER} pref 1 flower dst_ip 10.0.0.1 classid 1:10\n\
         {FILTER} pref 2 flower ip_proto udp action police rate 1mbit burst 10k drop classid 1:20\n\
         {FILTER} pref 3 flower dst_ip 10.9.0.0/16 action drop classid 1:20\n"
    );
    let (configuration, port) = read(&filters);
    all_are_modeled(&configuration);
    let mut space = PacketSpace::new(&[]);
    let wanted = |text: &str| serde_json::from_str::<MatchConfig>(text).expect("a condition");
    let udp = packets(&mut space, Some(&wanted(r#"{"protocol": "udp", "source": "0.0.0.0/0"}"#)));
    let host = packets(&mut space, Some(&wanted(r#"{"destination": "10.0.0.1/32"}"#)));
    let network = packets(&mut space, Some(&wanted(r#"{"destination": "10.9.0.0/16"}"#)));
    let conditioners = &port.output.conditioners;
    let policed = packets(&mut space, conditioners[0].matches.as_ref());
    assert_eq!(policed, space.minus(udp, host).unwrap());
    let dropped = packets(&mut space, conditioners[1].matches.as_ref());
    assert_eq!(dropped, space.minus(network, udp).unwrap());
    assert_eq!(stages(&port)[1]["actions"], json!(["drop"]));
}

/// Some generators write the filter of a class twice, first without its policer (T6795 of vyos-1x).
#[test]
fn a_policer_behind_the_same_filter_meters_nothing() {
    let filter = format!("{FILTER} pref 1 flower ip_proto udp");
    let (configuration, port) = read(&format!(
        "{filter} classid 1:10\n{filter} action police rate 1mbit burst 10k drop classid 1:10\n"
    ));
    assert!(port.output.conditioners.is_empty());
    let note = configuration.lines[4].note.as_deref().unwrap_or_default();
    assert!(note.contains("no packet reaches the actions of this filter"), "{note}");
    let names: Vec<_> =
        port.output.queueing.iter().flat_map(|all| &all.classes).map(|class| &class.name).collect();
    assert_eq!(names, ["1:10", "1:20"]);
}

#[test]
fn continuing_excess_reaches_the_next_filter() {
    let filters = format!(
        "{FILTER} pref 1 flower ip_proto udp action police rate 1mbit burst 10k continue classid 1:10\n\
         {FILTER} pref 2 flower ip_proto udp action police rate 2mbit burst 10k drop classid 1:20\n"
    );
    let (configuration, port) = read(&filters);
    all_are_modeled(&configuration);
    let all = stages(&port);
    assert_eq!(
        (&all[0]["green"], &all[0]["red"]),
        (&json!(["continue"]), &json!([{"label": 255}, "continue"]))
    );
    let mut space = PacketSpace::new(&[]);
    let udp = MatchConfig { ..serde_json::from_value(all[0]["match"].clone()).unwrap() };
    let labeled: MatchConfig = serde_json::from_value(json!({"label": 255})).unwrap();
    let (udp, labeled) = (packets(&mut space, Some(&udp)), packets(&mut space, Some(&labeled)));
    let second = packets(&mut space, port.output.conditioners[1].matches.as_ref());
    assert_eq!(second, space.and(udp, labeled).unwrap());
    let classes = &port.output.queueing.as_ref().unwrap().classes;
    let first = packets(&mut space, classes[0].matches.as_ref());
    assert_eq!((classes[0].name.as_str(), first), ("1:10", space.minus(udp, labeled).unwrap()));
}

#[test]
fn a_filter_that_continues_takes_no_packets() {
    let (configuration, port) =
        read(&format!("{FILTER} pref 1 flower ip_proto udp action continue classid 1:10\n"));
    assert_eq!(configuration.diagnostics, []);
    assert!(port.output.conditioners.is_empty());
    let names: Vec<_> =
        port.output.queueing.iter().flat_map(|all| &all.classes).map(|class| &class.name).collect();
    assert_eq!(names, ["1:20"]);
}

#[test]
fn inner_filters_meter_the_packets_of_their_class() {
    let filters = format!(
        "tc qdisc add dev eth0 parent 1:10 handle 10: prio\n\
         {FILTER} pref 1 flower ip_proto udp classid 1:10\n\
         tc filter add dev eth0 parent 10: protocol ip pref 1 flower dst_ip 10.0.0.0/8 action police rate 1mbit \
         burst 10k drop classid 10:1\n"
    );
    let (_, port) = read(&filters);
    let mut space = PacketSpace::new(&[]);
    let found = packets(&mut space, port.output.conditioners[0].matches.as_ref());
    let wanted = json!({"protocol": "udp", "source": "0.0.0.0/0", "destination": "10.0.0.0/8"});
    let wanted = serde_json::from_value(wanted).expect("a condition");
    assert_eq!(found, packets(&mut space, Some(&wanted)));
}

#[test]
fn policers_of_clsact_precede_those_of_classes() {
    let filters = format!(
        "tc qdisc add dev eth0 clsact\n\
         tc filter add dev eth0 egress protocol ip pref 1 flower ip_proto tcp action police rate 3mbit burst 10k drop\n\
         tc filter add dev eth0 egress protocol ip pref 2 matchall action police rate 4mbit burst 10k drop\n\
         {FILTER} pref 1 flower ip_proto udp action police rate 1mbit burst 10k drop classid 1:10\n"
    );
    let (configuration, port) = read(&filters);
    all_are_modeled(&configuration);
    let all = stages(&port);
    let names: Vec<&str> = (0..3).map(|index| all[index]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["line 5", "line 6", "1:10"]);
    assert_eq!((&all[0]["green"], &all[1]["green"]), (&json!(["continue"]), &json!(["continue"])));
    assert!(all[1]["match"].to_string().contains("not"), "{}", all[1]);
}

#[test]
fn marks_and_chains_at_class_filters_are_reported() {
    for action in ["pedit ex munge ip dsfield set 0xb8", "skbedit mark 3", "goto chain 2"] {
        let (configuration, port) =
            read(&format!("{FILTER} pref 1 flower ip_proto udp action {action} classid 1:10\n"));
        assert!(port.output.conditioners.is_empty(), "{action}");
        assert_eq!(configuration.lines[3].state, LineState::NotModelled, "{action}");
    }
    // A label next to marks of the firewall.
    let filters = format!(
        "{FILTER} pref 1 handle 7 fw classid 1:20\n\
         {FILTER} pref 2 flower ip_proto udp action police rate 1mbit burst 10k continue classid 1:10\n"
    );
    let (configuration, port) = read(&filters);
    assert!(port.output.conditioners.is_empty());
    assert_eq!(configuration.lines[4].state, LineState::NotModelled);
}

/// The actions of random filters. Packets that exceed a policer are dropped, or continue to the next filter.
const ACTIONS: [&str; 5] = [
    "",
    "action police rate 1mbit burst 10k drop",
    "action police rate 1mbit burst 10k continue",
    "action drop",
    "action continue",
];

/// Applies filters in the order of the kernel (`tcf_classify`): each filter acts on the packets that no
/// earlier filter has classified or dropped.
fn kernel_decisions(
    space: &mut PacketSpace,
    filters: &[(u32, usize, usize)],
) -> (Vec<(usize, Set)>, Vec<Set>) {
    let (mut metered, mut classes) = (Vec::new(), vec![Set::NONE; 4]);
    let (mut rest, mut label) = (Set::ALL, 255);
    for (index, (codepoints, action, class)) in filters.iter().enumerate() {
        let condition = json!({"dscp": (0..64).filter(|dscp| dscp >> 3 == *codepoints).collect::<Vec<_>>()});
        let condition = serde_json::from_value(condition).expect("a condition");
        let own = packets(space, Some(&condition));
        let own = space.and(own, rest).unwrap();
        let taken = match action {
            2 if own != Set::NONE => {
                let labeled = serde_json::from_value(json!({"label": label})).expect("a condition");
                let labeled = packets(space, Some(&labeled));
                label -= 1;
                space.minus(own, labeled).unwrap()
            }
            4 => continue,
            _ => own,
        };
        if (1..=3).contains(action) && own != Set::NONE {
            metered.push((index + 6, own));
        }
        rest = space.minus(rest, taken).unwrap();
        classes[*class] = space.or(classes[*class], taken).unwrap();
    }
    classes[3] = space.or(classes[3], rest).unwrap();
    (metered, classes)
}

proptest! {
    #[test]
    fn random_filters_meter_and_lead_as_in_the_kernel(
        filters in prop::collection::vec((0..4_u32, 0..5_usize, 0..4_usize), 1..8),
        inner in prop::collection::vec(prop::sample::select(vec![6_u8, 17]), 0..3),
    ) {
        let mut text = vec!["tc qdisc add dev eth0 root handle 1: htb default 4".to_owned()];
        text.extend((1..5).map(|class| format!("tc class add dev eth0 parent 1: classid 1:{class} htb rate 5mbit")));
        text.extend(filters.iter().enumerate().map(|(index, (codepoints, action, class))| {
            let (pref, action, class) = (index + 1, ACTIONS[*action], class + 1);
            let tos = codepoints << 5;
            format!(
                "tc filter add dev eth0 parent 1: protocol all pref {pref} u32 match ip tos {tos} 0xe0 {action} \
                 flowid 1:{class}"
            )
        }));
        text.push("tc qdisc add dev eth0 parent 1:1 handle 10: prio".to_owned());
        text.extend(inner.iter().enumerate().map(|(index, protocol)| {
            let (pref, action) = (index + 1, ACTIONS[1]);
            format!(
                "tc filter add dev eth0 parent 10: protocol all pref {pref} u32 match ip protocol {protocol} 0xff \
                 {action} flowid 10:1"
            )
        }));
        let port = convert(&mut parse(&text.join("\n"))).ports.remove(0);
        let mut space = PacketSpace::new(&[]);
        let (mut metered, classes) = kernel_decisions(&mut space, &filters);
        // The packets of 1:1 reach the filters of its inner discipline.
        let mut rest = classes[0];
        for (index, protocol) in inner.iter().enumerate() {
            let condition = serde_json::from_value(json!({"protocol": protocol})).expect("a condition");
            let own = packets(&mut space, Some(&condition));
            let own = space.and(own, rest).unwrap();
            rest = space.minus(rest, own).unwrap();
            metered.extend((own != Set::NONE).then_some((filters.len() + 7 + index, own)));
        }
        let mut found = Vec::new();
        for (index, stage) in port.output.conditioners.iter().enumerate() {
            let line = port.links.output.class_of_conditioner(index).expect("a class").line;
            found.push((line, packets(&mut space, stage.matches.as_ref())));
        }
        prop_assert_eq!(&found, &metered, "{}", text.join("\n"));
        prop_assert!(port.output.queueing.is_some(), "{}", text.join("\n"));
        let queueing = port.output.queueing.as_ref().expect("a scheduler");
        let mut reached = vec![Set::NONE; 4];
        for class in perhop_analysis::classes_of(&mut space, queueing, Set::ALL).expect("small sets") {
            let number: usize = class.name[2..3].parse().expect("1:NUMBER");
            reached[number - 1] = space.or(reached[number - 1], class.takes).unwrap();
        }
        prop_assert_eq!(reached, classes, "{}", text.join("\n"));
    }
}

#[test]
fn a_burst_below_the_packets_of_offloads_is_reported() {
    let found = |options: &str, rate: &str| {
        let text = format!(
            "{FILTER} pref 1 flower ip_proto tcp action police rate {rate} {options} drop classid 1:10\n"
        );
        let (configuration, _) = read(&text);
        let rules: Vec<&str> =
            configuration.diagnostics.iter().map(|diagnostic| diagnostic.rule.id).collect();
        rules.contains(&"tc-police-burst-offload")
    };
    // A millisecond: 25 kB at 200 Mb/s, 12.5 kB at 100 Mb/s, and 64 KiB at most.
    assert!(found("burst 20k", "200mbit"));
    assert!(!found("burst 26k", "200mbit"));
    assert!(!found("burst 20k", "100mbit"));
    assert!(found("burst 60k", "10gbit"));
    assert!(!found("burst 64k", "10gbit"));
}

#[test]
fn a_burst_below_joined_packets_is_named_at_any_rate() {
    let found = |burst: &str, rate: &str| {
        let text = format!(
            "{FILTER} pref 1 flower ip_proto tcp action police rate {rate} burst {burst} drop classid 1:10\n"
        );
        let model = Tc.parse(&format!("{CLASSES}{text}"), &ParseOptions::default()).unwrap();
        let mut rules = model.diagnostics.iter().map(|one| one.diagnostic.rule.id);
        let rule = rules.rfind(|rule| rule.starts_with("tc-police-burst"));
        (rule, model.open_lines.iter().filter(|open| open.concerns(|name| name == "eth0")).count())
    };
    for rate in ["64kbit", "10mbit", "100mbit"] {
        assert_eq!(found("15k", rate), (Some("tc-police-burst-gro"), 1), "{rate}");
        assert_eq!(found("64k", rate), (None, 0), "{rate}");
    }
    assert_eq!(found("15k", "250mbit"), (Some("tc-police-burst-offload"), 1));
}
