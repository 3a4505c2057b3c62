//! Marks of tags and labels: packets through the conditioners of a configuration. `docs/ios.md` has the
//! sources.

use std::fmt::Write as _;

use crate::node::{LABELED, Node, PLAIN, TAGGED, cos, exp, packet, with_cos, with_exp};
use perhop_ios::Profile;
use perhop_lint::Severity;
use perhop_qos::Packet;

/// Returns a router with a tagged interface. In the input policy, each class sets the number of the class as
/// the group.
fn grouped(class_maps: &str, classes: &[&str]) -> Node {
    let mut sets = String::new();
    for (number, class) in (1..).zip(classes) {
        writeln!(sets, " class {class}\n  set qos-group {number}").unwrap();
    }
    Node::from_text(
        &format!(
            "\
{class_maps}policy-map in
{sets}interface GigabitEthernet0/0.5
 encapsulation dot1Q 5
 service-policy input in
"
        ),
        Profile::Hqf,
    )
}

#[test]
fn classes_by_the_marks_of_tags_and_labels() {
    let node = grouped(
        "\
class-map match-any five
 match cos 5 6
class-map match-all short-three
 match cos inner 3
 match packet length min 100 max 499
class-map three
 match cos 3
class-map not-zero
 match not cos 0
 match not packet length min 600
class-map labeled
 match mpls experimental topmost 0 1
",
        &["five", "short-three", "three", "not-zero", "labeled"],
    );
    let found = &node.configuration.diagnostics;
    assert!(found.iter().all(|diagnostic| diagnostic.severity == Severity::Note), "{found:?}");
    let group = |packet: Packet, link| node.receives("GigabitEthernet0/0.5", packet, link).label;
    let tagged_group =
        |value: u8, length: u32| group(with_cos(Packet { length, ..packet("ef") }, value), TAGGED);
    assert_eq!([5, 6, 7, 0].map(|value| tagged_group(value, 500)), [1, 1, 4, 0]);
    assert_eq!([99, 100, 499, 500].map(|length| tagged_group(3, length)), [3, 2, 2, 3]);
    assert_eq!([599, 600].map(|length| tagged_group(7, length)), [4, 0]);
    let short = Packet { length: 600, ..packet("ef") };
    assert_eq!(group(with_exp(short, 1), LABELED), 5);
    assert_eq!(group(short, PLAIN), 0, "without a label no packet matches by EXP");
}

/// All packets of a sub-interface have the VLAN of this sub-interface. In a policy of the port, only classes
/// that match this VLAN apply to these packets.
#[test]
fn classes_by_vlan_follow_the_sub_interface() {
    let node = Node::from_text(
        "\
class-map ten
 match vlan 10
class-map twenties
 match vlan 20 - 29
class-map inner
 match vlan inner 7
class-map others
 match not vlan 1-19
policy-map in
 class ten
  set qos-group 1
 class inner
  set qos-group 4
 class twenties
  set qos-group 2
 class others
  set qos-group 3
interface GigabitEthernet0/0
 service-policy input in
interface GigabitEthernet0/0.1
 encapsulation dot1Q 10
interface GigabitEthernet0/0.2
 encapsulation dot1Q 25
interface GigabitEthernet0/0.3
 encapsulation dot1Q 30
interface GigabitEthernet0/0.4
 encapsulation dot1Q 1 native
interface GigabitEthernet0/0.5
 encapsulation dot1Q 40 second-dot1q 7
",
        Profile::IosXe,
    );
    let group = |port: &str| node.receives(&format!("GigabitEthernet0/0.{port}"), packet("ef"), TAGGED).label;
    assert_eq!(["1", "2", "3", "4", "5"].map(group), [1, 2, 3, 3, 4]);
    assert!(!node.says("by VLAN"), "{:?}", node.configuration.diagnostics);
}

