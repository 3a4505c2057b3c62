//! What an unknown word was probably meant to be.

/// "did you mean `x`?" for `found`, or the list of what is known.
pub(crate) fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let distance = |name: &&str| strsim::damerau_levenshtein(found, name);
    // One error in every three letters, as compilers allow.
    let allowed = |name: &str| (found.chars().count().max(name.chars().count()) / 3).max(1);
    let short = found.chars().count() > 64;
    let best = known.iter().copied().filter(|_| !short).min_by_key(distance);
    match best.filter(|best| distance(best) <= allowed(best)) {
        Some(best) => format!("did you mean `{best}`?"),
        None if known.is_empty() => "it takes none".to_owned(),
        None => format!("it takes: {}", known.join(", ")),
    }
}
