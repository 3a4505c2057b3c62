//! Suggestions: the known name nearest to an unknown one.

/// Names that are compared with an unknown one at most, and letters of a name that is.
const MOST_COMPARED: usize = 5_000;
const LONGEST_COMPARED: usize = 200;

/// The name among `known` nearest to `found`, if it is near enough for a typing error.
pub(super) fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if found.len() > LONGEST_COMPARED {
        return None;
    }
    let lower = found.to_lowercase();
    let distance = |name: &&str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let known: Vec<&str> =
        known.into_iter().filter(|name| name.len() <= LONGEST_COMPARED).take(MOST_COMPARED).collect();
    let best = known.iter().copied().min_by_key(distance)?;
    // One error in every three letters, as compilers allow.
    let allowed = (found.chars().count().max(best.chars().count()) / 3).max(1);
    if distance(&best) <= allowed { Some(best) } else { overlapping(&lower, &known) }
}

/// The one name that contains `found` or is contained in it: `queue-limit` where there is `limit`.
fn overlapping<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    const SHORTEST: usize = 4;
    let overlaps = |name: &&&str| {
        found.len().min(name.len()) >= SHORTEST && (found.contains(**name) || name.contains(found))
    };
    let mut all = known.iter().filter(overlaps);
    all.next().filter(|_| all.next().is_none()).copied()
}

/// Names for a message: in backticks, in order, separated by commas; a long list is truncated.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 16;
    let names: Vec<&str> = names.into_iter().collect();
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// Returns "did you mean `x`? KINDS: …" for the unknown name `found`.
pub fn suggest<'a>(kind: &str, found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if known.is_empty() {
        return format!("there are no {kind} here");
    }
    let all = format!("{kind}: {}", listed(known.iter().copied()));
    nearest(found, known).map_or_else(|| all.clone(), |name| format!("did you mean `{name}`? {all}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_a_different_word_does_not() {
        let known = ["queue-limit", "rate", "delay", "cost"];
        assert_eq!(nearest("qeue-limit", known), Some("queue-limit"));
        assert_eq!(nearest("Rate", known), Some("rate"));
        assert_eq!(nearest("dealy", known), Some("delay"));
        assert_eq!(nearest("bandwidth", known), None);
        assert_eq!(nearest("limit", known), Some("queue-limit"));
        assert_eq!(nearest("ethernet", ["ethernet-header", "ethernet-frame"]), None);
        assert_eq!(nearest("x", []), None);
        let long = "x".repeat(LONGEST_COMPARED + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(nearest(&long[1..], [&long[1..]]), Some(&long[1..]));
    }

    #[test]
    fn only_so_many_names_are_compared() {
        let others = vec!["zzzz"; MOST_COMPARED - 1];
        let last = others.iter().copied().chain(["queue-limit"]);
        assert_eq!(nearest("qeue-limit", last), Some("queue-limit"));
        let beyond = others.iter().copied().chain(["zzzz", "queue-limit"]);
        assert_eq!(nearest("qeue-limit", beyond), None);
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        assert!(listed(names.iter().map(String::as_str)).ends_with("`15` and 4 more"));
        assert_eq!(suggest("nodes", "x", []), "there are no nodes here");
    }
}
