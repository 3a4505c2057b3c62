//! Discard classes, colors of policers, WRED by discard class or class of service, groups and levels of
//! priority. `docs/ios.md` has the sources.

use crate::node::{Node, PLAIN, TAGGED, cos, packet, with_cos};
use perhop_ios::{LineState, Profile};
use perhop_lint::Severity;
use perhop_qos::queue::PrecedenceSource;
use perhop_qos::{Color, Packet};

/// The discard class of the router is 0 until a policy sets it. The color in perhop is initially the drop
/// precedence of the codepoint, and meters change it.
#[test]
fn discard_classes_are_not_the_colors_of_codepoints_and_policers() {
    let node = Node::from_text(
        "class-map marked
 match dscp af21
class-map policed
 match dscp af13
class-map remarked
 match dscp cs1
class-map both
 match dscp cs2
class-map dropped-first
 match discard-class 3
policy-map in
 class marked
  set discard-class 3
 class policed
  police cir 8000 bc 1000 be 1000
   conform-action transmit
   exceed-action transmit
   violate-action set-discard-class-transmit 3
 class remarked
  set dscp af12
 class both
  set discard-class 3
  set dscp af12
policy-map out
 class dropped-first
  bandwidth percent 10
 class class-default
  random-detect discard-class-based
  random-detect discard-class 3 10 20 5
interface GigabitEthernet0/0
 service-policy input in
interface GigabitEthernet0/1
 service-policy output out
",
        Profile::Hqf,
    );
    let found = &node.configuration.diagnostics;
    assert!(found.iter().all(|diagnostic| diagnostic.severity == Severity::Note), "{found:?}");
    let color = |dscp: &str| node.receives("GigabitEthernet0/0", packet(dscp), PLAIN).color.index();
    assert_eq!(["af21", "af43", "cs1", "cs2"].map(color), [3, 0, 0, 3]);
    let policed = node.receive_all("GigabitEthernet0/0", &[packet("af13"); 5], PLAIN);
    let colors: Vec<usize> = policed.iter().map(|packet| packet.color.index()).collect();
    assert_eq!(colors, [0, 0, 0, 0, 3], "conforming, exceeding, and one violating");
    assert_eq!(node.receives("GigabitEthernet0/1", packet("af13"), PLAIN).color, Color::GREEN);
    let classes = &node.port("GigabitEthernet0/1").output.queueing.as_ref().unwrap().classes;
    let last = &classes[1];
    assert_eq!((last.name.as_str(), &last.precedence), ("class-default", &PrecedenceSource::Color));
    let rows = &node.policies("GigabitEthernet0/1").output.as_ref().unwrap().classes[1].random_detect;
    let rows: Vec<_> = rows.as_ref().unwrap().rows.iter().map(|row| (row.min, row.max)).collect();
    assert_eq!(rows[..5], [(20, 40), (22, 40), (24, 40), (10, 20), (28, 40)]);
    // No conditioner is needed if no policy reads the discard class.
    let plain =
        Node::from_text("interface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.0\n", Profile::Hqf);
    assert!(plain.port("GigabitEthernet0/0").input.conditioners.is_empty());
}

#[test]
fn wred_by_class_of_service_sees_the_mark_of_the_class() {
    let text = "class-map voice
 match dscp ef
class-map data
 match dscp af11 af13
policy-map out
 class voice
  bandwidth percent 10
  set cos 6
  random-detect cos-based
  random-detect cos 6 5 9 3
 class data
  bandwidth percent 10
  random-detect cos-based
policy-map top
 class class-default
  shape average 1000000
  service-policy out
interface GigabitEthernet0/0.1
 encapsulation dot1Q 1
 service-policy output top
";
    let node = Node::from_text(text, Profile::Hqf);
    let found = &node.configuration.diagnostics;
    assert!(found.iter().all(|diagnostic| diagnostic.severity == Severity::Note), "{found:?}");
    let sent = |packet| node.sends("GigabitEthernet0/0.1", packet, TAGGED);
    let (voice, data) = (sent(packet("ef")), sent(with_cos(packet("af13"), 2)));
    assert_eq!((cos(voice), voice.color.index()), (Some(6), 6));
    assert_eq!((data.color.index(), sent(with_cos(packet("af11"), 2)).color.index()), (2, 2));
    assert_eq!(sent(packet("af11")).color.index(), 0);
}

const AWARE: &str = "class-map green
 match qos-group 1
class-map yellow
 match dscp af12
class-map match-any all
 match any
policy-map first
 class class-default
  POLICE
interface GigabitEthernet0/0
 service-policy input first
";

/// RFC 2698 in color-aware mode with buckets of 1000 bytes. A packet that arrives as exceeding uses no
/// committed tokens. A packet that arrives as violating uses no tokens.
#[test]
fn policers_are_aware_of_colors() {
    let node = |colors: &str| {
        let police = format!(
            "\
police cir 8000 bc 1000 pir 16000 be 2000 {colors}
   conform-action set-dscp-transmit cs1
   exceed-action set-dscp-transmit cs2
   violate-action set-dscp-transmit cs3"
        );
        Node::from_text(
            &AWARE.replace("match qos-group 1", "match dscp ef").replace("POLICE", &police),
            Profile::IosXe,
        )
    };
    let colored = |colors: &str, packets: &[&str]| {
        let packets: Vec<Packet> = packets.iter().map(|dscp| packet(dscp)).collect();
        let passed = node(colors).receive_all("GigabitEthernet0/0", &packets, PLAIN);
        passed.iter().map(|packet| packet.dscp.precedence().value()).collect::<Vec<_>>()
    };
    let mixed = ["af12", "ef", "cs4", "ef", "ef", "af12", "ef"];
    assert_eq!(colored("", &mixed), [1, 1, 2, 2, 3, 3, 3], "two committed, two more up to the peak");
    let aware = "conform-color green exceed-color yellow";
    assert_eq!(colored(aware, &mixed), [2, 1, 3, 1, 2, 3, 3]);
    assert_eq!(colored("conform-color green", &mixed), [2, 1, 2, 1, 3, 3, 3], "all others come as exceeding");
    assert_eq!(node(aware).line("police").0, LineState::Modelled);
}

