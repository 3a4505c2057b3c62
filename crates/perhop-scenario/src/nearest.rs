//! Suggestions in messages: the known name that is nearest to an unknown name, and all known names.

use perhop_lint::nearest;

/// Lists names for a message, in order, in backticks and separated by commas. Truncates a long list.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 16;
    let names: Vec<&str> = names.into_iter().collect();
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// Returns "did you mean `x`? KINDS: …" for the unknown name `found`, where `x` is the nearest known name.
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
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        assert!(listed(names.iter().map(String::as_str)).ends_with("`15` and 4 more"));
        assert_eq!(suggest("nodes", "x", []), "there are no nodes here");
    }
}
