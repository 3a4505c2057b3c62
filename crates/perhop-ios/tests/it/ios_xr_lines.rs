//! Lines that only IOS XR has and that change the treatment of packets.

use perhop_ios::{Configuration, LineState, Platform, Profile, convert, parse};

const HEAD: &str = "!! IOS XR Configuration 7.5.2\n";

fn read(text: &str) -> Configuration {
    parse(&format!("{HEAD}{text}"))
}

fn state_of(configuration: &Configuration, line: &str) -> (LineState, String) {
    let found = configuration.lines.iter().find(|other| other.text.trim() == line);
    let found = found.unwrap_or_else(|| panic!("no line {line}"));
    (found.state, found.note.clone().unwrap_or_default())
}

#[test]
fn lines_of_an_interface_that_change_packets_are_not_irrelevant() {
    for line in [
        "bundle maximum-active links 2",
        "ethernet-services access-group L ingress",
        "flow-control bidirectional",
        "ipv4 bgp policy propagation input qos-group destination",
        "ipv6 mtu 1400",
        "loopback internal",
        "macsec psk-keychain K",
        "apply-group G",
    ] {
        let configuration = read(&format!("interface TenGigE0/0/0/0\n {line}\n!\n"));
        let (state, note) = state_of(&configuration, line);
        assert_eq!(state, LineState::NotModelled, "{line}: {note}");
        assert!(!note.is_empty());
    }
    let global = "hw-module all qos-mode ingress-queue-enable\ncontroller Optics0/0/0/1\n shutdown\n!\n";
    let configuration = read(global);
    for line in ["hw-module all qos-mode ingress-queue-enable", "shutdown"] {
        assert_eq!(state_of(&configuration, line).0, LineState::NotModelled, "{line}");
    }
}

#[test]
fn a_policy_in_the_block_of_l2transport_is_attached() {
    let text = "policy-map P\n class class-default\n  police rate 10 mbps\n  !\n !\n end-policy-map\n!\ninterface \
                TenGigE0/0/0/0\n l2transport\n  service-policy input P\n  l2protocol cpsv tunnel\n !\n!\n";
    let mut configuration = read(text);
    assert_eq!(state_of(&configuration, "l2transport").0, LineState::NotModelled);
    assert_eq!(state_of(&configuration, "service-policy input P").0, LineState::Modelled);
    assert_eq!(state_of(&configuration, "l2protocol cpsv tunnel").0, LineState::Irrelevant);
    let router = convert(&mut configuration, &Platform::for_profile(Profile::Asr9000));
    assert!(router.ports[0].input_policy().is_some());
}

#[test]
fn a_third_output_policy_is_refused() {
    let policies = "service-policy output P\n service-policy output Q\n service-policy output R\n";
    let configuration = read(&format!("interface TenGigE0/0/0/0\n {policies}!\n"));
    assert!(
        configuration.diagnostics.iter().any(|found| found.rule.id == "second-policy" && found.line == 5)
    );
    let attached = &configuration.interfaces.iter().next().unwrap().service_policies;
    assert_eq!(attached.second_output.as_ref().unwrap().value, "Q");
}

#[test]
fn lines_of_a_group_are_not_modelled() {
    let text = "group G\n interface 'TenGigE.*'\n  service-policy output P\n !\nend-group\napply-group G\n\
                hostname a\n";
    let configuration = read(text);
    for line in ["group G", "service-policy output P", "apply-group G"] {
        assert_eq!(state_of(&configuration, line).0, LineState::NotModelled, "{line}");
    }
    assert_eq!(configuration.hostname.as_deref(), Some("a"));
}

#[test]
fn entries_have_the_words_of_ios_xr() {
    use LineState::{Modelled, NotModelled};
    for (entry, expected) in [
        ("10 permit ipv4 any any capture", Modelled),
        ("10 permit tcp any any eq bgp counter C", Modelled),
        ("10 permit tcp any any eq ssh", Modelled),
        ("10 permit tcp any range 600 ldp any", Modelled),
        ("10 permit ipv4 any any nexthop1 ipv4 192.0.2.1", NotModelled),
        ("10 permit ipv4 any any set qos-group 5", NotModelled),
        ("10 permit udp any any police 10 mbps", NotModelled),
        ("10 permit tcp net-group N any", Modelled),
        ("10 remark counter", LineState::Irrelevant),
    ] {
        let text = format!(
            "object-group network ipv4 N\n 10.0.0.0/8\n!\nobject-group network ipv4 O\n host 192.0.2.1\n!\n\
             ipv4 access-list A\n {entry}\n!\n"
        );
        let configuration = read(&text);
        assert_eq!(state_of(&configuration, entry).0, expected, "{entry}");
        let entries = &configuration.access_lists.get("A").unwrap().entries;
        assert_eq!(entries.len(), usize::from(expected != LineState::Irrelevant), "{entry}");
        let members = |name| configuration.object_groups.get(name).unwrap().members.len();
        assert_eq!((members("N"), members("O")), (1, 1));
    }
    let icmp = "ipv6 access-list V\n 10 permit icmpv6 any any\n!\n";
    assert_eq!(state_of(&read(icmp), "10 permit icmpv6 any any").0, Modelled);
}

