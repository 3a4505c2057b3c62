//! Compares the codepoint of a class with the recommendation of RFC 4594 for the kind of traffic in the name
//! of the class, and its class of service with its codepoint.

use perhop_lint::Diagnostic;
use perhop_qos::Dscp;

use crate::ast::{Configuration, Field, Marking, PolicyClass};
use crate::rules;

/// Words in class names, and the codepoints of this traffic in RFC 4594 §2.3 (figure 3), RFC 5865 for
/// admitted voice, RFC 8622 for lower effort, and in older Cisco networks.
const USUAL: &[(&[&str], &[&str])] = &[
    (&["voice", "voip"], &["ef", "44", "cs5"]),
    (&["signal"], &["cs5", "cs3", "af31"]),
    (&["scav"], &["cs1", "1", "default"]),
    (&["bulk"], &["af11", "af12", "af13", "cs1"]),
    (&["video"], &["af41", "af42", "af43", "cs4", "cs5", "af31", "af32", "af33", "cs3"]),
];
/// The word in names that contain two kinds of traffic: `VOICE-SIGNALING`.
const SIGNALLING: &str = "signal";

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for class in configuration.policy_maps.iter().flat_map(|policy| &policy.classes) {
        found.extend(crossed(class));
        let Some(usual) = usual_codepoints(&class.name) else { continue };
        for mark in &class.marks {
            let Marking::Dscp(dscp) = &mark.value else { continue };
            let is_usual = usual.iter().any(|name| name.parse::<Dscp>().is_ok_and(|known| known == *dscp));
            if !is_usual {
                found.push(Diagnostic::new(
                    &rules::MARK_UNUSUAL,
                    mark.line,
                    format!("class {} sets {dscp}", class.name),
                    format!(
                        "RFC 4594 recommends {} for such traffic, and other networks follow the RFC",
                        usual[0]
                    ),
                ));
            }
        }
    }
}

/// Reports a class that sets a codepoint and a class of service that belongs to another codepoint.
fn crossed(class: &PolicyClass) -> Option<Diagnostic> {
    let last = |wanted: &dyn Fn(&Marking) -> Option<u8>| {
        class.marks.iter().rev().find_map(|mark| wanted(&mark.value).map(|value| (value, mark.line)))
    };
    let dscp = |mark: &Marking| match mark {
        Marking::Dscp(dscp) => Some(dscp.value()),
        _ => None,
    };
    let cos = |mark: &Marking| match mark {
        Marking::Number(Field::Cos, cos) => Some(*cos),
        _ => None,
    };
    let (dscp, (cos, line)) = (Dscp::new(last(&dscp)?.0)?, last(&cos)?);
    let (wired, wireless) = (dscp.value() >> 3, user_priority(dscp));
    (cos != wired && cos != wireless).then(|| {
        Diagnostic::new(
            &rules::MARK_UNUSUAL,
            line,
            format!("class {} sets {dscp} and CoS {cos}, which do not belong together", class.name),
            format!(
                "the usual CoS of {dscp} is {wired}, the first three bits of the codepoint; its user \
                 priority in Wi-Fi is {wireless} (RFC 8325)"
            ),
        )
    })
}

/// Returns the user priority of IEEE 802.11 for a codepoint (RFC 8325 §4.3); 0 for codepoints that the RFC
/// does not list.
fn user_priority(dscp: Dscp) -> u8 {
    match dscp.value() {
        48 | 56 => 7,
        46 | 44 => 6,
        40 => 5,
        24..=38 if dscp.value().is_multiple_of(2) => 4,
        18 | 20 | 22 => 3,
        1 | 8 => 1,
        _ => 0,
    }
}

fn usual_codepoints(class: &str) -> Option<&'static [&'static str]> {
    let class = class.to_ascii_lowercase();
    let is_called = |names: &[&str]| names.iter().any(|name| class.contains(name));
    let is_signalling = class.contains(SIGNALLING);
    let mut of_name = USUAL.iter().filter(|(names, _)| is_called(names));
    of_name.find(|(names, _)| !is_signalling || names.contains(&SIGNALLING)).map(|(_, usual)| *usual)
}

#[cfg(test)]
mod tests {
    use crate::parse;

    #[test]
    fn a_class_of_service_fits_the_codepoint_on_the_wire_or_in_wifi() {
        let found = |dscp: &str, cos: u8| {
            let text = format!("policy-map p\n class class-default\n  set dscp {dscp}\n  set cos {cos}\n");
            let configuration = parse(&text);
            let of_mark = |diagnostic: &&crate::Diagnostic| diagnostic.rule.id == "mark-unusual";
            configuration
                .diagnostics
                .iter()
                .filter(of_mark)
                .map(|diagnostic| diagnostic.message.clone())
                .collect::<Vec<_>>()
        };
        for (dscp, wired, wireless) in [("ef", 5, 6), ("af41", 4, 4), ("af21", 2, 3), ("cs6", 6, 7)] {
            assert!(found(dscp, wired).is_empty() && found(dscp, wireless).is_empty(), "{dscp}");
        }
        assert_eq!(found("ef", 1), ["class class-default sets ef and CoS 1, which do not belong together"]);
    }
}