#[test]
fn colors_outside_the_model_are_reported() {
    let reported = |colors: &str, police: &str, class_maps: &str| {
        let text = format!("{class_maps}{AWARE}").replace("POLICE", &format!("{police}\n   {colors}"));
        let node = Node::from_text(&text, Profile::IosXe);
        let (state, note) = node.line("conform-color");
        (state, note.to_owned(), node.says("is not defined"))
    };
    let two = "police cir 8000 bc 1000 be 1000 violate-action drop";
    let (state, note, _) = reported("conform-color green", "police cir 8000 bc 1000", "");
    assert_eq!(state, LineState::NotModelled);
    assert!(note.contains("second bucket"), "{note}");
    let dc = "class-map dc
 match discard-class 2
class-map dc0
 match discard-class 0
class-map dc1
 match discard-class 1
";
    let (state, note, _) = reported("conform-color dc", two, dc);
    assert_eq!(state, LineState::NotModelled);
    assert!(note.contains("is its discard class"), "{note}");
    assert_eq!(reported("conform-color dc0 exceed-color dc1", two, dc).0, LineState::Modelled);
    let (state, _, undefined) = reported("conform-color missing", two, "");
    assert_eq!((state, undefined), (LineState::Suspicious, true));
}

/// A router that polices twice can pass the first color to the second policer as a discard class.
#[test]
fn colors_by_discard_class_match_the_packet() {
    let node = Node::from_text(
        "class-map dc0
 match discard-class 0
class-map dc1
 match discard-class 1
policy-map first
 class class-default
  police cir 8000 bc 1000 be 1000
   conform-color dc0 exceed-color dc1
   conform-action set-dscp-transmit cs1
   exceed-action set-dscp-transmit cs2
   violate-action drop
interface GigabitEthernet0/0
 service-policy input first
",
        Profile::IosXe,
    );
    // Every packet arrives with discard class 0, regardless of its codepoint.
    let passed = node.receive_all("GigabitEthernet0/0", &[packet("af13"); 5], PLAIN);
    let passed: Vec<u8> = passed.iter().map(|packet| packet.dscp.precedence().value()).collect();
    assert_eq!(passed, [1, 1, 2, 2]);
}

/// `YangModels`, Cisco-IOS-XE-policy 17.12.1: a router has levels 1 and 2; a Catalyst 9500 has seven.
#[test]
fn levels_of_priority() {
    let text = "class-map a
 match dscp ef
class-map b
 match dscp cs5
class-map c
 match dscp cs4
policy-map out
 class a
  priority level 1
 class b
  priority level 7
 class c
  priority level 3
interface GigabitEthernet1/0/1
 service-policy output out
";
    let router = Node::from_text(text, Profile::IosXe);
    assert!(router.policies("GigabitEthernet1/0/1").output.is_none());
    assert!(
        router.says("priority level 7 does not exist (class b)"),
        "{:?}",
        router.configuration.diagnostics
    );
    let switch =
        Node::from_text(&format!("version 16.12\nswitch 1 provision c9500-24y4c\n{text}"), Profile::IosXe);
    let queueing = switch.port("GigabitEthernet1/0/1").output.queueing.as_ref().unwrap();
    let names: Vec<&str> = queueing.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["a", "c", "b", "others"]);
}

/// Cisco 10000, "random-detect aggregate": values without their own thresholds share the thresholds of the
/// aggregate.
#[test]
fn thresholds_of_an_aggregate() {
    let node = Node::from_text(
        "class-map a
 match dscp af11 af12 af13 cs1
policy-map out
 class a
  bandwidth percent 10
  random-detect dscp-based aggregate minimum-thresh 20 maximum-thresh 60 mark-prob 4
  random-detect dscp values 10 12 minimum-thresh 30 maximum-thresh 50
interface GigabitEthernet0/0
 service-policy output out
",
        Profile::Hqf,
    );
    let rows = &node.policies("GigabitEthernet0/0").output.as_ref().unwrap().classes[0].random_detect;
    let rows = rows.as_ref().unwrap().rows.iter();
    let rows: Vec<_> = rows.map(|row| (row.value.as_str(), row.min, row.max, row.mark_denominator)).collect();
    assert_eq!(rows, [("cs1", 20, 60, 4), ("af11", 30, 50, 10), ("af12", 30, 50, 10), ("af13", 20, 60, 4)]);
}

#[test]
fn the_label_is_the_group_if_both_are_used() {
    let text = "class-map t
 match traffic-class 3
policy-map in
 class class-default
  set traffic-class 3
policy-map out
 class t
  bandwidth percent 10
interface GigabitEthernet0/0
 service-policy input in
 service-policy output out
";
    let node = Node::from_text(text, Profile::IosXe);
    assert_eq!(node.line("set traffic-class").0, LineState::Modelled);
    assert_eq!(node.receives("GigabitEthernet0/0", packet("ef"), PLAIN).label, 3);
    let node = Node::from_text(&format!("class-map g\n match qos-group 1\n{text}"), Profile::IosXe);
    assert_eq!(node.line("set traffic-class").0, LineState::NotModelled);
    assert_eq!(node.line("match traffic-class").0, LineState::NotModelled);
    assert!(node.says("class-map t matches no packet in perhop"));
    assert_eq!(node.receives("GigabitEthernet0/0", packet("ef"), PLAIN).label, 0);
}