fn class(lines: &str) -> Configuration {
    read(&format!("policy-map P\n class class-default\n  {lines}\n !\n end-policy-map\n!\n"))
}

#[test]
fn a_range_from_high_to_low_is_no_value() {
    let line = "match dscp 12-10,ef";
    let configuration = read(&format!("class-map match-any A\n {line}\n end-class-map\n"));
    assert_eq!(state_of(&configuration, line).0, LineState::NotRecognized);
}

#[test]
fn wred_has_one_field_and_one_unit_and_is_on_by_its_own_lines_only() {
    let detect = |lines: &str| {
        class(lines).policy_maps.get("P").unwrap().classes[0]
            .random_detect
            .as_ref()
            .map(|at| at.value.clone())
    };
    assert!(detect("random-detect exponential-weighting-constant 5").is_none());
    let by_two = "random-detect precedence 3 10 ms 20 ms";
    let lines = format!("random-detect dscp af11 10 ms 20 ms\n  {by_two}");
    assert_eq!(state_of(&class(&lines), by_two).0, LineState::NotModelled);
    assert_eq!(detect(&lines).unwrap().basis, perhop_device::Basis::Dscp);
    // The thresholds for all values are in bytes. The later line has a time and does not change their unit.
    let mixed = "random-detect 10 packets 100 packets\n  random-detect dscp af11 10 ms 20 ms";
    assert!(class(mixed).diagnostics.iter().any(|found| found.rule.id == "wred-units-mixed"));
    let kept = detect(mixed).unwrap();
    assert_eq!((kept.unit, kept.dscps.len()), (perhop_device::intent::ThresholdUnit::Bytes, 0));
    // A later line of the same kind replaces the first one.
    let again = class("random-detect 10 packets 100 packets\n  random-detect 10 ms 20 ms");
    assert!(again.diagnostics.iter().all(|found| found.rule.id != "wred-units-mixed"));
}

#[test]
fn colors_at_a_policer_that_counts_packets_are_not_modelled() {
    let configuration = class("police rate 1000 pps\n   conform-color A\n  !");
    assert_eq!(state_of(&configuration, "conform-color A").0, LineState::NotModelled);
}

#[test]
fn a_refusal_names_the_sum_of_the_platform() {
    let text = "class-map match-any A\n match qos-group 1\n end-class-map\n!\npolicy-map P\n class A\n  bandwidth 2 \
                gbps\n !\n end-policy-map\n!\ninterface GigabitEthernet0/0/0/0\n service-policy output P\n!\n";
    let mut configuration = read(text);
    convert(&mut configuration, &Platform::for_profile(Profile::Ncs5500));
    let found =
        configuration.diagnostics.iter().find(|found| found.rule.id == "promised-above-rate").unwrap();
    let all = format!("{found:?}");
    assert!(all.contains("exceeds 100 percent"), "{all}");
}

/// The stored lengths are in microseconds, so the numbers of the line are not those of the model.
#[test]
fn crossed_thresholds_are_exchanged_as_they_are_written() {
    let fixed = |line: &str| {
        let text = format!("policy-map P\n class class-default\n  {line}\n !\n end-policy-map\n!\n");
        let configuration = read(&text);
        let crossed =
            configuration.diagnostics.iter().find(|found| found.rule.id == "wred-thresholds-crossed");
        let crossed = crossed.unwrap_or_else(|| panic!("{line}: {:?}", configuration.diagnostics));
        (crossed.message.clone(), crossed.fix.as_ref().map(|fix| fix.apply(line)))
    };
    let (message, line) = fixed("random-detect 10 ms 5 ms");
    assert_eq!(message, "the minimum threshold, 10 ms, is above the maximum threshold, 5 ms");
    assert_eq!(line.as_deref(), Some("random-detect 5 ms 10 ms"));
    assert_eq!(fixed("random-detect 10 ms 5 us").1, None, "the units would stay");
    assert_eq!(fixed("random-detect 10 ms 5 ms probability percentage 10").1, None, "10 is a third value");
}
