//! Classes whose name states a codepoint that is not in their criteria.
//!
//! Names are free texts. The rule therefore reports a class only in networks where the names of nearly all
//! classes with such names agree with their criteria.

use perhop_qos::Dscp;

use super::super::{NetworkFinding, Snapshot};
use super::parts::Parts;
use crate::rules;

/// The minimum number of other classes whose name agrees with their criteria.
const LEAST_OTHERS: usize = 3;

/// Reports the class whose criteria do not contain a codepoint that its name states, if it is the only one.
pub(super) fn check(snapshot: &Snapshot, devices: &[Parts], found: &mut Vec<NetworkFinding>) {
    let mut agree = 0;
    let mut odd = Vec::new();
    for (device, parts) in devices.iter().enumerate() {
        for (name, class) in &parts.class_maps {
            let (Some(stated), Some(own)) = (stated(name), parts.codepoints(name)) else { continue };
            if own.iter().any(|mark| stated.1.contains(mark)) {
                agree += 1;
            } else {
                let line = class.lines.first().map_or(class.line, |(line, _)| *line);
                odd.push((device, *name, line, stated.0, own));
            }
        }
    }
    let [(device, name, line, word, own)] = odd.as_slice() else { return };
    if agree < LEAST_OTHERS {
        return;
    }
    let own: Vec<String> =
        own.iter().filter_map(|mark| Dscp::new(*mark)).map(|mark| mark.to_string()).collect();
    let message = format!(
        "class {name} of {} matches {}, but its name states {word}; the names of {agree} other classes agree with \
         their codepoints",
        snapshot.devices[*device].name,
        own.join(" and ")
    );
    let effect = "packets with the stated codepoint get the treatment of another class".to_owned();
    found.push(snapshot.finding(*device, &rules::NETWORK_MARK_NAME, *line, (message, effect)));
}

/// Returns the codepoints that a name states: `EF`, `AF41`, `AF4` for all drop precedences of the class, or
/// `CS3`. `None` if the name states no codepoint, or several.
fn stated(name: &str) -> Option<(&str, Vec<u8>)> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut found = words.filter_map(|word| Some((word, codepoints(&word.to_ascii_lowercase())?)));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn codepoints(word: &str) -> Option<Vec<u8>> {
    let is_class = word.len() == 3 && word.starts_with("af");
    if is_class {
        let all: Option<Vec<u8>> =
            (1..=3).map(|drop| Some(format!("{word}{drop}").parse::<Dscp>().ok()?.value())).collect();
        return all;
    }
    let is_name = word == "ef"
        || word.len() == 4 && word.starts_with("af")
        || word.len() == 3 && word.starts_with("cs");
    is_name.then(|| word.parse::<Dscp>().ok()).flatten().map(|mark| vec![mark.value()])
}

#[cfg(test)]
mod tests {
    use super::stated;

    #[test]
    fn a_name_states_a_codepoint_between_other_words() {
        assert_eq!(stated("CM-EF"), Some(("EF", vec![46])));
        assert_eq!(stated("CM-AF4"), Some(("AF4", vec![34, 36, 38])));
        assert_eq!(stated("wan_cs3"), Some(("cs3", vec![24])));
        assert_eq!(stated("AF31-AF41"), None, "two codepoints");
        assert_eq!(stated("SAFE"), None);
        assert_eq!(stated("AF"), None);
    }
}
