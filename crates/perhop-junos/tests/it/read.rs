//! Reading of configurations: states of lines, both notations, families.

use std::fmt::Write;

use perhop_device::{DeviceModel, FrontEnd, ParseOptions};
use perhop_junos::Junos;
use perhop_lint::LineState;

pub(crate) const MX: &str = include_str!("../configurations/mx.conf");

pub(crate) fn parse(text: &str, platform: Option<&str>) -> DeviceModel {
    let options = ParseOptions { platform: platform.map(str::to_owned), ..ParseOptions::default() };
    Junos.parse(text, &options).unwrap()
}

/// Rules about valid statements, which other tests ignore.
const OF_INTENTION: [&str; 6] = [
    "junos-class-without-scheduler",
    "junos-rates-crossed",
    "junos-filter-discards-rest",
    "junos-class-not-rewritten",
    "junos-drop-profile-unreached",
    "junos-unused",
];

/// Returns the findings about valid statements, as rule and line.
pub(crate) fn intentions(model: &DeviceModel) -> Vec<(&'static str, usize)> {
    let found = model.diagnostics.iter().map(|one| (one.diagnostic.rule.id, one.diagnostic.line));
    found.filter(|(rule, _)| OF_INTENTION.contains(rule) || *rule == "priority-unbounded").collect()
}

/// Returns the lines that are not modeled or not valid, and the findings, except those about valid
/// statements.
pub(crate) fn show(model: &DeviceModel) -> String {
    let valid: Vec<usize> = intentions(model).into_iter().map(|(_, line)| line).collect();
    let is_open = |state: LineState, line: usize| {
        state.differs() && !(state == LineState::Suspicious && valid.contains(&line))
    };
    let lines = model.lines.iter().filter(|line| is_open(line.state, line.number));
    let lines = lines.map(|line| format!("{} {:?} {} {:?}\n", line.number, line.state, line.text, line.note));
    let others = model.diagnostics.iter().filter(|one| {
        let rule = one.diagnostic.rule.id;
        !OF_INTENTION.contains(&rule) && rule != "priority-unbounded"
    });
    lines.chain(others.map(|one| format!("{}\n", one.diagnostic))).collect()
}

#[test]
fn every_statement_of_an_edge_router_is_modeled() {
    let model = parse(MX, None);
    assert_eq!(model.platform.name, "junos-mx");
    assert_eq!(show(&model), "");
    assert!(model.lines.iter().filter(|line| line.state == LineState::Modelled).count() > 90);
    let names: Vec<&str> = model.router.ports.iter().map(|port| port.name.as_str()).collect();
    assert_eq!(names, ["ge-0/0/0.0", "ge-0/0/1.0"]);
    assert_eq!(model.router.hostname.as_deref(), Some("edge-mx"));
}

/// Returns the `set` lines of a text in braces with one statement per line.
fn set_lines(text: &str) -> String {
    let (mut path, mut lines) = (Vec::<String>::new(), String::new());
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(head) = line.strip_suffix('{') {
            path.push(head.trim().to_owned());
        } else if line == "}" {
            path.pop();
        } else if let Some(leaf) = line.strip_suffix(';') {
            writeln!(lines, "set {} {leaf}", path.join(" ")).unwrap();
        }
    }
    lines
}

#[test]
fn braces_and_set_lines_are_the_same_router() {
    let (braces, set) = (parse(MX, None), parse(&set_lines(MX), None));
    assert_eq!(show(&set), "");
    assert_eq!(policies(&braces), policies(&set));
}

/// Returns the policies of the ports.
fn policies(model: &DeviceModel) -> String {
    let described = |port: &perhop_device::Port| format!("{} {:?} {:?}", port.name, port.input, port.output);
    model.router.ports.iter().map(described).collect()
}

#[test]
fn a_command_sets_several_statements_of_a_level() {
    // Statements of one level that follow each other become one command.
    let mut joined = String::new();
    let mut last: Option<Vec<String>> = None;
    for line in set_lines(MX).lines() {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let level = words.iter().position(|word| ["then", "from", "if-exceeding"].contains(&word.as_str()));
        let scheduler = words.iter().position(|word| word == "schedulers").map(|place| place + 1);
        let level = level.or(scheduler).map(|place| words[..=place].to_vec());
        match (&level, &last) {
            (Some(now), Some(before)) if now == before => {
                write!(joined, " {}", words[now.len()..].join(" ")).unwrap();
            }
            _ => write!(joined, "\n{line}").unwrap(),
        }
        last = level;
    }
    assert!(joined.lines().count() < set_lines(MX).lines().count() - 10, "{joined}");
    let model = parse(&joined, None);
    assert_eq!(show(&model), "");
    assert_eq!(policies(&model), policies(&parse(MX, None)));
    let policer = "set firewall policer p if-exceeding bandwidth-limit 1m burst-size-limit 15k\n\
                   set firewall policer p then discard\n\
                   set interfaces ge-0/0/0 mtu 1514 unit 0 vlan-id 10 family inet address 10.0.0.1/24\n\
                   set class-of-service drop-profiles d interpolate fill-level [ 10 90 ] drop-probability [ 0 100 ]\n\
                   set class-of-service interfaces ge-0/0/0 shaping-rate 50m unit 0 classifiers dscp default\n\
                   set firewall family inet filter f term t from protocol [ tcp udp ] port ssh then accept\n";
    let model = parse(policer, Some("junos-mx"));
    let states: Vec<LineState> = model.lines.iter().map(|line| line.state).collect();
    let mut expected = vec![LineState::Modelled; 6];
    // `then` is not a statement of the level `from`.
    expected[5] = LineState::NotRecognized;
    assert_eq!(states, expected, "{}", show(&model));
    assert_eq!(model.router.ports[0].bandwidth.unwrap().as_bits_per_second(), 50_000_000);
}

