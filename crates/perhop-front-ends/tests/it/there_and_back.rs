//! Tests of the conversion of a policy to another language and back. The policy is unchanged, or a list names
//! the differences.

use perhop_device::intent::Direction;
use perhop_device::{
    NotExpressed, ParseOptions, PoliciesToWrite, PolicyToWrite, Port, SourceConfiguration, same_packets,
};
use perhop_front_ends::FRONT_ENDS;
use perhop_qos::Rate;
use perhop_qos::conditioner::ConditionerConfig;
use perhop_qos::policy::PolicyConfig;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// A device's text, the only port with a policy, and the platform.
struct Device {
    text: String,
    port: Port,
    platform: String,
}

fn read(text: String) -> Device {
    let device = FRONT_ENDS.parse(&text, &ParseOptions::default()).expect("no options");
    let has_policy = |port: &&Port| !port.input.conditioners.is_empty();
    let port = device.router.ports.iter().find(has_policy).unwrap_or_else(|| panic!("{text}")).clone();
    Device { text, port, platform: device.platform.name }
}

/// Returns a device with the input policy of `device` in the language `name`, and the list of differences.
fn converted(device: &Device, name: &str) -> (Device, Vec<NotExpressed>) {
    let policies = PoliciesToWrite {
        file: "device".to_owned(),
        policies: vec![PolicyToWrite {
            name: "IN".to_owned(),
            interface: Some(device.port.name.clone()),
            direction: Some(Direction::Input),
            rate: Some(Rate::from_bits_per_second(100_000_000)),
            policy: device.port.input.clone(),
        }],
        configuration: Some(SourceConfiguration {
            text: device.text.clone(),
            platform: device.platform.clone(),
        }),
        platform: None,
    };
    let written = FRONT_ENDS.write(name, &policies).expect("a language with a writer");
    (read(written.text), written.not_expressed)
}

/// Compares stages by their packets, meters and actions, because devices choose their own names.
fn compare(before: &PolicyConfig, other: &PolicyConfig, text: &str) {
    assert_eq!(before.conditioners.len(), other.conditioners.len(), "{text}");
    assert_eq!(before.overhead, other.overhead, "{text}");
    for (left, right) in before.conditioners.iter().zip(&other.conditioners) {
        assert!(same_packets(left.matches.as_ref(), right.matches.as_ref()), "{left:?}\n{right:?}\n{text}");
        assert_eq!(left.meter, right.meter, "{text}");
        let actions = |stage: &ConditionerConfig| {
            let own = |list: &Vec<_>| if list.is_empty() { stage.actions.clone() } else { list.clone() };
            (own(&stage.green), own(&stage.red))
        };
        assert_eq!(actions(left), actions(right), "{text}");
    }
}

/// Returns whether both lists of differences are empty. If they are, checks that the policies are equal.
fn there_and_back(text: String, there: &str, back: &str) -> bool {
    let first = read(text);
    let (second, lost) = converted(&first, there);
    let (third, lost_again) = converted(&second, back);
    if !lost.is_empty() || !lost_again.is_empty() {
        return false;
    }
    let texts = format!("{}\n{}\n{}", first.text, second.text, third.text);
    compare(&first.port.input, &third.port.input, &texts);
    true
}

/// Match lines of classes without common packets.
const CLASSES: [&str; 5] = [
    "match dscp ef",
    "match dscp af31 af32 af33",
    "match precedence 2",
    "match dscp cs6 cs7",
    "match access-group name WEB",
];
const TREATMENTS: [&str; 4] = [
    "  police cir 2000000 bc 16000\n   conform-action transmit\n   exceed-action drop\n",
    "  police cir 512000 bc 8000\n   conform-action set-dscp-transmit af21\n   exceed-action drop\n",
    "  set dscp {}\n",
    "  police cir 1000000 bc 16000 pir 2000000 be 32000\n   conform-action transmit\n   exceed-action \
     transmit\n   violate-action drop\n",
];

fn router() -> impl Strategy<Value = String> {
    let treatments = prop::collection::vec(select(TREATMENTS.to_vec()), 5);
    (subsequence(CLASSES.to_vec(), 1..5), treatments).prop_map(|(classes, treatments)| {
        let mut parts = vec![
            "version 15.2\nip access-list extended WEB\n \
             permit tcp 10.1.0.0 0.0.255.255 any eq 80 dscp af41\n"
                .to_owned(),
        ];
        let each = || classes.iter().zip(&treatments).enumerate();
        parts.extend(each().map(|(number, (line, _))| format!("class-map match-all C{number}\n {line}\n")));
        parts.push("policy-map IN\n".to_owned());
        // Consecutive stages with equal marks are merged by the conversion.
        parts.extend(each().map(|(number, (_, treatment))| {
            format!(" class C{number}\n{}", treatment.replace("{}", &number.to_string()))
        }));
        parts.push("interface GigabitEthernet0/0\n service-policy input IN\nend\n".to_owned());
        parts.concat()
    })
}

fn linux() -> impl Strategy<Value = String> {
    let conditions = [
        "u32 match ip dsfield 0xb8 0xfc",
        "u32 match ip dsfield 0x48 0xfc",
        "flower ip_proto tcp dst_port 443 ip_tos 0x20/0xfc",
        "flower src_ip 10.1.0.0/16 ip_tos 0x40/0xfc",
    ];
    let rates = prop::collection::vec(1..50_u64, 4);
    (subsequence(conditions.to_vec(), 1..4), rates).prop_map(|(conditions, rates)| {
        let filter = |(number, (condition, rate)): (usize, (&&str, &u64))| {
            format!(
                "tc filter add dev eth0 ingress protocol ip pref {} {condition} action police \
                 rate {rate}mbit burst 20000 conform-exceed drop/pass\n",
                number + 1
            )
        };
        let filters: Vec<String> = conditions.iter().zip(&rates).enumerate().map(filter).collect();
        format!("tc qdisc add dev eth0 clsact\n{}", filters.concat())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn from_a_router_to_linux_and_back(text in router()) {
        there_and_back(text, "tc", "ios");
    }

    #[test]
    fn from_linux_to_a_router_and_back(text in linux()) {
        there_and_back(text, "ios", "tc");
    }
}

#[test]
fn most_policies_of_a_router_survive_the_round_trip() {
    let mut runner = TestRunner::deterministic();
    let draw = router();
    let mut text = || draw.new_tree(&mut runner).expect("no filter").current();
    let kept = (0..20).filter(|_| there_and_back(text(), "tc", "ios")).count();
    assert!(kept >= 15, "{kept} of 20");
}
