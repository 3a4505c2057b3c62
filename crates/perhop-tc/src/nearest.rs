//! Suggestions for unknown words.

use perhop_lint::near;

/// Returns "did you mean `x`?" for `found`, or the list of known words.
pub(crate) fn suggestion<'a>(found: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match near(found, known.iter().copied()) {
        Some(best) => format!("did you mean `{best}`?"),
        None if known.is_empty() => "remove the word, because no option is known here".to_owned(),
        None => format!("write one of {}", known.join(", ")),
    }
}