#[test]
fn inactive_and_deleted_statements_have_no_effect() {
    let text = "set interfaces ge-0/0/0 unit 0 family inet\n\
                set class-of-service interfaces ge-0/0/0 shaping-rate 50m\n\
                deactivate class-of-service interfaces ge-0/0/0 shaping-rate\n";
    let model = parse(text, Some("junos-mx"));
    assert_eq!(model.router.ports[0].bandwidth.unwrap().as_bits_per_second(), 1_000_000_000);
    assert_eq!(model.lines[1].note.as_deref(), Some("inactive"));
    let deleted = parse(&text.replace("deactivate", "delete"), Some("junos-mx"));
    assert_eq!(deleted.router.ports, model.router.ports);
    let active = parse(&text.replace("deactivate", "activate"), Some("junos-mx"));
    assert_eq!(active.router.ports[0].bandwidth.unwrap().as_bits_per_second(), 50_000_000);
}

#[test]
fn groups_and_ranges_are_inherited_and_own_statements_win() {
    let text = "set groups slow class-of-service interfaces <ge-*> shaping-rate 50m\n\
                set groups slow class-of-service interfaces <ge-*> unknown-word 1\n\
                set apply-groups slow\n\
                set interfaces interface-range all member ge-0/0/[0-1]\n\
                set interfaces interface-range all mtu 1514\n\
                set interfaces ge-0/0/0 unit 0 family inet\n\
                set class-of-service interfaces ge-0/0/0 shaping-rate 70m\n\
                set class-of-service interfaces ge-0/0/1 unit 0 forwarding-class best-effort\n";
    let model = parse(text, Some("junos-mx"));
    let rates = model.router.ports.iter().map(|port| (port.name.as_str(), port.bandwidth.unwrap()));
    let rates: Vec<(&str, u64)> = rates.map(|(name, rate)| (name, rate.as_bits_per_second())).collect();
    assert_eq!(rates, [("ge-0/0/0.0", 70_000_000), ("ge-0/0/1", 50_000_000)]);
    assert_eq!(model.lines[0].state, LineState::Modelled);
    assert_eq!(model.lines[1].state, LineState::NotRecognized);
    assert_eq!(model.router.ports[0].wire.mtu.unwrap().as_bytes(), 1500);
}

#[test]
fn unknown_statements_are_not_recognized_only_where_they_count() {
    let text = "set class-of-service schedulers a frobnicate 3\nset protocols bgp frobnicate 3\n\
                set interfaces ge-0/0/0 unit 0 frobnicate\nset firewall family inet filter f term t from frobnicate 3\n\
                set class-of-service traffic-control-profiles t shaping-rate-excess-low 5m\n";
    let states: Vec<LineState> = parse(text, Some("junos-mx")).lines.iter().map(|line| line.state).collect();
    let (open, lacking) = (LineState::NotRecognized, LineState::NotModelled);
    assert_eq!(states, [open, LineState::Irrelevant, open, open, lacking]);
}

#[test]
fn the_family_is_recognized_or_asked_for() {
    let recognized = |text: &str| {
        let model = parse(text, None);
        let refusal = model.refusal().map(|found| format!("{} {}", found.message, found.router));
        (model.platform.name.clone(), model.platform.supported, refusal.unwrap_or_default())
    };
    let cos = "set class-of-service interfaces ge-0/0/0 shaping-rate 50m\n";
    let mx = "set interfaces xe-0/0/0 unit 0\nset chassis network-services ip\n";
    assert_eq!(recognized(&format!("{cos}{mx}")), ("junos-mx".into(), true, String::new()));
    assert_eq!(
        recognized(&format!("{cos}set security zones security-zone a\n")),
        ("junos-srx".into(), true, String::new())
    );
    let (_, supported, refusal) = recognized(cos);
    assert!(!supported && refusal.contains("does not show the family"), "{refusal}");
    assert!(refusal.contains("--platform"), "{refusal}");
    // PTX and ACX7000 have network services, too.
    for other in ["set system host-name acx5448-1\n", "set version 23.4R2-EVO\n"] {
        assert!(!recognized(&format!("{mx}{other}")).1, "{other}");
    }
    let acx = "set class-of-service schedulers a priority low-latency\n";
    assert_eq!(recognized(acx), ("junos-acx".into(), true, String::new()));
    let (_, _, refusal) = recognized(&format!("{cos}{{% for x in y %}}\n"));
    assert!(refusal.contains("Jinja"), "{refusal}");
}