#[test]
fn classes_by_vlan_of_service_instances() {
    let node = Node::from_text(
        "\
class-map ten
 match vlan 10
class-map inner
 match vlan inner 7
policy-map in
 class ten
  set qos-group 1
 class inner
  set qos-group 2
interface GigabitEthernet0/0
 service instance 1 ethernet
  encapsulation dot1q 10
  service-policy input in
 service instance 2 ethernet
  encapsulation dot1q 20 second-dot1q 7
  service-policy input in
interface GigabitEthernet0/1
 service-policy input in
",
        Profile::IosXe,
    );
    let group = |port: &str| node.receives(port, packet("ef"), TAGGED).label;
    assert_eq!(["GigabitEthernet0/0 EFP 1", "GigabitEthernet0/0 EFP 2"].map(group), [1, 2]);
    assert!(node.says("class ten matches by VLAN on a port without VLANs"));
}

const EDGE: &str = "\
table-map to-cos
 map from 46 to 5
 map from 34 36 38 to 4
 default 1
class-map match-any all
 match any
policy-map out
 class all
  SET
policy-map in
 class all
  SET
interface GigabitEthernet0/0.1
 encapsulation dot1Q 1
 service-policy output out
interface GigabitEthernet0/1
 service-policy input in
";

fn edge(output: &str, input: &str) -> Node {
    Node::from_text(&EDGE.replacen("SET", output, 1).replacen("SET", input, 1), Profile::Hqf)
}

#[test]
fn the_class_of_service_is_set_on_the_way_out() {
    let sent = |set: &str, dscp: &str| {
        let node = edge(set, "set dscp ef");
        let found = &node.configuration.diagnostics;
        assert!(found.iter().all(|diagnostic| diagnostic.severity != Severity::Error), "{found:?}");
        cos(node.sends("GigabitEthernet0/0.1", packet(dscp), TAGGED))
    };
    assert_eq!(sent("set dscp af11", "ef"), Some(0));
    assert_eq!(sent("set cos 3", "ef"), Some(3));
    assert_eq!(
        ["ef", "af42", "cs6"].map(|dscp| sent("set cos dscp table to-cos", dscp)),
        [5, 4, 1].map(Some)
    );
    // Without a table, the three class selector bits of the DSCP are copied.
    assert_eq!(["ef", "af42", "cs6"].map(|dscp| sent("set cos dscp", dscp)), [5, 4, 6].map(Some));
    let police = "police 8000 1000 conform-action set-cos-transmit 2 exceed-action drop";
    assert_eq!(sent(police, "ef"), Some(2));
    let node = edge("set mpls experimental imposition 4", "set cos 3");
    assert!(node.says("class all sets the CoS in an input policy"));
    assert!(node.says("class all sets the EXP of new labels in an output policy"));
    let arrived = node.receives("GigabitEthernet0/1", packet("ef"), PLAIN);
    assert_eq!(cos(node.sends("GigabitEthernet0/0.1", arrived, TAGGED)), Some(0));
}

#[test]
fn labels_get_their_bits_where_they_are_pushed() {
    let through = |set: &str, came: Packet, link| {
        let node = edge("set dscp ef", set);
        let arrived = node.receives("GigabitEthernet0/1", came, link);
        exp(node.sends("GigabitEthernet0/0.1", arrived, LABELED))
    };
    let (plain, labeled) = (packet("af31"), with_exp(packet("af31"), 2));
    assert_eq!(through("set qos-group 1", plain, PLAIN), Some(3), "the precedence, unless set");
    assert_eq!(through("set qos-group 1", labeled, LABELED), Some(2), "a swap keeps it");
    assert_eq!(through("set mpls experimental imposition 6", plain, PLAIN), Some(6));
    assert_eq!(through("set mpls experimental topmost 6", plain, PLAIN), Some(3), "there is no label yet");
    assert_eq!(through("set mpls experimental topmost 6", labeled, LABELED), Some(6));
    let both = "set mpls experimental imposition 6\n  set mpls experimental topmost 5";
    assert_eq!(through(both, plain, PLAIN), Some(6));
    let policed = "police 8000 1000 conform-action set-mpls-exp-imposition-transmit 1 exceed-action drop";
    assert_eq!(through(policed, plain, PLAIN), Some(1));
    let policed = "police 8000 1000 conform-action set-mpls-exp-topmost-transmit 7 exceed-action drop";
    assert_eq!((through(policed, plain, PLAIN), through(policed, labeled, LABELED)), (Some(3), Some(7)));
}

