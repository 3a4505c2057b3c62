//! Policies inside classes. A class with a nested policy (child) keeps its queue, guarantee, priority,
//! policer and shaper with every child. The marks and policers of the child apply to the packets that matched
//! the child's class on arrival.

use perhop_device::Port;
use perhop_device::profile::QueueSelection;
use perhop_ios::{Configuration, Platform, Profile, convert, parse};
use perhop_qos::packet::Encapsulation;
use perhop_qos::policy::{ClassConfig, PolicyConfig, QueueingConfig};
use perhop_qos::random::Streams;
use perhop_qos::{Dscp, Packet, Time, Verdict};

const PROFILES: [Profile; 4] = [Profile::PreHqf, Profile::Vip7500, Profile::Hqf, Profile::IosXe];

/// The outer class matches cs2, cs4 and cs6. The class of the child matches cs4 and cs6. Another class
/// matches the codepoints that the child writes.
const CLASSES: &str = "\
class-map match-any around
 match dscp cs2 cs4 cs6
class-map match-any inside
 match dscp cs4 cs6
class-map match-any voice
 match dscp cs6
class-map match-any written
 match dscp cs7
";

/// The commands of the outer class, which must also apply with a child.
const PARENTS: &[&[&str]] = &[
    &["bandwidth 100"],
    &["bandwidth percent 10"],
    &["bandwidth remaining percent 10"],
    &["bandwidth remaining ratio 3"],
    &["priority"],
    &["priority 100"],
    &["priority percent 10"],
    &["priority level 1", POLICE],
    &["shape average 200000"],
    &["shape average percent 10"],
    &[POLICE],
    &["police cir percent 10 bc 100 ms conform-action transmit exceed-action drop"],
    &["bandwidth percent 10", "queue-limit 20"],
    &["bandwidth percent 10", "random-detect dscp-based"],
    &["bandwidth percent 10", "fair-queue"],
    &["fair-queue"],
    &["bandwidth percent 10", POLICE],
    &["shape average 200000", POLICE],
    &["bandwidth percent 10", "set dscp cs5"],
    &["set dscp cs5"],
    &["set dscp cs5", POLICE],
    &["drop"],
];

/// A policer through which three packets of 1000 bytes pass at once.
const POLICE: &str = "police cir 8000 bc 3200 conform-action transmit exceed-action drop";

/// Policies called `child`, each with its effect on packets of the class `inside`.
const CHILDREN: &[Child] = &[
    Child {
        name: "only marks",
        text: "class inside\n  set dscp cs7\n",
        marks: Some("cs7"),
        passes: 9,
        queues: false,
    },
    Child { name: "only polices", text: "class inside\n  POLICE\n", marks: None, passes: 1, queues: false },
    Child {
        name: "polices and marks",
        text: "class inside\n  POLICE\n  set dscp cs7\n",
        marks: Some("cs7"),
        passes: 1,
        queues: false,
    },
    Child {
        name: "marks by its policer",
        text: "class inside\n  police cir 8000 bc 1100 conform-action set-dscp-transmit cs7 exceed-action drop\n",
        marks: Some("cs7"),
        passes: 1,
        queues: false,
    },
    Child {
        name: "queues",
        text: "class inside\n  bandwidth percent 20\n",
        marks: None,
        passes: 9,
        queues: true,
    },
    Child {
        name: "queues and marks",
        text: "class inside\n  bandwidth percent 20\n  set dscp cs7\n",
        marks: Some("cs7"),
        passes: 9,
        queues: true,
    },
    Child { name: "empty", text: "", marks: None, passes: 9, queues: false },
    Child {
        name: "only class-default",
        text: "class class-default\n  set dscp cs7\n",
        marks: Some("cs7"),
        passes: 9,
        queues: false,
    },
    Child {
        name: "nested twice",
        text: "class inside\n  service-policy deepest\n",
        marks: Some("cs7"),
        passes: 9,
        queues: false,
    },
];

struct Child {
    name: &'static str,
    text: &'static str,
    /// The codepoint with which packets of the class `inside` leave.
    marks: Option<&'static str>,
    /// The largest number of packets of the class `inside`, 1000 bytes each, that pass at once.
    passes: usize,
    queues: bool,
}

impl Child {
    fn text(&self) -> String {
        let lines = self.text.replace("POLICE", &POLICE.replace("3200", "1100"));
        format!(
            "policy-map deepest\n class voice\n  set dscp cs7\n class class-default\n  set dscp cs7\n\
             policy-map child\n {lines}"
        )
    }
}

/// The configuration of one combination of a parent and a child, and its port.
struct Case {
    configuration: Configuration,
    port: Port,
}

