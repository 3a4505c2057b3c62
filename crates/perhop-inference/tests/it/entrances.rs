//! Tests of rates by class, for classes that depend on the entrance of packets and on the marks of an input
//! policy.

use perhop_front_ends::FRONT_ENDS;
use perhop_inference::{ClassLoad, Failure, Given, Inferred, Request, infer};
use perhop_network::Devices;

use crate::work::request;

/// Returns a router with an output policy for `criteria` and two entrances. An input policy at one of them
/// sets group 5.
fn router(criteria: &str) -> String {
    format!(
        "hostname edge\nclass-map CHOSEN\n match {criteria}\n\
         policy-map IN\n class class-default\n  set qos-group 5\n\
         policy-map OUT\n class CHOSEN\n  bandwidth percent 20\n\
         interface Serial0/0\n bandwidth 1544\n ip address 10.255.0.1 255.255.255.252\n service-policy output OUT\n\
         interface FastEthernet1/0\n ip address 10.1.0.1 255.255.255.0\n\
         interface FastEthernet2/0\n ip address 10.2.0.1 255.255.255.0\n service-policy input IN\n"
    )
}

/// Infers the scenario for given rates of the classes `names`.
pub(crate) fn with_rates(text: &str, names: &[&str]) -> Result<Inferred, Failure> {
    let load = |name: &&str| ClassLoad {
        name: (*name).to_owned(),
        rate: Some(100e3),
        packet_bytes: None,
        kind: None,
        connections: None,
    };
    let given = Some(Given::Classes(names.iter().map(load).collect()));
    infer(&Devices::new(FRONT_ENDS), &Request { given, ..request(text) }, None)
}

#[test]
fn rates_are_given_to_classes_that_depend_on_the_entrance() {
    for (criteria, entrance) in
        [("qos-group 5", "FastEthernet2/0"), ("input-interface FastEthernet2/0", "FastEthernet2/0")]
    {
        let found = with_rates(&router(criteria), &["CHOSEN"]).unwrap();
        assert_eq!(found.entering.as_deref(), Some(entrance), "{criteria}");
        assert_eq!(found.offered[0].queue.as_deref(), Some("CHOSEN"), "{criteria}");
    }
}

#[test]
fn a_class_that_no_entrance_reaches_is_refused_with_its_line() {
    match with_rates(&router("qos-group 6"), &["class-default", "CHOSEN"]).unwrap_err() {
        Failure::Invalid { message, row, .. } => {
            assert!(
                message.starts_with("class `CHOSEN`: no packet that perhop tried reaches it"),
                "{message}"
            );
            assert_eq!(row, Some(1));
        }
        other => panic!("{other:?}"),
    }
}

/// Returns a router whose output class matches a group that the input policy sets by `criterion`.
fn marked(criterion: &str, entrance: &str) -> String {
    format!(
        "hostname edge\nclass-map MARKED\n match {criterion}\nclass-map GROUP\n match qos-group 4\n\
         policy-map IN\n class MARKED\n  set qos-group 4\n\
         policy-map OUT\n class GROUP\n  bandwidth percent 20\n\
         interface Serial0/0\n bandwidth 1544\n ip address 10.255.0.1 255.255.255.252\n service-policy output OUT\n\
         {entrance} ip address 10.2.0.1 255.255.255.0\n service-policy input IN\n"
    )
}

#[test]
fn packets_carry_the_marks_that_classes_match() {
    let plain = "interface FastEthernet2/0\n";
    let tagged = "interface FastEthernet2/0.7\n encapsulation dot1Q 7\n";
    for (criterion, entrance, assumed) in [
        (
            "mpls experimental topmost 5",
            plain,
            "packets enter with an MPLS label whose EXP is their precedence",
        ),
        ("cos 3", plain, "packets enter with a VLAN tag whose CoS is their precedence"),
        ("cos 3", tagged, "packets enter with a VLAN tag whose CoS is their precedence"),
    ] {
        let found = with_rates(&marked(criterion, entrance), &["GROUP"]).unwrap();
        assert_eq!(found.offered[0].queue.as_deref(), Some("GROUP"), "{criterion}");
        assert!(found.assumed.iter().any(|assumption| assumption == assumed), "{:?}", found.assumed);
    }
    let found = with_rates(&marked("dscp ef", plain), &["GROUP"]).unwrap();
    assert!(!found.assumed.iter().any(|assumption| assumption.contains("precedence")), "{:?}", found.assumed);
}

#[test]
fn a_mark_that_the_entrance_does_not_carry_reaches_no_class() {
    // The entrance has a tag, and the leaving line a frame relay header, so no link of the scenario has a
    // label.
    let text = router("mpls experimental topmost 5")
        .replace("interface FastEthernet1/0\n", "interface FastEthernet1/0.7\n encapsulation dot1Q 7\n")
        .replace("interface Serial0/0\n", "interface Serial0/0\n encapsulation frame-relay\n");
    let found = infer(&Devices::new(FRONT_ENDS), &request(&text), None).unwrap();
    let of_class = found.missing.iter().find(|line| line.starts_with("class `CHOSEN`"));
    assert!(of_class.is_some_and(|line| line.contains("the class matches the EXP of a label")), "{found:?}");
}

