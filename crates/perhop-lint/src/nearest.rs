//! Search for the known name of which an unknown name is probably a misspelling.

/// Limit on the number of names that are compared with an unknown name, and on the bytes of an unknown name.
const MOST_COMPARED: usize = 5_000;
const LONGEST_COMPARED: usize = 200;

/// Returns the known name of which `found` is probably a misspelling: at most one letter in three differs, as
/// in the suggestions of compilers. Ignores case.
pub fn near<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near_of(&found.to_lowercase(), &comparable(found, known))
}

/// Returns the name among `known` that is nearest to `found`: a misspelled name, otherwise the only name that
/// contains `found` or is contained in it (`queue-limit` if only `limit` is known).
pub fn nearest<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (lower, known) = (found.to_lowercase(), comparable(found, known));
    near_of(&lower, &known).or_else(|| overlapping(&lower, &known))
}

/// Returns the names to compare with `found`; no names if `found` is too long.
fn comparable<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if found.len() > LONGEST_COMPARED {
        return Vec::new();
    }
    known.into_iter().filter(|name| name.len() <= LONGEST_COMPARED).take(MOST_COMPARED).collect()
}

fn near_of<'a>(lower: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |name: &&str| strsim::damerau_levenshtein(lower, &name.to_lowercase());
    let best = known.iter().copied().min_by_key(distance)?;
    // Every other name of one or two letters would be near.
    let allowed = lower.chars().count().max(best.chars().count()) / 3;
    (distance(&best) <= allowed).then_some(best)
}

fn overlapping<'a>(lower: &str, known: &[&'a str]) -> Option<&'a str> {
    const SHORTEST: usize = 4;
    let overlaps = |name: &&&str| {
        lower.len().min(name.len()) >= SHORTEST && (lower.contains(**name) || name.contains(lower))
    };
    let mut all = known.iter().filter(overlaps);
    all.next().filter(|_| all.next().is_none()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_word_and_a_different_word_does_not() {
        let known = ["queue-limit", "rate", "delay", "cost"];
        assert_eq!(nearest("qeue-limit", known), Some("queue-limit"));
        assert_eq!(nearest("Rate", known), Some("rate"));
        assert_eq!(nearest("dealy", known), Some("delay"));
        assert_eq!(nearest("bandwidth", known), None);
        assert_eq!(nearest("limit", known), Some("queue-limit"));
        assert_eq!(near("limit", known), None, "it is another word");
        assert_eq!(nearest("ethernet", ["ethernet-header", "ethernet-frame"]), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(near("W", ["V"]), None);
        assert_eq!(near("p9", ["P1", "P9"]), Some("P9"));
        let long = "x".repeat(LONGEST_COMPARED + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(nearest(&long[1..], [&long[1..]]), Some(&long[1..]));
    }

    #[test]
    fn a_bounded_number_of_names_is_compared() {
        let others = vec!["zzzz"; MOST_COMPARED - 1];
        let last = others.iter().copied().chain(["queue-limit"]);
        assert_eq!(nearest("qeue-limit", last), Some("queue-limit"));
        let beyond = others.iter().copied().chain(["zzzz", "queue-limit"]);
        assert_eq!(nearest("qeue-limit", beyond), None);
    }
}