#[test]
fn pieces_between_prompts_are_one_device_and_others_are_named() {
    let text = "lab@r1> show configuration class-of-service\nschedulers {\n    a {\n        priority high;\n    }\n}\n\
                lab@r1> show configuration interfaces | display set\nset interfaces ge-0/0/0 unit 0 family inet\n\
                lab@r2> show configuration interfaces | display set\nset interfaces ge-0/0/5 unit 0 family inet\n";
    let model = parse(text, Some("junos-mx"));
    assert_eq!(model.router.ports.len(), 1);
    assert_eq!(model.lines[3].state, LineState::Modelled);
    assert_eq!(model.lines[9].state, LineState::NotModelled);
    assert!(show(&model).contains("r2"));
    let labels = "AN3:\nshow configuration | display set | no-more\nset interfaces ge-0/0/0 unit 0 family inet\n\
                  MA1:\nset interfaces ge-0/0/1 unit 0 family inet\n";
    let model = parse(labels, Some("junos-mx"));
    assert_eq!(model.router.ports.len(), 1);
    assert_eq!(model.lines[4].state, LineState::NotModelled);
    let ruled = "set interfaces ge-0/0/0 unit 0 family inet\n    ---\n\nset class-of-service interfaces \
                 ge-0/0/0 shaping-rate 10m\n";
    let model = parse(ruled, Some("junos-mx"));
    assert_eq!(model.router.ports[0].bandwidth.unwrap().as_bits_per_second(), 10_000_000);
}

/// A session prints a single statement with its name, but a block without its name.
#[test]
fn groups_of_a_session_are_applied() {
    let text = "u@r1> show configuration groups g\ninterfaces {\n    ge-0/0/0 {\n        unit 0 {\n            family inet;\n\
                        }\n    }\n}\nclass-of-service {\n    interfaces {\n        ge-0/0/0 {\n            shaping-rate \
                10m;\n        }\n    }\n}\nu@r1> show configuration apply-groups\napply-groups [ g ];\n";
    let model = parse(text, Some("junos-mx"));
    assert_eq!(show(&model), "");
    assert_eq!(model.router.ports[0].bandwidth.unwrap().as_bits_per_second(), 10_000_000);
}

#[test]
fn a_filter_before_a_rewrite_rule_passes_accepted_packets_on() {
    let text = "set interfaces ge-0/0/0 unit 0 family inet filter output f\n\
                set firewall family inet filter f term a from dscp ef\n\
                set firewall family inet filter f term a then forwarding-class expedited-forwarding\n\
                set class-of-service rewrite-rules dscp r import default\n\
                set class-of-service interfaces ge-0/0/0 unit 0 rewrite-rules dscp r\n";
    let model = parse(text, Some("junos-mx"));
    let names = model.router.ports[0].output.conditioners.iter().map(|stage| stage.name.clone().unwrap());
    let names: Vec<String> = names.collect();
    assert_eq!(names[..2], ["f a", "f implicit discard"]);
    assert!(names.contains(&"rewrite dscp expedited-forwarding low".to_owned()), "{names:?}");
}

#[test]
fn built_in_rules_apply_to_renamed_classes_on_their_queues() {
    let text = "set class-of-service forwarding-classes queue 0 be\n\
                set class-of-service forwarding-classes queue 1 voice\n\
                set class-of-service interfaces ge-0/0/0 unit 0 classifiers dscp default\n\
                set class-of-service interfaces ge-0/0/0 unit 0 rewrite-rules dscp default\n\
                set interfaces ge-0/0/0 unit 0 family inet\n";
    let model = parse(text, Some("junos-mx"));
    let port = &model.router.ports[0];
    let names = |stages: &[perhop_qos::conditioner::ConditionerConfig]| -> Vec<String> {
        stages.iter().filter_map(|stage| stage.name.clone()).collect()
    };
    let found = [names(&port.input.conditioners), names(&port.output.conditioners)];
    assert!(found[0].contains(&"dscp voice low".to_owned()), "{found:?}");
    assert!(found[1].contains(&"rewrite dscp voice low".to_owned()), "{found:?}");
}

