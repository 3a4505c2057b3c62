//! Groups that no statement applies: their definitions are read, and have no effect.

use perhop_device::DeviceModel;
use perhop_lint::LineState;

use crate::read::parse;

const PORTS: &str = "set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.1/30
";
const DEFINITIONS: &str = "set groups COS class-of-service schedulers VOICE priority high
set groups COS class-of-service schedulers VOICE transmit-rate percent 30
set groups COS class-of-service scheduler-maps WAN forwarding-class expedited-forwarding scheduler VOICE
set groups COS firewall policer P if-exceeding bandwidth-limit 10m burst-size-limit 625k
set groups COS firewall policer P then discard
set groups COS firewall family inet filter F term LISTED from source-prefix-list OFFICE
set groups COS firewall family inet filter F term LISTED then policer P
set groups COS policy-options prefix-list OFFICE 10.1.0.0/16
";

fn states(model: &DeviceModel, start: &str) -> Vec<(LineState, Option<String>)> {
    let own = model.lines.iter().filter(|line| line.text.starts_with(start));
    own.map(|line| (line.state, line.note.clone())).collect()
}

fn rules(model: &DeviceModel) -> Vec<&'static str> {
    model.diagnostics.iter().map(|one| one.diagnostic.rule.id).collect()
}

#[test]
fn definitions_have_the_state_of_unused_definitions() {
    let model = parse(&[PORTS, DEFINITIONS].concat(), None);
    let note = Some("nothing applies group COS here".to_owned());
    for hierarchy in ["class-of-service", "firewall"] {
        let found = states(&model, &format!("set groups COS {hierarchy}"));
        assert!(found.len() > 2);
        assert!(found.iter().all(|one| *one == (LineState::Modelled, note.clone())), "{found:?}");
    }
    let lists = states(&model, "set groups COS policy-options");
    assert_eq!(lists, [(LineState::Irrelevant, note)]);
    assert_eq!(rules(&model), ["junos-unused"]);
    assert_eq!(model.diagnostics[0].diagnostic.message, "nothing applies group COS");
    assert_eq!(model.router.ports, parse(PORTS, None).router.ports);
}

#[test]
fn the_same_group_in_use_has_no_note() {
    let model = parse(&[PORTS, DEFINITIONS, "set apply-groups COS\n"].concat(), None);
    let found = states(&model, "set groups COS class-of-service");
    assert!(found.iter().all(|(state, note)| (*state, note) == (LineState::Modelled, &None)), "{found:?}");
    assert!(!model.diagnostics.iter().any(|one| one.diagnostic.message.contains("nothing applies")));
}

#[test]
fn attachments_and_wildcards_of_such_a_group_stay_irrelevant() {
    for statement in [
        "class-of-service interfaces ge-0/0/0 scheduler-map WAN",
        "class-of-service schedulers <*> priority high",
        "interfaces ge-0/0/0 unit 0 family inet filter input F",
    ] {
        let text = format!("{PORTS}{DEFINITIONS}set groups COS {statement}\n");
        let found = states(&parse(&text, None), &format!("set groups COS {statement}"));
        let irrelevant = (LineState::Irrelevant, Some("nothing applies group COS here".to_owned()));
        assert_eq!(found, [irrelevant], "{statement}");
    }
}

#[test]
fn faults_of_such_a_group_are_not_reported() {
    let wrong = "set groups COS class-of-service scheduler-maps LAN forwarding-class GOLD scheduler VOICE
set groups COS class-of-service schedulers VOICE shaping-rate 5x
set groups COS class-of-service schedulers VOICE no-such-statement
";
    let model = parse(&[PORTS, DEFINITIONS, wrong].concat(), None);
    assert_eq!(rules(&model), ["junos-unused"]);
    let state = |start: &str| states(&model, &format!("set groups COS class-of-service {start}"))[0].0;
    assert_eq!(state("scheduler-maps LAN"), LineState::NotModelled);
    assert_eq!(state("schedulers VOICE shaping-rate"), LineState::NotModelled);
    assert_eq!(state("schedulers VOICE no-such-statement"), LineState::NotRecognized);
}

#[test]
fn statements_of_an_applied_group_outside_of_its_place_stay_irrelevant() {
    let text = "set groups COS class-of-service schedulers VOICE priority high
set groups COS interfaces <ge-*> mtu 4000
set interfaces apply-groups COS
";
    let model = parse(&[PORTS, text].concat(), None);
    assert_eq!(states(&model, "set groups COS class-of-service")[0].0, LineState::Irrelevant);
    assert!(rules(&model).is_empty(), "{:?}", rules(&model));
}
