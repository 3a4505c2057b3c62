//! Reading of configurations with braces, such as `interfaces { ge-0/0/0 { unit 0; } }`.

use super::super::tree::Node;

/// Braces, brackets, the semicolon and the quotation mark.
const MARKS: [char; 6] = ['{', '}', '[', ']', ';', '"'];

/// Whether the first word of a statement begins with a text. This is faster than [`words`] for statements
/// that a rule skips.
pub(in super::super) fn begins_with(node: &Node, text: &str) -> bool {
    let is_before = |letter: char| letter.is_whitespace() || MARKS.contains(&letter);
    node.line.1.trim_start_matches(is_before).starts_with(text)
}

/// Returns the words of a statement, without braces, brackets, quotation marks and the semicolon. The words
/// of an inactive statement begin with `inactive:`.
pub(in super::super) fn words<'t>(node: &Node<'t>) -> Vec<&'t str> {
    let is_mark = |letter: char| MARKS.contains(&letter);
    let words = node.line.1.split_whitespace().map(|word| word.trim_matches(is_mark));
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the first word of a statement, as [`words`] does.
pub(in super::super) fn first_word<'t>(node: &Node<'t>) -> Option<&'t str> {
    let mut words = node.line.1.split_whitespace().map(|word| word.trim_matches(MARKS));
    words.find(|word| !word.is_empty())
}

/// Returns the first block at a path. Each element of `path` is the only word of the statement at that depth.
pub(in super::super) fn block<'n, 't>(nodes: &'n [Node<'t>], path: &[&str]) -> Option<&'n Node<'t>> {
    let (first, rest) = path.split_first()?;
    let is_first = |node: &&Node| first_word(node) == Some(*first) && words(node).len() == 1;
    let found = nodes.iter().find(is_first)?;
    if rest.is_empty() { Some(found) } else { block(&found.inner, rest) }
}

/// Returns all statements inside a block whose first word is `command`, at any depth, in order.
pub(in super::super) fn inside<'n, 't>(node: &'n Node<'t>, command: &str) -> Vec<&'n Node<'t>> {
    let mut found = Vec::new();
    for inner in &node.inner {
        match first_word(inner) {
            Some(first) if first == command => found.push(inner),
            Some("inactive:") => {}
            _ => found.extend(inside(inner, command)),
        }
    }
    found
}

/// Whether a group of statements that blocks inherit (`apply-groups`, `apply-group`), or a range of
/// interfaces, contains a word. Blocks are read without these statements, so a rule about missing statements
/// must not report such blocks.
pub(in super::super) fn can_inherit(nodes: &[Node], word: &str) -> bool {
    let groups = nodes.iter().filter(|node| matches!(first_word(node), Some("groups" | "group")));
    let ranges = block(nodes, &["interfaces"]).map_or_else(Vec::new, |own| inside(own, "interface-range"));
    groups.chain(ranges).flat_map(|node| &node.inner).any(|inner| contains(inner, word))
}

/// Whether a statement, or a statement in its block, contains a word.
fn contains(node: &Node, word: &str) -> bool {
    words(node).contains(&word) || node.inner.iter().any(|inner| contains(inner, word))
}

/// Returns the tree of a configuration with braces.
#[cfg(test)]
pub(in super::super) fn read(text: &str) -> Vec<Node<'_>> {
    let lines: Vec<super::super::tree::Numbered> =
        text.lines().enumerate().map(|(place, line)| (place + 1, line)).collect();
    super::super::tree::tree(&lines)
}

#[cfg(test)]
mod tests {
    use super::{block, can_inherit, inside, read, words};

    #[test]
    fn groups_have_statements_for_other_blocks() {
        let nodes =
            read("groups {\n    A {\n        protocols {\n            isis;\n        }\n    }\n}\nldp;");
        assert!(can_inherit(&nodes, "isis") && !can_inherit(&nodes, "ldp"));
        assert!(can_inherit(&read("group A\n router isis '.*'\n  interface 'Te.*'\nend-group\n"), "isis"));
    }

    #[test]
    fn statements_are_found_by_their_words() {
        let text = "a {\n    b {\n        c [ 1 2 ];\n    }\n    inactive: d {\n        c 3;\n    }\n}";
        let nodes = read(text);
        let found = block(&nodes, &["a", "b"]).unwrap();
        assert_eq!((found.line.0, words(&found.inner[0])), (2, vec!["c", "1", "2"]));
        assert!(block(&nodes, &["a", "d"]).is_none(), "the block is inactive");
        assert_eq!(inside(&nodes[0], "c").len(), 1, "statements of an inactive block have no effect");
    }
}