/// The router imposes the label. The EXP of the label is the precedence of the packet, or the value that the
/// input policy sets.
#[test]
fn classes_of_an_output_match_the_label_that_the_router_imposes() {
    let plain = router("mpls experimental topmost 5");
    let set = router("mpls experimental topmost 3").replace("qos-group 5", "mpls experimental imposition 3");
    for text in [plain, set] {
        let found = with_rates(&text, &["CHOSEN"]).unwrap();
        assert_eq!(found.offered[0].queue.as_deref(), Some("CHOSEN"), "{text}");
        let labeled = found.assumed.iter().any(|line| line.starts_with("packets leave with an MPLS label"));
        assert!(labeled, "{:?}", found.assumed);
        let links = found.scenario["links"].as_array().unwrap();
        let far = links.iter().find(|link| link["between"][1] == "far-side").unwrap();
        assert_eq!(far["headers"][0], "mpls");
    }
}

/// The input policy of FastEthernet2/0 sets the groups that two classes match. A third class matches the
/// packets from FastEthernet1/0. The classes in the file determine the entrance.
#[test]
fn the_classes_of_the_file_choose_the_entrance() {
    let text = "hostname edge\nclass-map GROUP\n match qos-group 5\nclass-map SECOND\n match qos-group 6\n\
         class-map HERE\n match input-interface FastEthernet1/0\nclass-map V\n match dscp ef\n\
         policy-map IN\n class V\n  set qos-group 6\n class class-default\n  set qos-group 5\n\
         policy-map OUT\n class GROUP\n  bandwidth percent 20\n class SECOND\n  bandwidth percent 20\n \
         class HERE\n  bandwidth percent 20\n\
         interface Serial0/0\n bandwidth 1544\n ip address 10.255.0.1 255.255.255.252\n service-policy output OUT\n\
         interface FastEthernet1/0\n ip address 10.1.0.1 255.255.255.0\n\
         interface FastEthernet2/0\n ip address 10.2.0.1 255.255.255.0\n service-policy input IN\n";
    for (names, entrance) in [
        (&["HERE"][..], "FastEthernet1/0"),
        (&["GROUP"], "FastEthernet2/0"),
        (&["GROUP", "SECOND"], "FastEthernet2/0"),
    ] {
        let found = with_rates(text, names).unwrap();
        assert_eq!(found.entering.as_deref(), Some(entrance), "{names:?}");
    }
    match with_rates(text, &["GROUP", "HERE"]).unwrap_err() {
        Failure::Invalid { message, help, .. } => {
            assert!(message.contains("no packet that perhop tried reaches it"), "{message}");
            assert_eq!(help, "leave the class out of the file: in a run all packets enter at one interface");
        }
        other => panic!("{other:?}"),
    }
}

/// The output has one queue, so the classes of an input policy that marks packets share this queue with all
/// other packets.
#[test]
fn classes_of_an_input_policy_share_an_output_without_classes() {
    let text = "hostname edge\nclass-map CALLS\n match dscp ef\n\
                policy-map MARK\n class CALLS\n  set precedence 6\n\
                interface Serial0/0\n bandwidth 256\n ip address 10.255.0.1 255.255.255.252\n\
                interface FastEthernet1/0\n ip address 10.1.0.1 255.255.255.0\n service-policy input MARK\n";
    let found = infer(&Devices::new(FRONT_ENDS), &request(text), None).unwrap();
    assert_eq!(found.leaving.as_deref(), Some("Serial0/0"));
    assert_eq!(found.entering.as_deref(), Some("FastEthernet1/0"));
    let classes: Vec<(&str, Option<&str>)> =
        found.offered.iter().map(|offer| (offer.class.as_str(), offer.queue.as_deref())).collect();
    assert_eq!(classes, [("CALLS", Some("fair-queue")), ("fair-queue", Some("fair-queue"))]);
    assert!(found.assumed.iter().any(|remark| remark.contains("has one queue")), "{:?}", found.assumed);
    // If the output policy has classes, the scenario is inferred for these classes, without the input policy
    // of another interface.
    let text = text.replace(
        "interface Serial0/0\n",
        "policy-map OUT\n class CALLS\n  priority 64\ninterface Serial0/0\n service-policy output OUT\n",
    );
    let found = infer(&Devices::new(FRONT_ENDS), &request(&text), None).unwrap();
    assert_eq!(found.entering, None);
}

#[test]
fn no_packet_enters_by_a_tunnel_over_the_interface_by_which_it_leaves() {
    let text = |lan: &str| {
        format!(
            "hostname hub\npolicy-map OUT\n class class-default\n  shape average 2000000\n{lan}\
             interface Tunnel1\n bandwidth 9000000\n ip address 10.2.1.1 255.255.255.252\n \
             tunnel source GigabitEthernet0/0\n tunnel destination 198.51.100.1\n\
             interface Tunnel2\n ip address 10.2.2.1 255.255.255.252\n tunnel source 192.0.2.1\n \
             tunnel destination 198.51.100.2\n service-policy output OUT\n\
             interface GigabitEthernet0/0\n ip address 192.0.2.1 255.255.255.252\n"
        )
    };
    let lan = "interface FastEthernet1/0\n ip address 10.1.0.1 255.255.255.0\n";
    for (lan, entrance) in [(lan, Some("FastEthernet1/0")), ("", None)] {
        // The entrance is neither the port below a tunnel nor another tunnel over that port.
        for leaving in ["GigabitEthernet0/0", "Tunnel2"] {
            let request = Request { interface: Some(leaving.into()), ..request(&text(lan)) };
            let found = infer(&Devices::new(FRONT_ENDS), &request, None).unwrap();
            if leaving == "Tunnel2" || entrance.is_none() {
                assert_eq!(found.entering.as_deref(), entrance, "{leaving} {lan}");
            }
            assert_ne!(found.entering.as_deref(), Some("Tunnel1"), "{leaving}");
        }
    }
}