/// In the pipe model, the last router with labels selects the queue by the bits of the arriving label.
#[test]
fn groups_keep_the_bits_of_a_label_that_is_taken_off() {
    let node = edge("set dscp ef", "set qos-group mpls experimental topmost");
    let arrived = |packet, link| node.receives("GigabitEthernet0/1", packet, link);
    assert_eq!(arrived(with_exp(packet("af31"), 6), LABELED).label, 6);
    assert_eq!(arrived(packet("af31"), PLAIN).label, 0);
    let node = edge("set dscp ef", "set precedence cos");
    let arrived = |packet, link| node.receives("GigabitEthernet0/1", packet, link).dscp.to_string();
    assert_eq!(arrived(with_cos(packet("af31"), 2), TAGGED), "cs2");
    assert_eq!(arrived(packet("af31"), PLAIN), "af31", "a missing field is not copied");
}

#[test]
fn a_router_writes_a_new_tag() {
    let text = |classes: &str| {
        format!(
            "\
class-map voice
 match dscp ef
policy-map out
 class voice
  set cos 5
{classes}interface GigabitEthernet0/0.1
 encapsulation dot1Q 1
"
        )
    };
    let two = text("interface GigabitEthernet0/1.1\n encapsulation dot1Q 2\n service-policy output out\n");
    let node = Node::from_text(&two, Profile::Hqf);
    let crossed = |node: &Node, dscp: &str| {
        let arrived = node.receives("GigabitEthernet0/0.1", with_cos(packet(dscp), 7), TAGGED);
        cos(node.sends("GigabitEthernet0/1.1", arrived, TAGGED))
    };
    assert_eq!((crossed(&node, "ef"), crossed(&node, "af11")), (Some(5), Some(0)));
    // A switch forwards the tag of an arriving frame.
    let switch =
        Node::from_text(&format!("version 16.12\nswitch 1 provision c9300-24t\n{two}"), Profile::IosXe);
    assert_eq!(crossed(&switch, "af11"), Some(7));
    let one = Node::from_text(&text(""), Profile::Hqf);
    assert!(one.port("GigabitEthernet0/0.1").output.conditioners.is_empty(), "no other tag comes here");
}

#[test]
fn classes_by_absent_tags_are_reported() {
    let maps = "\
class-map five
 match cos 5
policy-map p
 class five
  set dscp ef
";
    let node = Node::from_text(
        &format!("{maps}interface GigabitEthernet0/0\n service-policy input p\n"),
        Profile::Hqf,
    );
    assert!(node.says("class five matches by CoS, but packets arrive without a VLAN tag"));
    let tagged = "interface GigabitEthernet0/0.1\n encapsulation dot1Q 1\n service-policy";
    let node = Node::from_text(&format!("{maps}{tagged} output p\n"), Profile::Hqf);
    assert!(node.says("class five matches by CoS in an output policy"));
    let instance = "interface GigabitEthernet0/0\n service-policy output p\n service instance 1 ethernet\n  \
                    encapsulation dot1q 1\n  bridge-domain 1\n";
    let node = Node::from_text(&format!("{maps}{instance}"), Profile::Hqf);
    assert!(!node.says("class five matches by CoS in an output policy"), "bridged frames keep their tag");
    let node = Node::from_text(&format!("{maps}{tagged} input p\n"), Profile::Hqf);
    let found = &node.configuration.diagnostics;
    assert!(found.iter().all(|diagnostic| diagnostic.severity == Severity::Note), "{found:?}");
}

/// A packet belongs to the class that it matched on arrival, regardless of the marks of that class.
#[test]
fn a_class_that_rewrites_its_matched_label_keeps_its_queue() {
    let node = Node::from_text(
        "\
class-map one
 match mpls experimental topmost 1
class-map two
 match mpls experimental topmost 2
policy-map out
 class one
  bandwidth percent 30
  set mpls experimental topmost 2
 class two
  bandwidth percent 20
interface GigabitEthernet0/0
 service-policy output out
",
        Profile::Hqf,
    );
    let output = &node.port("GigabitEthernet0/0").output;
    let sent = node.sends("GigabitEthernet0/0", with_exp(packet("ef"), 1), LABELED);
    let one = output.queueing.as_ref().unwrap().classes[0].matches.as_ref().unwrap();
    assert_eq!((exp(sent), one.label.as_ref().map(|label| label.0[0])), (Some(2), Some(sent.label)));
}

