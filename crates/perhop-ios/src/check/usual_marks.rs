//! Codepoints against those of RFC 4594 for the kind of traffic that a class is called after.

use perhop_lint::rules;
use perhop_qos::Dscp;

use crate::ast::{Configuration, Marking};
use crate::diagnostic::Diagnostic;

/// What classes are called, and the codepoints that RFC 4594 §2.3 (figure 3) has for it, RFC 5865 for
/// admitted voice, RFC 8622 for less than best effort, and Cisco's own networks before it.
const USUAL: &[(&[&str], &[&str])] = &[
    (&["voice", "voip"], &["ef", "44", "cs5"]),
    (&["signal"], &["cs5", "cs3", "af31"]),
    (&["scav"], &["cs1", "1", "default"]),
    (&["bulk"], &["af11", "af12", "af13", "cs1"]),
    (&["video"], &["af41", "af42", "af43", "cs4", "cs5", "af31", "af32", "af33", "cs3"]),
];
/// Words for two kinds at once: `VOICE-SIGNALING`.
const SIGNALLING: &str = "signal";

pub(super) fn check(configuration: &Configuration, found: &mut Vec<Diagnostic>) {
    for class in configuration.policy_maps.iter().flat_map(|policy| &policy.classes) {
        let Some(usual) = usual(&class.name) else { continue };
        for mark in &class.marks {
            let Marking::Dscp(dscp) = &mark.value else { continue };
            let is_usual = usual.iter().any(|one| one.parse::<Dscp>().is_ok_and(|one| one == *dscp));
            if !is_usual {
                found.push(Diagnostic::new(
                    &rules::MARK_UNUSUAL,
                    mark.line,
                    format!("class {} sets {dscp}", class.name),
                    format!("RFC 4594 has {} for such traffic; other networks go by it", usual[0]),
                ));
            }
        }
    }
}

fn usual(class: &str) -> Option<&'static [&'static str]> {
    let class = class.to_ascii_lowercase();
    let is_called = |names: &[&str]| names.iter().any(|name| class.contains(name));
    let is_signalling = class.contains(SIGNALLING);
    let mut of_name = USUAL.iter().filter(|(names, _)| is_called(names));
    of_name.find(|(names, _)| !is_signalling || names.contains(&SIGNALLING)).map(|(_, usual)| *usual)
}
