//! For any text, the parser terminates and assigns a state to every line, and the result can be converted.

use std::fs;
use std::path::Path;

use crate::accounted::check;
use perhop_ios::{LineState, Platform, Profile, convert, parse};
use proptest::prelude::*;

fn vectors() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/ios");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cfg"));
    files.sort();
    files.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Known and unknown words.
fn word() -> impl Strategy<Value = String> {
    let words: Vec<String> =
        vectors().iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect();
    prop_oneof![
        6 => prop::sample::select(words),
        1 => "\\PC{0,8}",
        1 => any::<u64>().prop_map(|number| number.to_string()),
    ]
}

fn line() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(word(), 0..8);
    (0..4usize, words).prop_map(|(indent, words)| format!("{}{}", " ".repeat(indent), words.join(" ")))
}

/// A configuration with lines removed, duplicated, exchanged or cut, and with words replaced.
fn mutated() -> impl Strategy<Value = String> {
    let all = vectors();
    let change = (any::<prop::sample::Index>(), 0..5u8, any::<prop::sample::Index>(), word());
    (prop::sample::select(all), prop::collection::vec(change, 1..12)).prop_map(|(text, changes)| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (place, kind, other, word) in changes {
            if lines.is_empty() {
                break;
            }
            let (place, other) = (place.index(lines.len()), other.index(lines.len()));
            match kind {
                0 => drop(lines.remove(place)),
                1 => lines.insert(other, lines[place].clone()),
                2 => lines.swap(place, other),
                3 => {
                    let half = lines[place].chars().count() / 2;
                    lines[place] = lines[place].chars().take(half).collect();
                }
                _ => {
                    let mut words: Vec<&str> = lines[place].split(' ').collect();
                    let last = words.len() - 1;
                    words[last] = &word;
                    lines[place] = words.join(" ");
                }
            }
        }
        lines.join("\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_words(lines in prop::collection::vec(line(), 0..60)) {
        check(&lines.join("\n"));
    }

    #[test]
    fn any_damage(text in mutated()) {
        check(&text);
    }
}

#[test]
fn policies_and_classes_that_contain_themselves_terminate() {
    check(
        "class-map a\n match class-map b\nclass-map b\n match class-map a\n\
         policy-map p\n class a\n  police 64000\n  service-policy p\n class class-default\n  bandwidth 10\n  service-policy p\n\
         interface Serial0\n service-policy output p\n service-policy input p\n\
         interface Serial0.1\ninterface Serial0.1.1\n bandwidth 5",
    );
}

#[test]
fn tunnels_with_themselves_as_source_terminate() {
    check(
        "policy-map p\n class class-default\n  shape average percent 10\n\
         interface GigabitEthernet0/0\n tunnel source GigabitEthernet0/0.1\n service-policy output p\n\
         interface GigabitEthernet0/0.1\n service-policy output p\n\
         interface Tunnel1\n tunnel source Tunnel2\ninterface Tunnel2\n tunnel source Tunnel1\n",
    );
}

#[test]
fn access_lists_of_any_shape_terminate() {
    let alternating: Vec<String> = (0..5000)
        .map(|n| {
            format!(
                "access-list 101 {} tcp any any eq {}\n",
                if n % 2 == 0 { "permit" } else { "deny" },
                n + 1
            )
        })
        .collect();
    let alternating = alternating.concat();
    check(&format!(
        "{alternating}class-map c\n match access-group 101\npolicy-map p\n class c\n  set ip dscp ef\n\
         interface Ethernet0\n service-policy input p\n"
    ));
}

#[test]
fn a_recorded_session_is_read_as_the_terminal_showed_it() {
    let back = "\u{8}".repeat(10);
    let more = format!(" --More-- {back}{}{back}", " ".repeat(10));
    let text = format!("class-map A\n match dscp ef\n{more} match dscp cs5\n match dscp \u{1b}x\n");
    let configuration = parse(&text);
    let [_, _, after, escape] = configuration.lines.as_slice() else { panic!("four lines") };
    assert_eq!((after.state, after.text.trim()), (LineState::Modelled, "match dscp cs5"));
    assert_eq!(escape.text.trim(), "match dscp ␛x");
    assert_ne!(escape.state, LineState::Modelled);
}

/// A policy of `classes` in each of `levels`, every class with the whole next level inside.
fn nested(levels: usize, classes: usize) -> String {
    let mut lines = Vec::new();
    for class in 0..classes {
        lines.push(format!("class-map C{class}\n match dscp {class}"));
    }
    for level in 0..levels {
        lines.push(format!("policy-map P{level}"));
        for class in 0..classes {
            lines.push(format!(" class C{class}\n  shape average 1000000"));
            lines.extend((level > 0).then(|| format!("  service-policy P{}", level - 1)));
        }
    }
    lines.push(format!("interface Serial0/0\n service-policy output P{}\n", levels - 1));
    lines.join("\n")
}

#[test]
fn policies_that_grow_with_every_level_are_refused() {
    for (levels, classes, refusal) in [
        (3, 8, None),
        (4, 2, Some("policy P3 nests more than 3 levels of policies (line 13)")),
        (12, 8, Some("policy P11 nests more than 3 levels of policies (line 237)")),
        (3, 60, Some("the attached policies, up to policy P2, have more than 50000 classes in total")),
    ] {
        let mut configuration = parse(&nested(levels, classes));
        let router = convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
        let found: Vec<&str> =
            configuration.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(
            found.iter().any(|message| Some(*message) == refusal),
            refusal.is_some(),
            "{levels}: {found:?}"
        );
        assert_eq!(router.ports[0].output_policy().is_some(), refusal.is_none(), "{levels} levels");
    }
}

#[test]
fn a_percentage_of_a_tiny_rate_is_a_rate() {
    check(
        "class-map A\n match dscp ef\npolicy-map IN\n class A\n  priority percent 20\n  police cir percent 1\n\
         policy-map OUT\n class class-default\n  shape average 1\n  service-policy IN\n\
         interface Serial0/0\n service-policy output OUT\n",
    );
}

/// Found by fuzzing: the thresholds of WRED by codepoint need at least one codepoint, even if the class
/// matches no packet.
#[test]
fn wred_in_a_class_that_no_packet_matches_can_be_built() {
    let text = "class-map none\nclass-map v\n match dscp ef\n\
                policy-map out\n class v\n class none\n  bandwidth 1000\n  random-detect dscp-based\n  \
                police cir 1000000 bc 31250 be 31250\n   exceed-action set-prec-transmit 0\n\
                interface FastEthernet0/0\n service-policy output out\n";
    for padding in 0..Profile::ALL.len() {
        check(&format!("{text}{}", "!\n".repeat(padding)));
    }
}

/// Found by fuzzing: percentages can be inconsistent like rates. A percentage and a rate are not compared.
#[test]
fn a_policer_with_inconsistent_rates_is_ignored() {
    for police in ["cir percent 92 pir percent 20", "cir percent 92 pir 20000", "cir 900000000 pir percent 1"]
    {
        let text = format!(
            "policy-map p\n class class-default\n  police {police}\n\
             interface FastEthernet0/0\n service-policy input p\n"
        );
        check(&text);
        let mut configuration = parse(&text);
        convert(&mut configuration, &Platform::for_profile(Profile::Hqf));
        assert_ne!(configuration.lines[2].state, LineState::Modelled, "{police}");
    }
}