/// A group from an input policy does not move a packet into a class that perhop selects by a label. Classes
/// that match groups match the same packets, regardless of the colors of policers.
#[test]
fn groups_are_not_confused_with_labels_of_classes() {
    let node = Node::from_text(
        "\
class-map voice
 match dscp ef
class-map one
 match qos-group 1
class-map dropped-first
 match discard-class 2
policy-map in
 class class-default
  set qos-group dscp
policy-map out
 class one
  bandwidth percent 10
 class voice
  priority percent 10
  set dscp af11
 class dropped-first
  bandwidth percent 10
 class class-default
  police cir 8000 bc 1000 conform-action drop exceed-action transmit
interface GigabitEthernet0/0
 service-policy input in
interface GigabitEthernet0/1
 service-policy output out
",
        Profile::Hqf,
    );
    let label = |dscp: &str| {
        let arrived = node.receives("GigabitEthernet0/0", packet(dscp), PLAIN);
        assert_eq!(arrived.label, arrived.dscp.value());
        node.sends("GigabitEthernet0/1", Packet { length: 1500, ..arrived }, PLAIN).label
    };
    let [one, voice, other] = ["1", "ef", "cs1"].map(label);
    assert!(one >= 100 && voice > one, "{one} {voice}");
    assert_eq!(other, 8, "class-default keeps the group, which is not a label of a class");
    let queueing = node.port("GigabitEthernet0/1").output.queueing.as_ref().unwrap();
    let label =
        |class: &perhop_qos::policy::ClassConfig| class.matches.as_ref().and_then(|it| it.label.clone());
    let others = queueing.classes[1].queueing.as_ref().unwrap();
    assert_eq!(
        (label(&queueing.classes[0]), label(&others.classes[0])),
        (Some(voice.into()), Some(one.into()))
    );
}

/// Returns the finding about a mark of `input`, on packets for a class that matches EF.
fn unmatched(input: &str) -> Option<(String, String)> {
    let text = format!(
        "\
class-map V
 match dscp ef
class-map OTHER
 match dscp af11
policy-map IN
{input}policy-map OUT
 class V
  priority 1000
interface GigabitEthernet0/0
 service-policy input IN
interface GigabitEthernet0/1
 service-policy output OUT
"
    );
    let found = Node::from_text(&text, Profile::Hqf).configuration.diagnostics;
    let found = found.into_iter().find(|diagnostic| diagnostic.rule.id == "mark-never-matched");
    found.map(|diagnostic| (diagnostic.message, diagnostic.router))
}

#[test]
fn a_mark_that_takes_packets_out_of_a_class_has_an_effect() {
    let (message, router) = unmatched(" class V\n  set dscp af41\n").unwrap();
    assert!(message.ends_with(
        "marked af41; without the mark, class V of GigabitEthernet0/1 matches some of these packets"
    ));
    assert!(
        router.starts_with("the mark moves these packets to the default class of GigabitEthernet0/1"),
        "{router}"
    );
    // The policy marks all packets, including the packets of V, by `set` or by a policer.
    for all in ["  set dscp cs1\n", "  police 8000 conform-action set-dscp-transmit cs1 exceed-action drop\n"]
    {
        let (message, _) = unmatched(&format!(" class class-default\n{all}")).unwrap();
        assert!(message.contains("class V of GigabitEthernet0/1 matches some"), "{message}");
    }
}

#[test]
fn a_mark_on_packets_of_no_class_has_no_effect() {
    for input in [" class OTHER\n  set dscp af41\n", " class V\n class class-default\n  set dscp cs1\n"] {
        let found = unmatched(input).map(|(_, router)| router);
        assert_eq!(found.as_deref(), Some("the mark has no effect in this router"), "{input}");
    }
    assert_eq!(unmatched(" class OTHER\n  set dscp ef\n"), None);
}
