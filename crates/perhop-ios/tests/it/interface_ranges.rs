//! Ranges of interfaces: each line of the block applies to every interface.

use perhop_ios::{Configuration, LineState, parse};

/// The names of interfaces with their output policies.
fn outputs(configuration: &Configuration) -> Vec<String> {
    let ports = configuration.interfaces.iter().map(|port| {
        let policy = port.service_policies.output.as_ref().map_or("-", |at| at.value.as_str());
        format!("{} {policy}", port.name)
    });
    ports.collect()
}

fn state(configuration: &Configuration, line: &str) -> LineState {
    configuration.lines.iter().find(|other| other.text.trim() == line).unwrap().state
}

const POLICY: &str = "version 15.2\nhostname access\nclass-map match-any VOICE\n match dscp ef\npolicy-map OUT\n class \
                      VOICE\n  priority 1000\n";

#[test]
fn every_interface_of_a_range_has_its_lines() {
    let text = format!(
        "{POLICY}interface range GigabitEthernet1/0/1 - 3 , gi1/0/7\n service-policy output OUT\n storm-control \
         broadcast level 1\n!\ninterface GigabitEthernet1/0/2\n no service-policy output OUT\n!\ninterface \
         GigabitEthernet1/0/9\n"
    );
    let configuration = parse(&text);
    let expected = ["1/0/1 OUT", "1/0/2 -", "1/0/3 OUT", "1/0/7 OUT", "1/0/9 -"]
        .map(|port| format!("GigabitEthernet{port}"));
    assert_eq!(outputs(&configuration), expected);
    assert_eq!(state(&configuration, "service-policy output OUT"), LineState::Modelled);
    assert_eq!(state(&configuration, "storm-control broadcast level 1"), LineState::NotModelled);
    // The line that is not modeled concerns every interface of the range, and no other interface.
    let line = text.lines().position(|line| line.contains("storm-control")).unwrap() + 1;
    let concerned = configuration.dependencies().used_by(line).to_vec();
    assert_eq!(concerned, ["1/0/1", "1/0/2", "1/0/3", "1/0/7"].map(|port| format!("GigabitEthernet{port}")));
}

#[test]
fn nexus_ranges_have_no_keyword() {
    let text = "!Command: show running-config\nversion 9.3(5)\nfeature lacp\nclass-map type qos match-any C\n  match dscp 46\n\
                policy-map type qos IN\n  class C\n    set qos-group 5\ninterface Ethernet1/1-2, Ethernet1/4\n  \
                service-policy type qos input IN\n  mtu 9216\n";
    let configuration = parse(text);
    let ports: Vec<(&str, bool, u64)> = configuration
        .interfaces
        .iter()
        .map(|port| {
            let mtu = port.mtu.as_ref().map_or(0, |mtu| mtu.value);
            (port.name.as_str(), port.service_policies.input.is_some(), mtu)
        })
        .collect();
    assert_eq!(
        ports,
        [("Ethernet1/1", true, 9216), ("Ethernet1/2", true, 9216), ("Ethernet1/4", true, 9216)]
    );
}

#[test]
fn other_lists_and_blocks_inside_are_not_modeled() {
    for list in ["macro UPLINKS", "gi1/0/5 - 1", "gi1/0/1 - 2/0/4", "gi1/0/1 - 600"] {
        let configuration = parse(&format!("{POLICY}interface range {list}\n service-policy output OUT\n"));
        assert_eq!(configuration.interfaces.iter().count(), 0, "{list}");
        assert_eq!(state(&configuration, "service-policy output OUT"), LineState::NotModelled, "{list}");
    }
    let text = format!(
        "{POLICY}interface range gi0/0/1 - 2\n service instance 10 ethernet\n  encapsulation dot1q 10\n  \
         service-policy output OUT\n"
    );
    let configuration = parse(&text);
    for line in ["service instance 10 ethernet", "service-policy output OUT"] {
        assert_eq!(state(&configuration, line), LineState::NotModelled, "{line}");
    }
}

/// Long ranges with many lines exceed a limit on the work. The lines beyond the limit are not modeled.
#[test]
fn ranges_multiply_the_work_up_to_a_limit() {
    let block = "interface range gi1/0/1 - 500\n".to_owned() + &" service-policy output OUT\n".repeat(1000);
    let configuration = parse(&format!("{POLICY}{block}"));
    let count = |wanted: LineState| {
        let own = configuration.lines.iter().filter(|line| line.text.trim() == "service-policy output OUT");
        own.filter(|line| line.state == wanted).count()
    };
    assert_eq!(count(LineState::Modelled), 200);
    assert_eq!(count(LineState::NotModelled), 800);
    let many = parse(&"interface range gi1/0/1 - 2\n mtu 1500\n".repeat(300));
    let opened = many.lines.iter().filter(|line| line.text.starts_with("interface"));
    assert_eq!(opened.filter(|line| line.state == LineState::Modelled).count(), 256);
}