impl Case {
    fn convert(parent: &[&str], child: Option<&Child>, profile: Profile, direction: &str) -> Case {
        let inner = child.map_or_else(String::new, |_| "  service-policy child\n".to_owned());
        let is_queueing = direction == "output" && !parent.iter().all(|line| is_conditioning(line));
        let others =
            if is_queueing && !parent[0].starts_with("bandwidth remaining") && parent[0] != "bandwidth 100" {
                "class written\n  bandwidth percent 20\n"
            } else if is_queueing && parent[0] == "bandwidth 100" {
                "class written\n  bandwidth 200\n"
            } else if is_queueing {
                "class written\n  shape average 400000\n"
            } else {
                "class written\n  police cir 8000 bc 1100 conform-action transmit exceed-action drop\n"
            };
        let text = format!(
            "{CLASSES}{}policy-map top\n class around\n  {}\n{inner} {others}interface Ethernet0/0\n bandwidth 2000\n \
             service-policy {direction} top\n",
            child.map_or_else(String::new, Child::text),
            parent.join("\n  "),
        );
        let mut configuration = parse(&text);
        let port = convert(&mut configuration, &Platform::for_profile(profile)).ports.remove(0);
        Case { configuration, port }
    }
    fn says(&self, rule: &str) -> bool {
        self.configuration.diagnostics.iter().any(|diagnostic| diagnostic.rule.id == rule)
    }
    fn is_refused(&self) -> bool {
        self.configuration
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.severity == perhop_lint::Severity::Error)
    }
}

fn is_conditioning(line: &str) -> bool {
    ["police", "set", "drop"].iter().any(|word| line.starts_with(word))
}

/// Returns packets of 1000 bytes with these codepoints after the conditioners of `policy`. All packets arrive
/// at once.
fn through(policy: &PolicyConfig, codepoints: &[&str]) -> Vec<Option<Packet>> {
    let conditioner = policy.build_conditioner(&["Ethernet0/0".to_owned()], &Streams::new(1, 0)).unwrap();
    let mut conditioner = conditioner.leaving_by(Encapsulation { tag: false, labels: false });
    let pass = |dscp: &&str| {
        let mut packet = Packet { dscp: dscp.parse::<Dscp>().unwrap(), length: 1000, ..Packet::default() };
        matches!(conditioner.condition(Time::ZERO, &mut packet), Verdict::Pass).then_some(packet)
    };
    codepoints.iter().map(pass).collect()
}

/// The names of the classes through which `packet` reaches its queue, outermost first.
fn queue_of(queueing: &QueueingConfig, packet: &Packet) -> Vec<String> {
    let takes = |class: &&ClassConfig| {
        let matches =
            class.matches.as_ref().map(|matches| matches.build(&["Ethernet0/0".to_owned()]).unwrap());
        matches.is_none_or(|matches| matches.matches(packet))
    };
    let class = queueing.classes.iter().find(takes).expect("a queue for every packet");
    let inside = class.queueing.as_ref().map_or_else(Vec::new, |inner| queue_of(inner, packet));
    std::iter::once(class.name.clone()).chain(inside).collect()
}

/// Returns `queueing` without conditions and without the classes inside `around`.
fn bare(queueing: &QueueingConfig) -> QueueingConfig {
    let class = |class: &ClassConfig| ClassConfig {
        matches: None,
        queueing: class.queueing.as_ref().map(bare),
        ..class.clone()
    };
    QueueingConfig { classes: queueing.classes.iter().map(class).collect(), ..queueing.clone() }
}

