//! Credentials of protocols between neighbors. Both ends must have the same key.

use super::super::super::{NetworkFinding, PortId, Snapshot};
use super::parts::{Credential, KEY_CHAIN, Key, Part, parts};
use super::text::Text;
use crate::rules;

/// Reports both ends of a link if only one end authenticates a protocol, or if the ends have different keys.
pub(super) fn check(snapshot: &Snapshot, texts: &[Text], found: &mut Vec<NetworkFinding>) {
    for link in &snapshot.links {
        let ends: Vec<_> = link.ends.iter().map(|end| (end.id, parts(snapshot, texts, end.id))).collect();
        for (place, (first, own)) in ends.iter().enumerate() {
            for (second, theirs) in &ends[place + 1..] {
                for (protocol, part) in own {
                    if let Some(other) = theirs.get(protocol) {
                        let ends = [(*first, part), (*second, other)];
                        found.extend(compare(snapshot, protocol, ends).into_iter().flatten());
                    }
                }
            }
        }
    }
}

/// A difference between two credentials: the line at each end, and a description.
pub(super) struct Difference {
    lines: [usize; 2],
    words: String,
}

/// Returns the findings at both ends of a pair with different credentials.
fn compare(snapshot: &Snapshot, protocol: &str, ends: [(PortId, &Part); 2]) -> Option<[NetworkFinding; 2]> {
    let [(first, own), (second, other)] = ends;
    let difference = match (&own.credential, &other.credential) {
        (Some(one), Some(two)) => difference(one, two)?,
        (None, None) => return None,
        (one, two) => {
            let line = |credential: &Option<Credential>, part: &Part| {
                credential.as_ref().map_or(part.line, |credential| credential.line)
            };
            let words = "only one of the two ports authenticates it".to_owned();
            Difference { lines: [line(one, own), line(two, other)], words }
        }
    };
    let [here, there] = difference.lines;
    let finding = |(id, line): (PortId, usize), (far, far_line): (PortId, usize)| {
        let message = format!(
            "{} and {} ({}) do not accept each other's packets of {protocol}: {}",
            snapshot.port_name(id),
            snapshot.port_name(far),
            snapshot.place(far.device, far_line),
            difference.words
        );
        let effect = "the two routers do not become neighbors, or both are active at once".to_owned();
        snapshot.finding(id.device, &rules::NETWORK_KEY_DIFFERS, line, (message, effect))
    };
    Some([finding((first, here), (second, there)), finding((second, there), (first, here))])
}

/// Returns the difference between two credentials that do not match: different methods, no common key number,
/// or different keys with the same number.
fn difference(one: &Credential, two: &Credential) -> Option<Difference> {
    if one.method != two.method {
        let words = format!("one port uses {}, and the other uses {}", one.method, two.method);
        return Some(Difference { lines: [one.line, two.line], words });
    }
    let common: Vec<(&String, &Key, &Key)> =
        one.keys.iter().filter_map(|(number, key)| Some((number, key, two.keys.get(number)?))).collect();
    let (Some(first), Some(second)) = (one.keys.iter().next(), two.keys.iter().next()) else {
        // An operator may remove a key chain before publishing a configuration.
        let is_known = one.method != KEY_CHAIN && one.keys.is_empty() != two.keys.is_empty();
        let words = "only one of the two ports has a key".to_owned();
        return is_known.then_some(Difference { lines: [one.line, two.line], words });
    };
    if common.is_empty() {
        let words = format!("they have the key numbers {} and {}", first.0, second.0);
        return Some(Difference { lines: [first.1.line, second.1.line], words });
    }
    let differs = |own: &Key, other: &Key| {
        let secrets = (&own.secret, &other.secret);
        let is_other = matches!(secrets, (Some(one), Some(two)) if one.differs(two));
        is_other || own.algorithm != other.algorithm
    };
    // A single common key is sufficient.
    if common.iter().any(|(_, own, other)| !differs(own, other)) {
        return None;
    }
    let (number, own, other) = common[0];
    let words = format!("their keys with the number {number} differ");
    Some(Difference { lines: [own.line, other.line], words })
}