#[test]
fn statements_on_one_line_show_the_language() {
    let text = "interfaces { ge-0/0/0 { unit 0 { family inet; } } }\nclass-of-service { interfaces { ge-0/0/0 { } } }\n";
    assert!(Junos.recognize(text).is_some());
}

/// The topic `apply-groups`: the first group wins; "Establishing Regional Configurations": an inner level
/// precedes its enclosing levels.
#[test]
fn the_first_and_the_inner_group_win() {
    let rate = |apply: &str| {
        let text = format!(
            "set groups a class-of-service interfaces <*> shaping-rate 10m\n\
             set groups b class-of-service interfaces <*> shaping-rate 20m\n\
             {apply}set interfaces ge-0/0/0 unit 0 family inet\n\
             set class-of-service interfaces ge-0/0/0 unit 0 forwarding-class best-effort\n"
        );
        let model = parse(&text, Some("junos-mx"));
        model.router.ports[0].bandwidth.unwrap().as_bits_per_second() / 1_000_000
    };
    assert_eq!(rate("set apply-groups a\nset apply-groups b\n"), 10);
    assert_eq!(rate("set apply-groups b\nset apply-groups a\n"), 20);
    assert_eq!(rate("set apply-groups a\nset class-of-service interfaces apply-groups b\n"), 20);
}

fn input_conditions(from: &str) -> String {
    let text = format!(
        "set interfaces ge-0/0/0 unit 0 family inet filter input f\n\
         set policy-options prefix-list own 10.1.0.0/16\n\
         {from}set firewall family inet filter f term a then discard\n"
    );
    let model = parse(&text, Some("junos-mx"));
    let term = model.router.ports[0].input.conditioners.iter().find(|one| one.name.as_deref() == Some("f a"));
    format!("{:?}", term.unwrap().matches)
}

/// Junos Policy Framework Configuration Guide, "Specifying Address Filter Match Conditions": each list ends
/// with an implicit `0/0 except`.
#[test]
fn addresses_and_prefix_lists_are_one_list() {
    let except = "set firewall family inet filter f term a from source-prefix-list own except\n";
    let alone = input_conditions(except);
    assert!(alone.contains("not: Some") && !alone.contains("10.1.0.0"), "{alone}");
    let all = "set firewall family inet filter f term a from source-address 0.0.0.0/0\n";
    assert!(input_conditions(&format!("{all}{except}")).contains("10.1.0.0"));
    let other = "set firewall family inet filter f term a from source-address 10.2.0.0/16\n\
                 set firewall family inet filter f term a from source-prefix-list own\n";
    let both = input_conditions(other);
    assert!(both.contains("10.1.0.0") && both.contains("10.2.0.0") && !both.contains("all: Some"), "{both}");
}

/// The topic `burst-size-limit-edit-firewall-policer`: packets within the rate get the loss priority low.
#[test]
fn conforming_packets_get_the_loss_priority_low() {
    let text = "set firewall policer p if-exceeding bandwidth-limit 1m\n\
                set firewall policer p if-exceeding burst-size-limit 15k\n\
                set firewall policer p then forwarding-class best-effort\n\
                set interfaces ge-0/0/0 unit 0 family inet policer input p\n";
    let model = parse(text, Some("junos-mx"));
    let policer = model.router.ports[0].input.conditioners.iter().find(|one| one.meter.is_some()).unwrap();
    let colors = |actions: &[perhop_qos::action::Action]| {
        actions.iter().filter(|one| matches!(one, perhop_qos::action::Action::Color(_))).count()
    };
    assert_eq!((colors(&policer.green), colors(&policer.red)), (1, 0));
}

#[test]
fn statements_on_one_line_are_recognized() {
    let text = "class-of-service {\n    schedulers { a { transmit-rate percent 40; } }\n}\n";
    assert!(Junos.recognize(text).is_some());
}

/// A filter that writes a codepoint does not change the loss priority, which is not a part of the packet in
/// Junos.
#[test]
fn an_af_codepoint_of_a_filter_keeps_the_loss_priority() {
    let text = "set interfaces ge-0/0/0 unit 0 family inet filter input f\n\
                set firewall family inet filter f term a from protocol udp\n\
                set firewall family inet filter f term a then dscp af12\n";
    let actions = |text: &str| -> Vec<String> {
        let model = parse(text, Some("junos-mx"));
        assert_eq!(show(&model), "");
        let input = model.router.ports[0].input.conditioners.clone();
        let of_term = input.iter().filter(|one| one.name.as_deref().unwrap_or_default().starts_with("f a"));
        of_term.map(|one| format!("{:?}", one.actions)).collect()
    };
    let found = actions(text);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|one| one.contains("Mark") && one.contains("Color")), "{found:?}");
    assert_eq!(actions(&text.replace("af12", "ef")).len(), 1);
}