#[test]
fn a_class_keeps_its_settings_with_any_child() {
    let mut wrong = Vec::new();
    for profile in PROFILES {
        for direction in ["output", "input"] {
            for parent in PARENTS {
                for child in CHILDREN {
                    let faults = faults(parent, child, profile, direction);
                    let about = format!("{profile:?} {direction} {parent:?}, child {}", child.name);
                    wrong.extend(faults.into_iter().map(|fault| format!("{about}: {fault}")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), wrong.join("\n"));
}

fn faults(parent: &[&str], child: &Child, profile: Profile, direction: &str) -> Vec<String> {
    let case = Case::convert(parent, Some(child), profile, direction);
    let (side, resolved) = match direction {
        "input" => (&case.port.input, case.port.input_policy()),
        _ => (&case.port.output, case.port.output_policy()),
    };
    let queues = child.queues || !parent.iter().all(|line| is_conditioning(line));
    if direction == "input" && queues {
        let is_reported = resolved.is_none() && case.says("queueing-on-input");
        return if is_reported {
            Vec::new()
        } else {
            vec!["an input policy that queues is attached".to_owned()]
        };
    }
    if resolved.is_none() {
        let is_reported = case.is_refused();
        return if is_reported {
            Vec::new()
        } else {
            vec!["no policy applies, but no finding reports this".to_owned()]
        };
    }
    let mut faults = conditioned(side, parent, child);
    if direction == "output" && !parent.contains(&"drop") {
        faults.extend(queued(&case, parent, child, profile));
    }
    faults
}

/// Returns the faults of marks and policers.
fn conditioned(side: &PolicyConfig, parent: &[&str], child: &Child) -> Vec<String> {
    let mut faults = Vec::new();
    let is_policed = parent.contains(&POLICE);
    let most = if parent.contains(&"drop") {
        0
    } else if is_policed {
        3
    } else {
        9
    };
    let of_class = if child.name == "only class-default" { "cs7" } else { "cs2" };
    let of_parent = parent.contains(&"set dscp cs5").then_some("cs5");
    for (dscp, passes, marked) in [
        ("cs2", 9, of_parent.or(child.marks.filter(|_| of_class == "cs7")).unwrap_or("cs2")),
        ("cs4", child.passes, of_parent.or(child.marks).unwrap_or("cs4")),
        ("cs6", child.passes, of_parent.or(child.marks).unwrap_or("cs6")),
    ] {
        let passed: Vec<Packet> = through(side, &[dscp; 9]).into_iter().flatten().collect();
        let is_by_percent = parent[0].starts_with("police cir percent");
        if passed.len() != passes.min(most) && !is_by_percent {
            faults.push(format!("{} of 9 {dscp} pass, not {}", passed.len(), passes.min(most)));
        }
        if let Some(packet) = passed.iter().find(|packet| packet.dscp.to_string() != marked) {
            faults.push(format!("{dscp} leaves as {}, not as {marked}", packet.dscp));
        }
    }
    // The class has one policer for all of its packets.
    let mixed = through(side, &["cs4", "cs2", "cs4", "cs2", "cs4", "cs2", "cs2", "cs2"]);
    let passed = mixed.into_iter().flatten().count();
    if is_policed && !parent.contains(&"drop") && passed != 3 {
        faults.push(format!("{passed} packets pass the policer of the class, not 3"));
    }
    // Packets that arrive as cs7 belong to another class, which must not count packets of the first class.
    let others = through(side, &["cs6", "cs7"]);
    if others[1].is_none_or(|packet| packet.dscp.to_string() != "cs7") {
        faults.push("the other class's packet does not pass unchanged".to_owned());
    }
    faults
}

/// Returns the faults of queues.
fn queued(case: &Case, parent: &[&str], child: &Child, profile: Profile) -> Vec<String> {
    let mut faults = Vec::new();
    let output = &case.port.output;
    let queueing = output.queueing.as_ref().unwrap();
    let alone = Case::convert(parent, None, profile, "output");
    let resolved = case.port.output_policy().unwrap();
    let around = resolved.classes.iter().find(|class| class.name == "around").unwrap();
    let has_queue = around.queue_limit.is_some() || (child.queues && around.policy.is_some());
    if case.says("marked-then-classified") {
        // Before HQF, a finding reports marks of the policy itself.
        let own =
            parent.contains(&"set dscp cs5") && *profile.rules().queue_selection == QueueSelection::NewMark;
        return if own {
            Vec::new()
        } else {
            vec!["a finding reports marks that must be correct".to_owned()]
        };
    }
    if queueing.classes.len() > 1 || queueing.classes[0].queueing.is_some() {
        for (dscp, class) in [("cs2", "around"), ("cs4", "around"), ("cs6", "around"), ("cs7", "written")] {
            let packet = through(output, &[dscp])[0].unwrap_or_else(|| panic!("{dscp} is dropped"));
            let path = queue_of(queueing, &packet);
            let own = resolved.classes.iter().find(|candidate| candidate.name == class).unwrap();
            let wanted = if own.queue_limit.is_some() || has_queue && class == "around" {
                class
            } else {
                "class-default"
            };
            if !path.contains(&wanted.to_owned()) {
                faults.push(format!("{dscp} waits in {path:?}, not in {wanted}"));
            }
        }
    }
    let before = alone.port.output.queueing.as_ref().unwrap();
    let kept_alone = alone.port.output_policy();
    let had_queue = kept_alone.is_some_and(|policy| {
        policy.classes.iter().any(|class| class.name == "around" && class.queue_limit.is_some())
    });
    // Before HQF, this class gets a queue only by a child that queues.
    if !child.queues && had_queue && bare(queueing) != bare(before) {
        faults.push("the queues differ from the policy without the child".to_owned());
    }
    if child.queues && (around.bandwidth, around.priority, around.shape) != kept(kept_alone) {
        faults.push("guarantee, priority or shaper differ from the policy without the child".to_owned());
    }
    faults
}

/// Returns the guarantee, the priority and the shaper of the class `around`.
fn kept(
    policy: Option<&perhop_device::AttachedPolicy>,
) -> (Option<perhop_device::Guarantee>, Option<perhop_device::Priority>, Option<perhop_device::Shaper>) {
    let around = policy.and_then(|policy| policy.classes.iter().find(|class| class.name == "around"));
    around.map_or((None, None, None), |class| (class.bandwidth, class.priority, class.shape))
}
